"""`scalestudy.Recorder`: three lines in a training script that say more than can be seen from outside.

    rec = scalestudy.Recorder()
    for batch in rec.steps(loader):
        ...
    rec.epoch(validation_accuracy=accuracy)

Outside a study it does nothing, so that the lines may stay. It needs the standard library alone, from Python 3.9
on. In a study it talks to what looks on in this process (attach/).
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

Batch = TypeVar("Batch")
PARTS = ("data", "h2d", "forward", "backward", "optimizer", "logging", "checkpoint")
"""Parts of a step that can be named."""
EPOCH = ("train_loss", "validation_loss", "validation_accuracy")
"""What can be said of an epoch."""


class Recorder:
    """Tells a study where steps end, what is a part of them, and what an epoch reached."""

    def __init__(self) -> None:
        begin = sys.modules.get("scalestudy_attach.begin")
        self._said = begin.said_by_script if begin is not None else None

    @property
    def active(self) -> bool:
        """Whether this process is measured."""
        return self._said is not None

    def steps(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The batches; what is done with each is one step. Waiting for a batch is a part of it (`data`)."""
        if self._said is None:
            yield from batches
            return
        yield from self._said.steps(batches)

    def samples(self, count: int) -> None:
        """Training samples of this rank in the step under way, where they are not those of a DataLoader."""
        if self._said is not None:
            self._said.samples(count)

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """What is done inside is a part of the step: one of PARTS. Raises ValueError for another name."""
        if name not in PARTS:
            raise ValueError(f"Recorder.part: {name!r} is no part of a step; there are {', '.join(PARTS)}")
        if self._said is None:
            yield
            return
        with self._said.part(name):
            yield

    def epoch(self, **values: float) -> None:
        """An epoch ended: train_loss, validation_loss, validation_accuracy (0 to 1), as far as they are known.

        Raises ValueError for another name.
        """
        wrong = set(values) - set(EPOCH)
        if wrong:
            raise ValueError(f"Recorder.epoch: {min(wrong)!r} is not known; there are {', '.join(EPOCH)}")
        if self._said is not None:
            self._said.epoch({name: float(value) for name, value in values.items()})

    def metric(self, name: str, value: Any) -> None:
        """A number of the run that is kept with its record, such as the final loss."""
        if self._said is not None:
            self._said.metric(str(name), float(value))
