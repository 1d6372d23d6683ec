"""The same with transformers.Trainer: it stamps where its `on_optimizer_step` is called, after the update."""

import tempfile
from typing import Any

import torch
import transformers
from common import SIZES, Stopwatch, arguments, dataset, loader, loss_of, network

told = arguments("--adapter")
stopwatch = Stopwatch()


class WithLoss(torch.nn.Module):
    """Returns its loss, as the Trainer needs it."""

    def __init__(self) -> None:
        super().__init__()
        self.network = network(told.size)

    def forward(self, inputs: torch.Tensor, targets: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"loss": loss_of(self.network(inputs), targets)}


class Stamps(transformers.TrainerCallback):
    def on_optimizer_step(self, *_arguments: Any, **_named: Any) -> None:
        stopwatch.stamp()


class Trainer(transformers.Trainer):
    def get_train_dataloader(self) -> Any:
        return loader(told.size, told.steps, stopwatch, collate_fn=collated)


def collated(samples: list[Any]) -> dict[str, torch.Tensor]:
    inputs, targets = zip(*samples, strict=True)
    return {"inputs": torch.stack(inputs), "targets": torch.stack(targets)}


callbacks: list[Any] = [Stamps()]
if told.adapter:
    from scalestudy.adapters.huggingface import ScalestudyCallback

    callbacks.append(ScalestudyCallback())
with tempfile.TemporaryDirectory() as folder:
    options = transformers.TrainingArguments(
        output_dir=folder,
        num_train_epochs=1,
        per_device_train_batch_size=SIZES[told.size][1],
        use_cpu=True,
        optim="sgd",
        learning_rate=0.01,
        report_to="none",
        logging_strategy="no",
        save_strategy="no",
        disable_tqdm=True,
        remove_unused_columns=False,
    )
    Trainer(WithLoss(), options, train_dataset=dataset(told.size, told.steps), callbacks=callbacks).train()
stopwatch.write(told.stopwatch)
