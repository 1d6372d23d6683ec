"""The decision on further runs: written by one stage, read by every reserve run.

A run that is not needed ends as soon as it has read the decision, so no analysis is imported here.
"""

from collections.abc import Sequence
from math import nan
from typing import ClassVar, Literal

from scalestudy.record.document import Document, Part, Real
from scalestudy.registry.codes import Settled, Verdict


class Comparison(Part):
    """A speedup, and whether it needs more runs."""

    workload: str
    variant: str
    scaling: str
    world_size: int
    batch_per_rank: int
    repeats_compared: int
    repeats_spoiled: int = 0
    """Repeats in which something else on the host disturbed a run."""
    speedup: Real
    speedup_low: Real
    """Limits at the level of a look (study/looks.py); null with fewer than two repeats."""
    speedup_high: Real
    gain: Real = nan
    """The gain of the least certain comparison in `measure.gains` with this point; null if there is none."""
    gain_low: Real = nan
    gain_high: Real = nan
    verdict: Verdict
    settled: Settled
    """`no` if it needs more runs, otherwise the reason why it does not."""


class DecisionFile(Document):
    """The decision after some repeats, for all points of a study together. It is a function of their records."""

    made_by: ClassVar[str] = "scalestudy stage decide"
    schema_version: Literal[2] = 2
    study: str
    after_repeats: int
    comparisons: tuple[Comparison, ...]
    needed: tuple[str, ...]
    """Needed runs up to the next decision, in the order of the plan."""
    without_probes: tuple[str, ...] = ()
    """Needed runs that do not probe communication, because enough runs of their point did."""
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


def that_counts(decisions: Sequence[DecisionFile]) -> DecisionFile:
    """Returns the first decision after which no run was needed, or the newest. decisions: the oldest first.

    Later decisions are made from the same runs, so they do not know more.
    """
    return next((one for one in decisions if not one.needed), decisions[-1])
