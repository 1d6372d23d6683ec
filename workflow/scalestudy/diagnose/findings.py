"""The parts of a diagnosis, and findings.json. Plain data: the documents print it and compute nothing from it."""

from __future__ import annotations

from math import inf, isnan, nan
from typing import Any, ClassVar, Literal

from pydantic import Field

from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.record.document import Document, Part, Real
from scalestudy.registry.codes import Changes, Goal, Unpaid, Verdict

FACTORS = {"ms": 1e3, "ms per step": 1e3, "us": 1e6, "%": 100, "points": 100}
"""Unit in which a quantity is printed -> factor from seconds or fractions to it."""


class Evidence(Part):
    """A number that a finding rests on, with its limits (null if it has none) and its threshold."""

    id: str
    """Part of the key of the number; it does not change when the name is reworded."""
    name: str
    value: Real
    unit: str
    low: Real
    high: Real
    threshold: str

    @classmethod
    def of(cls, key: str, name: str, found: Interval | float, unit: str, threshold: str = "") -> Evidence:
        """The evidence from a quantity, with its limits if it has any. key: its id, unique within the finding.

        Times are passed in seconds and shares as fractions, whatever the printed unit is.
        """
        given = (found if isinstance(found, Interval) else Interval(found)).scaled(FACTORS.get(unit, 1))
        return cls(id=key, name=name, unit=unit, threshold=threshold, **vars(given))


AS_MEASURED = "as measured"
UNEXPLAINED = "unexplained"
"""Finding of a point without a cause, and key of the weight of the loss that no cause explains."""


class Prediction(Part):
    """The predicted values of a point. Limits are null if the saving was measured only once."""

    step_time_s: Interval
    gain: Interval
    """Throughput over that of now; null if there is none now."""
    speedup: Interval
    """Relative to one process at the same work."""
    efficiency: Interval
    peak_memory_gib: Real
    """Per rank; null if unknown."""
    assumes: str
    """The condition of the prediction, as the end of a sentence; AS_MEASURED if there is none."""
    progress: Interval = NOTHING
    """Speed of progress to the same accuracy over that of now; null if unknown, for example at another global
    batch without a gradient noise scale."""


class Payback(Part):
    """The cost of trying a recommendation, and the number of trainings that repay it; null if unknown."""

    least_device_hours: Real = nan
    """Cost of trying it without the runs in reserve."""
    most_device_hours: Real = nan
    """Cost of trying it with all runs in reserve."""
    saved_device_hours: Interval = NOTHING
    """Saved by each training as long as those of the study, at the predicted gain."""
    trainings: Interval = NOTHING
    """Number of trainings that repay `most_device_hours`."""
    unknown: Unpaid = Unpaid.NONE
    """Why the number of trainings is unknown, if it is."""


class Recommendation(Part):
    """A change worth trying: a patch of the study's config, or null if it is advice only."""

    id: str
    """Part of the keys of its numbers; unique among the recommendations for a cause."""
    change: str
    patch: dict[str, Any] | None = None
    prediction: Prediction | None = None
    unpredicted: str = ""
    """Why there is no prediction, if there is none."""
    warning: str = ""
    changes: Changes = Changes.NOTHING
    variant: str | None = None
    """Another variant of the study to train with instead of the point's; the patch is then null."""
    scale: str | None = None
    """NODESxDEVICES after the change, if it changes."""
    global_batch: int | None = None
    """Samples per step of all ranks after the change, if they change."""
    worth: Interval = NOTHING
    """Improvement factor over now in terms of the study's goal (`report.goal`); null if unknown."""
    payback: Payback | None = None
    """Null in a diagnosis without a study around it."""

    def order(self, goal: Goal) -> tuple[int, float]:
        """Sort key: by the kind of change, then by worth, with unknown worth last.

        If the goal is not throughput, all advice of known worth comes first, except adding ranks.
        """
        place, unknown = list(Changes).index(self.changes), isnan(self.worth.value)
        first = goal != Goal.THROUGHPUT and not unknown and self.changes != Changes.MORE_RANKS
        return -1 if first else place, inf if unknown else -self.worth.value

    @property
    def within_noise(self) -> bool:
        """Whether it may bring no gain: the lower limit of its worth is at most 1."""
        return self.worth.low <= 1


class Finding(Part):
    """A cause, its evidence, what to do about it, and what would prove it wrong."""

    cause: str
    explanation: str
    evidence: tuple[Evidence, ...]
    refuted_by: str
    recommendations: tuple[Recommendation, ...] = ()
    beside: bool = False
    """Whether it is worth knowing but does not slow the point down."""
    support: float = 1.0
    """Probability that its quantity is beyond its threshold; 1 for counts, settings and findings of no cause."""


class NotJudged(Part):
    """Causes that could not be judged for a script, and what would show them."""

    causes: tuple[str, ...]
    unseen: str
    """What was not observed, as a sentence."""
    shown_by: str
    """A line of the script or an option of the study, in backquotes."""


class Bottleneck(Part):
    """The part that takes most of a step's time, or `memory` if memory is too small; '' if unknown."""

    kind: str
    shares: dict[str, float]
    """Shares of the step by kind; they add up to 1. Empty if unknown."""


class Diagnosis(Part):
    """Verdict and findings of one point."""

    workload: str
    variant: str
    scaling: str
    nodes: int
    devices_per_node: int
    world_size: int
    batch_per_rank: int
    global_batch: int
    goal: Goal
    """Goal by which recommendations are ranked."""
    verdict: Verdict
    sentence: str
    bottleneck: Bottleneck
    context: tuple[str, ...]
    """What published trainings reach, for context only; may be empty."""
    findings: tuple[Finding, ...]
    """In the order in which to fix them."""
    also_possible: tuple[Finding, ...] = ()
    """Causes whose rule is not met but which the measurements do not rule out; the largest weight first."""
    weights: dict[str, float] = Field(default_factory=dict)
    """Weight by cause: its cost per step times its support, as a share of the sum; they add up to 1.

    Empty if each cause is clear. `unexplained` is the loss that no cause explains. A cause of unknown cost has no
    weight.
    """
    not_judged: tuple[NotJudged, ...] = ()

    @property
    def recommendations(self) -> list[tuple[str, Recommendation]]:
        """(cause, recommendation) of all findings, by worth; those of findings that do not concern the speed come
        last."""
        given = [(finding, one) for finding in self.findings for one in finding.recommendations]
        given.sort(key=lambda item: (item[0].beside, item[1].order(self.goal)))
        return [(finding.cause, one) for finding, one in given]

    @property
    def uncertain(self) -> list[tuple[str, Recommendation]]:
        """(cause, recommendation) of the causes that are only possible. They are listed after all others."""
        given = [(finding.cause, one) for finding in self.also_possible for one in finding.recommendations]
        return sorted(given, key=lambda item: item[1].order(self.goal))

    @property
    def named(self) -> tuple[Finding, ...]:
        """All findings, followed by the causes that are only possible."""
        return (*self.findings, *self.also_possible)


class FindingsFile(Document):
    """findings.json: a diagnosis for every distributed point of the summary, in the order of the summary."""

    made_by: ClassVar[str] = "scalestudy stage diagnose"
    schema_version: Literal[6] = 6
    study: str
    diagnoses: tuple[Diagnosis, ...]
