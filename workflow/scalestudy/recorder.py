"""`scalestudy.Recorder`: three lines in a training script that report what cannot be seen from outside.

    rec = scalestudy.Recorder()
    for batch in rec.steps(loader):
        ...
    rec.epoch(validation_accuracy=accuracy)

Outside a study it does nothing, so that the lines can stay. It needs only the standard library, of Python 3.9 or
newer. In a study it reports to the code that observes this process (attach/).
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
"""Values of an epoch that can be reported."""


class Recorder:
    """Reports to a study where steps end, what their parts are, and what an epoch reached."""

    def __init__(self) -> None:
        begin = sys.modules.get("scalestudy_attach.begin")
        self._said = begin.said_by_script if begin is not None else None

    @property
    def active(self) -> bool:
        """Return whether this process is measured."""
        return self._said is not None

    def steps(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Yield the batches. The work on each is one step; waiting for the batch is a part of it (`data`)."""
        if self._said is None:
            yield from batches
            return
        yield from self._said.steps(batches)

    def samples(self, count: int) -> None:
        """Report the training samples of this rank in the current step, if they do not come from a DataLoader."""
        if self._said is not None:
            self._said.samples(count)

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Time the enclosed work as a part of the step: one of PARTS. Raises ValueError for another name."""
        if name not in PARTS:
            raise ValueError(f"Recorder.part: {name!r} is not a part of a step; the parts are {', '.join(PARTS)}")
        if self._said is None:
            yield
            return
        with self._said.part(name):
            yield

    def epoch(self, **values: float) -> None:
        """Report the end of an epoch: train_loss, validation_loss, validation_accuracy (0 to 1), if known.

        Raises ValueError for another name.
        """
        wrong = set(values) - set(EPOCH)
        if wrong:
            raise ValueError(f"Recorder.epoch: unknown value {min(wrong)!r}; the values are {', '.join(EPOCH)}")
        if self._said is not None:
            self._said.epoch({name: float(value) for name, value in values.items()})

    def metric(self, name: str, value: Any) -> None:
        """Report a number of the run that is kept in its record, such as the final loss."""
        if self._said is not None:
            self._said.metric(str(name), float(value))
