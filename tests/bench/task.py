"""What every contender trains: one network, one data set in memory, one optimizer; fp32 on one core a rank."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from scalestudy.study.config.datasets import SyntheticImages, SyntheticTokens, SyntheticVectors
from scalestudy.study.config.models import ConvnetModel, LanguageModel, MlpModel, Model, TextClassifierModel
from scalestudy.study.config.optimizers import SgdOptimizer
from scalestudy.train.data import Split, load_split
from scalestudy.train.data.batches import Share
from scalestudy.train.optimizers import build_optimizer
from scalestudy.train.place.placement import Placement
from scalestudy.train.workloads import build_model
from torch import Tensor, nn

SEED = 7
OPTIMIZER = SgdOptimizer(type="sgd", learning_rate=0.01, momentum=0.9)
Data = SyntheticVectors | SyntheticImages | SyntheticTokens


@dataclass(frozen=True)
class Case:
    """A network, its data and a batch, and for how long a contender is measured in each round."""

    model: Model
    data: Data
    """As many samples as a turn takes, whatever it says."""
    batch_per_rank: int
    steps: int
    """Steps in a round, those that are dropped included."""
    parts: int = 1
    """Micro-batches of a step."""
    ranks: tuple[int, ...] = (1, 2)
    """Numbers of ranks that it is worth measuring with."""


VECTORS = SyntheticVectors(type="synthetic-vectors", features=64, on_device=False)
IMAGES = SyntheticImages(type="synthetic-images", size=16, on_device=False)
TEXTS = SyntheticTokens(type="synthetic-tokens", sequence_length=64, vocabulary=1000, on_device=False)
STREAM = SyntheticTokens(type="synthetic-tokens", sequence_length=64, vocabulary=256, on_device=False)
TRANSFORMER = {"d_model": 64, "heads": 4, "num_layers": 2}
WIDE = MlpModel(type="mlp", hidden_dim=1024, num_layers=3)

# By what a step takes on one core of the machine that this was written on.
SIZES = {
    "mlp-1ms": Case(MlpModel(type="mlp", hidden_dim=256, num_layers=3), VECTORS, batch_per_rank=96, steps=405),
    "mlp-20ms": Case(WIDE, VECTORS, batch_per_rank=128, steps=105),
}
# A step of each takes 10 to 15 ms. 55 steps have one end of a block in the 50 that count, as a study has.
CLASSES = {
    "convnet": Case(ConvnetModel(type="convnet", channels=32, num_layers=3), IMAGES, batch_per_rank=16, steps=55),
    "text-classifier": Case(
        TextClassifierModel(type="text-classifier", **TRANSFORMER), TEXTS, batch_per_rank=16, steps=55
    ),
    "language-model": Case(
        LanguageModel(type="language-model", **TRANSFORMER), STREAM, batch_per_rank=16, steps=55
    ),
    "mlp-accumulated": Case(WIDE, VECTORS, batch_per_rank=128, steps=55, parts=4, ranks=(2,)),
}
CASES = SIZES | CLASSES


@dataclass(frozen=True)
class Task:
    """The training of this rank."""

    case: Case
    data: Data
    place: Placement
    split: Split
    loss: Callable[[Tensor, Tensor], Tensor]
    """Of logits and targets; written out here, so that it is compared with that of the loop under test."""

    @property
    def inputs(self) -> Tensor:
        return self.split.train_inputs

    @property
    def targets(self) -> Tensor:
        return self.split.train_targets

    def build(self) -> tuple[nn.Module, torch.optim.Optimizer]:
        """A network and its optimizer; the same initial parameters every time and on every rank."""
        torch.manual_seed(SEED)
        model = build_model(self.case.model, self.data)
        return model, build_optimizer(OPTIMIZER, model.parameters())

    def batches(self, steps: int, epoch: int) -> list[Tensor]:
        """Indices of this rank's next `steps` batches; the order depends on the epoch only."""
        share = Share(
            len(self.targets),
            global_batch=self.case.batch_per_rank * self.place.world_size,
            rank=self.place.rank,
            world_size=self.place.world_size,
            seed=SEED,
        )
        indices = share.batches(epoch)
        assert len(indices) >= steps, f"an epoch has {len(indices)} steps; {steps} were asked for"
        return indices[:steps]


@dataclass(frozen=True)
class Contender:
    """A loop that is ready: its call, and what it trains, so that the harness can watch and compare."""

    run: Callable[[int], None]
    """Train so many optimizer steps."""
    model: nn.Module
    optimizer: torch.optim.Optimizer


def loop_of(
    task: Task,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    *,
    backward: Callable[[Tensor], None] = Tensor.backward,
) -> Callable[[int], None]:
    """The loop of the PyTorch tutorial: nothing around it, no clock, no record, no look at the loss."""
    epochs = itertools.count(1)
    inputs, targets, loss_of = task.inputs, task.targets, task.loss

    def run(steps: int) -> None:
        model.train()
        for index in task.batches(steps, next(epochs)):
            loss = loss_of(model(inputs[index]), targets[index])
            backward(loss)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    return run


def data_of(case: Case, *, ranks: int = 1) -> Data:
    """As many samples as a turn takes."""
    return case.data.model_copy(update={"samples": case.steps * case.batch_per_rank * ranks})


def make_task(case: Case, place: Placement) -> Task:
    """The task of this rank."""
    data = data_of(case, ranks=place.world_size)
    return Task(
        case=case,
        data=data,
        place=place,
        split=load_split(data, case.model, directory=None, device=place.device),
        loss=next_token_loss if "stream" in case.model.takes else F.cross_entropy,
    )


def next_token_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Logits (B, L, V), targets (B, L)."""
    return F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))
