"""What a cause is.

An entry that says how it is recognised, what it means, what to change and what would refute it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.findings import Evidence, Finding, Recommendation
from scalestudy.diagnose.patches import refusal
from scalestudy.study.config.study import Study


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
    """A cause that the evidence supports, and the seconds of every step that it costs, as far as that is told."""

    evidence: tuple[Evidence, ...]
    loss_s: Interval = NOTHING
    of_overhead_s: float | None = None
    """Seconds of the overhead that it explains; all of loss_s unless said.

    The base case may lose some of that too.
    """

    @property
    def explained_s(self) -> float:
        """Seconds of the overhead that this leaves to no other cause."""
        seconds = self.loss_s.value if self.of_overhead_s is None else self.of_overhead_s
        return max(0.0, seconds) if seconds == seconds else 0.0


@dataclass(frozen=True)
class Cause:
    """One entry of the diagnoser. Functions take the case, and what was seen of this cause in it."""

    id: str
    stage: Stage
    threshold: str
    """In words, with where it is from."""
    look: Callable[[Case], Seen | None]
    """What supports it; None where nothing does."""
    explanation: Callable[[Case, Seen], str]
    refuted_by: str
    recommend: Callable[[Case, Seen], tuple[Recommendation, ...]]
    silences: bool = False
    """Until it is put right no other cause can be told from it."""

    def finding(self, case: Case, seen: Seen, *, beside: bool = False) -> Finding:
        """What a reader is told."""
        return Finding(
            cause=self.id,
            explanation=self.explanation(case, seen),
            evidence=seen.evidence,
            refuted_by=self.refuted_by,
            recommendations=tuple(_accepted(case.study, one) for one in self.recommend(case, seen)),
            beside=beside,
        )


def _accepted(study: Study, recommendation: Recommendation) -> Recommendation:
    """The recommendation; without its patch, and with the reason, where the study would refuse that."""
    refused = refusal(study, recommendation.patch) if recommendation.patch else ""
    if not refused:
        return recommendation
    warning = f"{recommendation.warning} The study would refuse that as it stands: {refused}.".strip()
    return recommendation.model_copy(update={"patch": None, "warning": warning})
