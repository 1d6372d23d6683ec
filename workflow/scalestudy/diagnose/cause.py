"""Defines a cause: how it is recognised, what it means, what to change and what would refute it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from math import isnan

from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.findings import Evidence, Finding, Recommendation


class Stage(IntEnum):
    """The order of decision. A larger batch hides nearly every fault, so the size of the work comes last."""

    VALIDITY = 1
    HOST = 2
    STRAGGLER = 3
    TRANSPORT = 4
    STRUCTURE = 5
    SIZE = 6
    BESIDE = 7
    """Does not affect the speed but is worth knowing: growing memory, lost accuracy."""


@dataclass(frozen=True)
class Seen:
    """A cause that the evidence supports, and the seconds of every step that it costs, where known.

    With `found` False it is only possible: its rule is not met, and the measurements do not rule it out.
    """

    explanation: str
    evidence: tuple[Evidence, ...]
    recommendations: tuple[Recommendation, ...]
    loss_s: Interval = NOTHING
    of_overhead_s: float | None = None
    """Seconds of the overhead that it explains; None for all of loss_s.

    It can be less than loss_s, because the baseline may lose part of that time too.
    """
    support: float = 1.0
    """Probability that its quantity is beyond its threshold (support.py); 1 for counts and settings."""
    found: bool = True
    """Whether the rule of the cause is met."""

    @property
    def cost_s(self) -> float:
        """Seconds of a step that it costs; nan if unknown."""
        return self.loss_s.value if isnan(self.loss_s.value) else max(0.0, self.loss_s.value)

    @property
    def explained_s(self) -> float:
        """Seconds of the overhead that this cause explains, so that no other cause can."""
        seconds = self.loss_s.value if self.of_overhead_s is None else self.of_overhead_s
        return 0.0 if isnan(seconds) else max(0.0, seconds)


@dataclass(frozen=True)
class Cause:
    """One cause that the diagnosis looks for."""

    id: str
    stage: Stage
    refuted_by: str
    look: Callable[[Case], Seen | None]
    """Returns None where the cause is ruled out. Its docstring gives the threshold and its source."""

    def finding(self, case: Case, seen: Seen, *, beside: bool = False) -> Finding:
        """The cause as a finding, without advice whose predicted gain may be none."""
        return Finding(
            cause=self.id,
            explanation=seen.explanation,
            evidence=seen.evidence,
            refuted_by=self.refuted_by,
            recommendations=tuple(one for one in map(case.accepted, seen.recommendations) if not one.within_noise),
            beside=beside,
            support=seen.support,
        )


def cause(id: str, stage: Stage, *, refuted_by: str) -> Callable[[Callable[[Case], Seen | None]], Cause]:
    """Decorator that makes a Cause of the function that looks for it."""
    return lambda look: Cause(id, stage, refuted_by, look)
