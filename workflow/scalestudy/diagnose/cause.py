"""What a cause is: how it is recognised, what it means, what to change and what would refute it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from math import isnan

from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.findings import Evidence, Finding, Recommendation


class Stage(IntEnum):
    """The order of decision. A larger batch hides nearly every fault, so that it is asked for last."""

    VALIDITY = 1
    HOST = 2
    STRAGGLER = 3
    TRANSPORT = 4
    STRUCTURE = 5
    SIZE = 6
    BESIDE = 7
    """Worth knowing, whatever the speed: memory that grows, accuracy that was lost."""


@dataclass(frozen=True)
class Seen:
    """A cause that the evidence supports, and the seconds of every step that it costs, as far as that is told.

    With `found` False it is only possible: its rule does not hold, and the measurements do not rule it out.
    """

    explanation: str
    evidence: tuple[Evidence, ...]
    recommendations: tuple[Recommendation, ...]
    loss_s: Interval = NOTHING
    of_overhead_s: float | None = None
    """Seconds of the overhead that it explains; all of loss_s unless said.

    The base case may lose some of that too.
    """
    support: float = 1.0
    """Probability that its quantity is beyond its threshold (support.py); 1 where it is counted or a setting."""
    found: bool = True
    """Whether the rule of the cause holds."""

    @property
    def cost_s(self) -> float:
        """Seconds of a step that it costs; nan where that is not known."""
        return self.loss_s.value if isnan(self.loss_s.value) else max(0.0, self.loss_s.value)

    @property
    def explained_s(self) -> float:
        """Seconds of the overhead that this leaves to no other cause."""
        seconds = self.loss_s.value if self.of_overhead_s is None else self.of_overhead_s
        return 0.0 if isnan(seconds) else max(0.0, seconds)


@dataclass(frozen=True)
class Cause:
    """One entry of the diagnoser."""

    id: str
    stage: Stage
    refuted_by: str
    look: Callable[[Case], Seen | None]
    """None where it is ruled out. Its docstring has the threshold, and where that is from."""

    def finding(self, case: Case, seen: Seen, *, beside: bool = False) -> Finding:
        """What a reader is told: without advice that may be worth nothing."""
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
    """Makes an entry of the function that looks for it."""
    return lambda look: Cause(id, stage, refuted_by, look)
