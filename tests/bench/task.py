"""What every contender trains: one network, one data set in memory, one optimizer; fp32 on one core a rank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from scalestudy.study.workloads import DigitsData, MlpModel, SgdOptimizer
from scalestudy.train.data import batch_indices, load_split
from scalestudy.train.optimizers import build_optimizer
from scalestudy.train.placement import Placement
from scalestudy.train.workloads import build_model
from torch import Tensor, nn

SEED = 7
COPIES = 64  # the digits, so many times: an epoch is then longer than a turn
DATA = DigitsData(type="digits")
OPTIMIZER = SgdOptimizer(type="sgd", learning_rate=0.01, momentum=0.9)


@dataclass(frozen=True)
class Size:
    """A network and a batch, and for how long a contender is measured in each round."""

    model: MlpModel
    batch_per_rank: int
    steps: int
    """Steps in a round, those that are dropped included."""


# By what a step takes on one core of the machine that this was written on.
SIZES = {
    "1 ms": Size(MlpModel(type="mlp", hidden_dim=256, num_layers=3), batch_per_rank=96, steps=405),
    "20 ms": Size(MlpModel(type="mlp", hidden_dim=1024, num_layers=3), batch_per_rank=128, steps=105),
}


@dataclass(frozen=True)
class Task:
    """What is trained on this rank."""

    size: Size
    place: Placement
    inputs: Tensor
    targets: Tensor

    @property
    def global_batch(self) -> int:
        return self.size.batch_per_rank * self.place.world_size

    def build(self) -> tuple[nn.Module, torch.optim.Optimizer]:
        """A network and its optimizer; the same initial parameters every time and on every rank."""
        torch.manual_seed(SEED)
        model = build_model(self.size.model)
        return model, build_optimizer(OPTIMIZER, model.parameters())

    def batches(self, steps: int, epoch: int) -> list[Tensor]:
        """Indices of this rank's next `steps` batches; the order depends on the epoch only."""
        indices = batch_indices(
            len(self.targets),
            global_batch=self.global_batch,
            rank=self.place.rank,
            world_size=self.place.world_size,
            seed=SEED,
            epoch=epoch,
        )
        assert len(indices) >= steps, f"an epoch has {len(indices)} steps; {steps} were asked for"
        return indices[:steps]


@dataclass(frozen=True)
class Contender:
    """A loop that is ready: its call, and what it trains, so that the harness can watch and compare."""

    run: Callable[[int], None]
    """Train so many optimizer steps."""
    model: nn.Module
    optimizer: torch.optim.Optimizer


def make_task(size: Size, place: Placement) -> Task:
    """The task of this rank."""
    split = load_split(DATA)
    return Task(
        size=size,
        place=place,
        inputs=split.train_inputs.repeat(COPIES, 1, 1, 1),
        targets=split.train_targets.repeat(COPIES),
    )
