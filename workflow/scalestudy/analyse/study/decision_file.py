"""What was decided on further runs: written by one stage, read by every run in reserve.

A run that is not needed ends as soon as it has read that, so nothing that analyses is imported here.
"""

from math import nan
from typing import ClassVar, Literal

from scalestudy.record.document import Document, Part, Real
from scalestudy.registry.codes import Settled, Verdict


class Comparison(Part):
    """A speedup, and whether more runs are made for it."""

    workload: str
    variant: str
    scaling: str
    world_size: int
    batch_per_rank: int
    repeats_compared: int
    repeats_spoiled: int = 0
    """Repeats in which something else on the host spoiled a run."""
    speedup: Real
    speedup_low: Real
    """Limits at the level of a look (study/looks.py); null with fewer than two repeats."""
    speedup_high: Real
    gain: Real = nan
    """Of the comparison in `measure.gains` that is least certain, if the point is in one; else null."""
    gain_low: Real = nan
    gain_high: Real = nan
    verdict: Verdict
    settled: Settled
    """`no` where more runs are made for it, else why none is."""


class DecisionFile(Document):
    """What was decided after some repeats, for all points of a study together. It is a function of their
    records."""

    made_by: ClassVar[str] = "scalestudy stage decide"
    schema_version: Literal[2] = 2
    study: str
    after_repeats: int
    comparisons: tuple[Comparison, ...]
    needed: tuple[str, ...]
    """Runs up to the next decision that are to be made, in the order of the plan."""
    without_probes: tuple[str, ...] = ()
    """Those of them that do not probe communication: enough runs of their point did."""
    budget_device_hours: float | None
    """The study's limit; null for no limit."""
    budget_ends_after: int | None
    """The last repeat that the budget allows; null where it allows all up to the next decision."""

    @property
    def replaces(self) -> bool:
        """Whether any run replaces a disturbed one."""
        return bool(self.needed) and any(
            one.repeats_spoiled and one.settled == Settled.NO for one in self.comparisons
        )

    def why_unneeded(self, repeat: int) -> str:
        """Returns why a run outside `needed` is not needed."""
        after = f"after {self.after_repeats} repeat{'s' if self.after_repeats > 1 else ''}"
        if self.budget_ends_after is not None and repeat > self.budget_ends_after:
            return f"the budget of {self.budget_device_hours:g} device-hours is exhausted {after}"
        return f"no comparison needs more runs {after}"
