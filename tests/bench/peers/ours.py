"""Our own loop as `scalestudy stage train` runs it: blocks, clock, recorder, gauges, progress file, loss check.

Only `make_trainer`, `blocks` and `train_steps` use train/.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from typing import Any

from scalestudy.record.rank_recorder import RankRecorder
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec
from scalestudy.train.data.feed import make_feed
from scalestudy.train.gauges import Gauges
from scalestudy.train.loop import Trainer, block_sizes
from scalestudy.train.place.placement import Placement
from scalestudy.train.step.clock import Clock
from scalestudy.train.strategies.base import Strategy
from scalestudy.train.strategies.ddp import Ddp
from torch import Tensor

from bench.task import OPTIMIZER, SEED, Case, Contender, Data, Task


class JoinedDdp(Ddp):
    """DDP over the process group that the harness has opened for all contenders."""

    def __init__(self, spec: RunSpec, place: Placement) -> None:
        self._spec, self._place = spec, place


def make_spec(task: Task) -> RunSpec:
    """The spec that a study of this task would plan; so that a new key of the spec has the study's default."""
    return spec_of_case(task.case, task.data, world=task.place.world_size)


def spec_of_case(case: Case, data: Data, *, world: int = 1, epochs: int = 1, **study: Any) -> RunSpec:
    """The same of a case. study: more keys of the study."""
    batch, parts = case.batch_per_rank, case.parts
    workload = {
        "model": case.model.model_dump(),
        "data": data.model_dump(),
        "optimizer": OPTIMIZER.model_dump(),
        "batch_size": batch,
        "epochs": epochs,
        "scaling": ["weak"],
    }
    study = {
        "study": "bench",
        "scales": [f"1x{max(world, 2)}"],
        "variants": {name: {"strategy": name, "accumulation_steps": parts} for name in ("single", "ddp")},
        "workloads": {"bench": workload},
        "host": {"device": "cpu"},
        **study,
    }
    runs = make_plan(parse_study(study, source="bench")).runs.values()
    found = next(spec for spec in runs if (spec.world_size, spec.batch_per_rank) == (world, batch))
    return found.model_copy(update={"seed": SEED})


def make_trainer(task: Task, *, clock: Clock | None = None) -> Trainer:
    """A Trainer of our own for the task: the same network from the same seed; it writes where nobody looks.

    It reads the arrays of the task instead of its own, equal ones: a cache that others have warmed serves it too.
    """
    spec = make_spec(task)
    recorder = RankRecorder(tempfile.mkdtemp(prefix="bench-ours-"), rank=task.place.rank)
    strategy = (JoinedDdp if task.place.world_size > 1 else Strategy)(spec, task.place)
    trainer = Trainer(spec, task.place, strategy, recorder, Gauges(task.place), clock=clock)
    trainer.split = task.split
    trainer.feed = trainer.stepper.feed = make_feed(task.split, spec.input, task.place.device)
    return trainer


def blocks(trainer: Trainer, epoch: int, steps: int) -> Iterator[list[Tensor]]:
    """The first `steps` index batches of an epoch, in blocks of the length that a study has them in."""
    remaining = iter(trainer.open_epoch(epoch))
    for size in block_sizes(steps, trainer.spec.measure.block_steps):
        yield list(itertools.islice(remaining, size))


def train_steps(trainer: Trainer, epoch: int, steps: int) -> None:
    """Train this many steps of an epoch as `Trainer.train` does, without validation."""
    trainer.stepper.model.train()
    for block in blocks(trainer, epoch, steps):
        trainer.train_block(epoch, block)
        trainer.recorder.report_progress(done=trainer.recorder.steps, total=10**9)


def prepare(task: Task) -> Contender:
    """With everything that is on in a study."""
    trainer = make_trainer(task)
    epochs = itertools.count(1)
    optimizer = trainer.stepper.update.optimizer
    return Contender(lambda steps: train_steps(trainer, next(epochs), steps), trainer.plain, optimizer)
