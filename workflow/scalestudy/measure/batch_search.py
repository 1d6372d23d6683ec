"""Search for the smallest sufficient and the largest possible batch per rank, with few trials."""

from collections.abc import Callable
from math import nan
from typing import ClassVar, Literal

from scalestudy.record.document import Document, Part, Real
from scalestudy.record.observation import Outcome

GAIN = 0.05  # a doubling with a smaller gain in throughput counts as no gain
FINENESS = 8  # a bisection ends when the batch is known to 1/8


class BatchTrial(Part):
    """A run at one batch."""

    run_id: str
    batch_per_rank: int
    outcome: Outcome
    reason: str
    throughput_samples_per_s: Real
    """Total of all ranks; null if the trial did not complete."""
    peak_gib: Real
    """Peak memory, maximum over ranks: allocated on a GPU, resident on a CPU."""

    @property
    def ok(self) -> bool:
        return self.outcome == "ok"


class BatchSearchFile(Document):
    """The result of `scalestudy find-batch`. Batches are samples per rank."""

    made_by: ClassVar[str] = "scalestudy find-batch"
    schema_version: Literal[2] = 2
    best: int | None
    """Smallest batch tried whose throughput is within 5 % of the largest; null if no trial completed."""
    largest: int | None
    """Largest batch tried that completed."""
    reason: str
    """Why the search ended."""
    trials: tuple[BatchTrial, ...]
    """In the order in which they ran."""


def search_batch(
    try_batch: Callable[[int], BatchTrial],
    *,
    first: int,
    unit: int,
    most: int | None,
    limit: str = "that the data provide",
) -> BatchSearchFile:
    """Doubles the batch from `first` until memory is exhausted, throughput stops growing or `most` is reached.

    Then it bisects: for the largest batch that fits if memory was exhausted, or for the smallest batch with the
    largest throughput if that stopped growing. unit: batches are multiples of it. most: None if there is no
    limit. limit: what sets it, after "the 50". A trial that ends in anything other than `ok` or `oom` ends the
    search.
    """
    search = _Search(try_batch, unit)
    batch, reason = first, ""
    while not reason:
        trial = search.make(batch)
        before = search.throughput(batch // 2)
        if trial.outcome == "oom":
            reason = search.bisect_memory(too_large=batch)
        elif not trial.ok:
            reason = f"{batch} samples per rank ended as {trial.outcome}: {trial.reason}"
        elif trial.throughput_samples_per_s < before * (1 + GAIN):
            reason = search.bisect_throughput(batch // 4, batch // 2)
        elif most is not None and 2 * batch > most:
            reason = f"{2 * batch} samples per rank are more than the {most} {limit}"
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
    """Trials by batch; no batch is tried twice."""

    def __init__(self, try_batch: Callable[[int], BatchTrial], unit: int) -> None:
        self.trials: dict[int, BatchTrial] = {}
        self._try, self._unit = try_batch, unit

    def make(self, batch: int) -> BatchTrial:
        if batch not in self.trials:
            self.trials[batch] = self._try(batch)
        return self.trials[batch]

    def throughput(self, batch: int) -> float:
        """Returns the throughput of a trial; 0 if the batch was not tried."""
        trial = self.trials.get(batch)
        return trial.throughput_samples_per_s if trial and trial.ok else 0.0

    def bisect_memory(self, *, too_large: int) -> str:
        """Finds the largest batch that fits below one that does not, also below the first one."""
        fits = too_large // 2
        while fits >= self._unit and not self.make(fits // self._unit * self._unit).ok:
            too_large, fits = fits, fits // 2
        if fits < self._unit:
            return f"out of memory already with {self._unit} samples per rank"
        fits = fits // self._unit * self._unit
        fits, too_large = self._bisect(fits, too_large, is_low=lambda trial: trial.ok)
        return f"the memory limit is between {fits} and {too_large} samples per rank"

    def bisect_throughput(self, low: int, high: int) -> str:
        """Finds the smallest batch with the largest throughput, between one without and one with it."""
        top = max(trial.throughput_samples_per_s for trial in self.trials.values() if trial.ok)

        def too_small(trial: BatchTrial) -> bool:
            return trial.ok and trial.throughput_samples_per_s < (1 - GAIN) * top

        if low in self.trials and too_small(self.trials[low]):
            self._bisect(low, high, is_low=too_small)
        return f"throughput grows by less than {GAIN:.0%} from {high} to {2 * high} samples per rank"

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
