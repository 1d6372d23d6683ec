"""transformers' Trainer with everything switched off that is not training.

- By argument: logging, evaluation, checkpoints, progress bar, clipping, the look at every loss for NaN
  (github.com/huggingface/transformers/issues/33693), and DDP's search for unused parameters, which is on for a
  model that is not one of its own.
- By the hooks that it offers: the learning-rate schedule, the sharding of the loader, the callback that prints.
- By overriding a method of its own: the norm of the gradients, which version 5.23 takes at every step even where
  max_grad_norm is 0 and nothing logs it; no argument stops that. `prepare_unpatched` leaves it on.

What cannot be switched off: callbacks and their bookkeeping at every step, the running sum of the losses, and what
Accelerate does underneath (accelerate_loop.py).
"""

from __future__ import annotations

import itertools
import tempfile

import torch
import torch.nn.functional as F
import transformers
from accelerate import PartialState
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset
from transformers.trainer_callback import PrinterCallback

from bench.task import Contender, Task


class WithLoss(nn.Module):
    """The network, returning its loss as this Trainer expects of a model."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, inputs: Tensor, targets: Tensor) -> dict[str, Tensor]:
        return {"loss": F.cross_entropy(self.network(inputs), targets)}


class Batches(Dataset):
    """Whole batches, cut when they are requested."""

    def __init__(self, task: Task, indices: list[Tensor]) -> None:
        self.task, self.indices = task, indices

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, step: int) -> dict[str, Tensor]:
        index = self.indices[step]
        return {"inputs": self.task.inputs[index], "targets": self.task.targets[index]}


class NoSchedule(torch.optim.lr_scheduler.LRScheduler):
    """A schedule that does nothing: the Trainer insists on one and steps it."""

    def step(self, _epoch: int | None = None) -> None:
        pass

    def get_last_lr(self) -> list[float]:
        return self.base_lrs


class WithReadyBatches(transformers.Trainer):
    """The Trainer with the cheapest loader there is."""

    def get_train_dataloader(self) -> DataLoader:
        return DataLoader(self.train_dataset, batch_size=None, collate_fn=lambda batch: batch, num_workers=0)


class Bare(WithReadyBatches):
    """Also without the gradient norm that nobody reads."""

    def _get_grad_norm(self, model: nn.Module, grad_norm: float | None = None) -> float | None:
        return grad_norm


def prepare(task: Task) -> Contender:
    """Without the gradient norm."""
    return _prepare(task, Bare)


def prepare_unpatched(task: Task) -> Contender:
    """As its arguments and hooks can have it."""
    return _prepare(task, WithReadyBatches)


def _prepare(task: Task, kind: type[transformers.Trainer]) -> Contender:
    """A Trainer cannot be stepped: a call of `run` lets it train until it has made its steps."""
    PartialState(cpu=True)  # shared with Accelerate's own loop, under which the Trainer would otherwise reset it
    model, optimizer = task.build()
    arguments = transformers.TrainingArguments(
        output_dir=tempfile.mkdtemp(prefix="bench-hf-"),
        max_steps=task.case.steps,
        per_device_train_batch_size=task.case.batch_per_rank,
        use_cpu=True,
        ddp_backend="gloo",
        ddp_find_unused_parameters=False,
        max_grad_norm=0.0,
        lr_scheduler_type="constant",
        report_to="none",
        logging_strategy="no",
        logging_nan_inf_filter=False,
        eval_strategy="no",
        save_strategy="no",
        disable_tqdm=True,
        average_tokens_across_devices=False,
        remove_unused_columns=False,
        dataloader_pin_memory=False,
        accelerator_config={"use_configured_state": True},
    )
    trainer = kind(
        WithLoss(model), arguments, train_dataset=Batches(task, []), optimizers=(optimizer, NoSchedule(optimizer))
    )
    trainer.remove_callback(PrinterCallback)
    epochs = itertools.count(1)

    def run(steps: int) -> None:
        arguments.max_steps = steps
        trainer.train_dataset = Batches(task, task.batches(steps, next(epochs)))
        trainer.train()

    return Contender(run, model, optimizer)
