"""Which batch per rank is enough, and which one is too much: a search that asks for as few trials as it can."""

from collections.abc import Callable
from math import nan
from typing import ClassVar, Literal

from scalestudy.record.document import Document, Part, Real
from scalestudy.record.observation import Outcome

GAIN = 0.05  # a doubling that brings less throughput than this has brought none
FINENESS = 8  # a bisection ends where it is known to an eighth


class BatchTrial(Part):
    """A run at one batch."""

    run_id: str
    batch_per_rank: int
    outcome: Outcome
    reason: str
    throughput_samples_per_s: Real
    """Over all ranks; null where the trial did not come to its end."""
    peak_gib: Real
    """Peak memory, the largest over ranks: allocated on a GPU, resident on a CPU."""

    @property
    def ok(self) -> bool:
        return self.outcome == "ok"


class BatchSearchFile(Document):
    """What `scalestudy find-batch` keeps. Batches are samples per rank."""

    made_by: ClassVar[str] = "scalestudy find-batch"
    schema_version: Literal[2] = 2
    best: int | None
    """Smallest batch tried whose throughput is within 5 % of the largest; null where none came to its end."""
    largest: int | None
    """Largest batch tried that came to its end."""
    reason: str
    """Why the search ended."""
    trials: tuple[BatchTrial, ...]
    """In the order they were made."""


def search_batch(
    try_batch: Callable[[int], BatchTrial], *, first: int, unit: int, most: int | None
) -> BatchSearchFile:
    """Double from `first` until memory ends, throughput stops growing or `most` is reached; then bisect.

    unit: batches are multiples of it. most: None where the data do not limit it. Where memory ended, the largest
    batch that fits is bisected; where throughput stopped growing, the smallest that has it. A trial that ends in
    anything but `ok` and `oom` ends the search.
    """
    search = _Search(try_batch, unit)
    batch, reason = first, ""
    while not reason:
        trial = search.make(batch)
        before = search.throughput(batch // 2)
        if trial.outcome == "oom":
            reason = search.bisect_memory(too_large=batch)
        elif not trial.ok:
            reason = f"{batch} samples a rank ended as {trial.outcome}: {trial.reason}"
        elif trial.throughput_samples_per_s < before * (1 + GAIN):
            reason = search.bisect_throughput(batch // 4, batch // 2)
        elif most is not None and 2 * batch > most:
            reason = f"{2 * batch} samples a rank are more than the {most} that the data give"
        batch *= 2
    good = [trial for trial in search.trials.values() if trial.ok]
    top = max((trial.throughput_samples_per_s for trial in good), default=nan)
    enough = [trial.batch_per_rank for trial in good if trial.throughput_samples_per_s >= (1 - GAIN) * top]
    return BatchSearchFile(
        trials=tuple(search.trials.values()),
        best=min(enough, default=None),
        largest=max((trial.batch_per_rank for trial in good), default=None),
        reason=reason,
    )


class _Search:
    """Trials by batch; none is made twice."""

    def __init__(self, try_batch: Callable[[int], BatchTrial], unit: int) -> None:
        self.trials: dict[int, BatchTrial] = {}
        self._try, self._unit = try_batch, unit

    def make(self, batch: int) -> BatchTrial:
        if batch not in self.trials:
            self.trials[batch] = self._try(batch)
        return self.trials[batch]

    def throughput(self, batch: int) -> float:
        """That of a trial that was made; 0 where none was."""
        trial = self.trials.get(batch)
        return trial.throughput_samples_per_s if trial and trial.ok else 0.0

    def bisect_memory(self, *, too_large: int) -> str:
        """Largest batch that fits below one that does not; down from the first one where that is too large."""
        fits = too_large // 2
        while fits >= self._unit and not self.make(fits // self._unit * self._unit).ok:
            too_large, fits = fits, fits // 2
        if fits < self._unit:
            return f"out of memory with {self._unit} samples a rank already"
        fits = fits // self._unit * self._unit
        fits, too_large = self._bisect(fits, too_large, is_low=lambda trial: trial.ok)
        return f"memory ends between {fits} and {too_large} samples a rank"

    def bisect_throughput(self, low: int, high: int) -> str:
        """Smallest batch with the throughput of the largest ones, between one that lacks it and one that has."""
        top = max(trial.throughput_samples_per_s for trial in self.trials.values() if trial.ok)

        def too_small(trial: BatchTrial) -> bool:
            return trial.ok and trial.throughput_samples_per_s < (1 - GAIN) * top

        if low in self.trials and too_small(self.trials[low]):
            self._bisect(low, high, is_low=too_small)
        return f"throughput grows by less than {GAIN:.0%} from {high} to {2 * high} samples a rank"

    def _bisect(self, low: int, high: int, *, is_low: Callable[[BatchTrial], bool]) -> tuple[int, int]:
        while high - low > max(self._unit, low // FINENESS):
            middle = (low + high) // 2 // self._unit * self._unit
            if middle <= low:
                break
            if is_low(self.make(middle)):
                low = middle
            else:
                high = middle
        return low, high
