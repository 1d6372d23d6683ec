"""From the calls of a training script to a row for each optimizer step.

A step is everything that happens once per update of the model, for any kind of script: with several optimizers,
with accumulated gradients, with one optimizer per parameter, with an update that a gradient scaler skipped. It
ends with its last update. That is known when the next batch is requested, or when the same optimizer begins again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .clock import HostClock, Mark
from .row import Row

EVALUATION, CHECKPOINT, LOADER = "evaluation", "checkpoint", "loader"
"""Why a step is not an ordinary one: other events since the previous step."""
SAID = 0
"""Pseudo-optimizer for a step whose end the script itself reported."""


class Steps:
    """A state machine for steps. It gets the events in their order, with their times (journal.py)."""

    def __init__(self, ended: Callable[[Row], None]) -> None:
        self.clock: Any = HostClock()
        self._ended = ended
        self._row: Row | None = None
        self._since: Mark = None
        """End of the last event: a forward pass may have begun there."""
        self._last_update: Mark = None
        self._until_update = (0, 0)
        """Numbers of passes and nested passes of the row up to its last update; later ones are of the next row."""
        self._closed: Row | None = None
        self._update_within = False
        """Whether an optimizer stepped within the parts that have not ended."""
        self._updated: set[int] = set()
        self._stack: list[tuple[str, Mark, int]] = []
        """Parts that have not ended: (part, begin, optimizer or 0)."""
        self._fetching = 0
        self._fetched_within = False
        self._said = False
        self.thread = 0
        """The thread that makes the updates; 0 before the first."""
        self.fetches: dict[int, int] = {}
        """Loader -> number of batches that were fetched from it."""
        self.backward_after: dict[int, int] = {}
        """Loader -> backward passes after one of its batches, and before a batch of another loader."""
        self._last_loader = 0
        self.skipped = 0
        """Number of updates that a gradient scaler skipped."""
        self.alike = True
        """Whether all steps so far had the same number of updates."""

    def use_clock(self, clock: Any) -> None:
        """Use another clock from here on. Marks of two clocks are not comparable, so the step begins again."""
        before, self.clock = self._row, clock
        self._row, self._stack = None, []
        self._updated.clear()
        if before is not None:
            row = self._open(clock.now())
            row.data_s, row.loaders, row.extra = before.data_s, before.loaders, before.extra

    def _open(self, now: Mark) -> Row:
        if self._row is None:
            self._row = Row(now)
            self._since = now
        return self._row

    def _close(self) -> None:
        """Close the step at its last update. Everything after it belongs to the next step."""
        row = self._row
        if row is None:
            return
        row.end = self._last_update
        self.alike = self.alike and (self._closed is None or self._closed.updates == row.updates)
        self._closed = row
        self._row = after = Row(row.end)
        passes, nested = self._until_update
        if len(row.passes) > passes:
            after.passes, row.passes = row.passes[passes:], row.passes[:passes]
            after.nested, row.nested = row.nested[nested:], row.nested[:nested]
        self._updated.clear()
        self._ended(row)

    @property
    def busy(self) -> bool:
        """Whether a pass or an update has not ended yet."""
        return bool(self._stack)

    @property
    def fetching(self) -> bool:
        """Whether a batch is being fetched now."""
        return self._fetching > 0

    @property
    def backward_passes(self) -> int:
        """Number of backward passes of the last step."""
        passes = self._closed.passes if self._closed is not None else []
        return sum(part == "backward" for part, _, _ in passes)

    @property
    def open_passes(self) -> int:
        """Number of backward passes of the current step."""
        return sum(part == "backward" for part, _, _ in self._row.passes) if self._row is not None else 0

    @property
    def is_complete(self) -> bool:
        """Whether the current step has as many updates as each step so far, so that it will get no more."""
        row, before = self._row, self._closed
        if row is None or before is None or self._stack or self._said or not self.is_open:
            return False
        return self.alike and row.updates == before.updates

    def finish(self) -> None:
        """Close the last step, at the end of the script."""
        if self.is_open and not self._stack:
            self._close()

    def fetch_begins(self, now: Mark, thread: int) -> None:
        """The script requests a batch."""
        if self._elsewhere(thread):
            return
        self._fetching += 1
        if self._fetching > 1:
            return
        self._fetched_within = False
        if self.is_open and not self._stack:
            self._close()
        self._open(now)

    def fetch_ends(self, now: Mark, thread: int, loader: int, samples: int | None, waited_s: float) -> None:
        """The script gets a batch.

        samples: of the batch; None where the loader is exhausted. waited_s: waiting time, on the host's clock.
        """
        row = self._open(now)
        if self._elsewhere(thread):
            row.ahead = True
            self._count(row, loader, samples)
            return
        self._fetching = max(0, self._fetching - 1)
        if self._fetching:
            self._count(row, loader, samples)
            self._fetched_within = True
            return
        row.data_s += waited_s
        if not self._fetched_within:
            self._count(row, loader, samples)
        self._since = now

    def _elsewhere(self, thread: int) -> bool:
        """Whether a thread other than the training thread requests a batch, to read ahead."""
        return self.thread not in (0, thread)

    def _count(self, row: Row, loader: int, samples: int | None) -> None:
        """Count the samples of a batch, or note that the loader is exhausted."""
        if samples is None:
            row.exhausted.add(loader)
            return
        row.loaders[loader] = row.loaders.get(loader, 0) + samples
        self.fetches[loader] = self.fetches.get(loader, 0) + 1
        self._last_loader = loader

    def count_samples(self, now: Mark, loader: int, samples: int) -> None:
        """The script itself reports samples of a step."""
        row = self._open(now)
        row.loaders[loader] = row.loaders.get(loader, 0) + samples

    def said_to_begin(self, _now: Mark) -> None:
        """The script marks its steps itself. From here on, updates do not end them."""
        self._said = True

    def said_to_end(self, now: Mark) -> None:
        """The script reports the end of a step."""
        row = self._open(now)
        self._last_update = self._since = now
        self._until_update = (len(row.passes), len(row.nested))
        self._updated.add(SAID)

    def part_begins(self, now: Mark, name: str) -> None:
        """The script reports the begin of a part of its step."""
        if name == "backward":
            self.backward_begins(now)
        else:
            self._open(now)
            self._stack.append((name, now, 0))

    def part_ends(self, now: Mark, name: str) -> None:
        """The script reports the end of a part of its step."""
        self._end(now, name, 0)

    @property
    def is_open(self) -> bool:
        """Whether a step has ended but is not closed yet. If the script marks its steps, only its marks count."""
        return SAID in self._updated if self._said else bool(self._updated)

    def fetch_failed(self, _now: Mark) -> None:
        """An error was raised instead of a batch."""
        self._fetching = max(0, self._fetching - 1)

    def happens(self, now: Mark, what: str) -> None:
        """An event that is not a part of every step: EVALUATION, CHECKPOINT."""
        if self.is_open and not self._stack:
            self._close()
        self._open(now).extra.add(what)

    def loader_begins(self, now: Mark, loader: int) -> None:
        """An iterator is created. Batches of an earlier one since the last step were not used for training."""
        self.happens(now, LOADER)
        row = self._open(now)
        if not row.passes:
            row.loaders.pop(loader, None)

    def saved(self, now: Mark, seconds: float) -> None:
        """A checkpoint was written; `happens` was called before."""
        self._open(now).checkpoint_s += seconds

    def backward_begins(self, now: Mark) -> None:
        """A backward pass begins. Nested ones, such as for checkpointed activations, are a part of it."""
        row = self._open(now)
        if not self._stack or not self._within("backward"):
            row.passes.append(("forward", self._since, now))
            if self._stack:  # in the closure of an optimizer
                row.nested.append((self._stack[-1][0], self._since, now))
            if self._last_loader:
                self.backward_after[self._last_loader] = self.backward_after.get(self._last_loader, 0) + 1
        self._stack.append(("backward", now, 0))

    def backward_ends(self, now: Mark) -> None:
        """A backward pass ends, possibly with an error."""
        self._end(now, "backward", 0)

    def update_begins(self, now: Mark, thread: int, optimizer: int) -> None:
        """A step of an optimizer begins, or of the gradient scaler around it."""
        self.thread = self.thread or thread
        if not self._stack and optimizer in self._updated and not self._said:
            self._close()
        self._open(now)
        if not self._stack or not self._within("optimizer"):
            self._since = now
        self._stack.append(("optimizer", now, optimizer))

    def update_ends(self, now: Mark, optimizer: int) -> None:
        """The update was made."""
        self._end(now, "optimizer", optimizer)
        self._updated.add(optimizer)

    def update_skipped(self, now: Mark, optimizer: int) -> None:
        """A gradient scaler skipped the update."""
        self.update_ends(now, optimizer)
        self.skipped += 1

    def update_failed(self, _now: Mark, optimizer: int) -> None:
        """The update was not made: it ended with an error, or there was no gradient."""
        self._stack = [entry for entry in self._stack if entry[0] != "optimizer" or entry[2] != optimizer]

    def _within(self, part: str) -> bool:
        for name, _, _ in self._stack:
            if name == part:
                return True
        return False

    def _end(self, now: Mark, part: str, optimizer: int) -> None:
        """End the innermost part of this kind. Parts within it, left by an error, are dropped."""
        stack = self._stack
        place = len(stack) - 1
        while place >= 0 and (stack[place][0] != part or stack[place][2] != optimizer):
            place -= 1
        if place < 0:
            return
        begin = stack[place][1]
        del stack[place:]
        row = self._open(now)
        if not stack or not self._within(part):
            row.passes.append((part, begin, now))
            if self._stack:
                row.nested.append((self._stack[-1][0], begin, now))
            if part == "optimizer":
                row.updates += 1
                self._update_within = True
        if not self._stack:
            self._since = now
            if self._update_within:  # an update within a backward pass ends with the pass
                self._last_update = now
                self._until_update = (len(row.passes), len(row.nested))
                self._update_within = False
