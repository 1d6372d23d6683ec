"""What a diagnosis consists of, and findings.json. Plain data: the documents print it, nobody computes with it."""

from __future__ import annotations

from math import inf, isnan, nan
from typing import Any, ClassVar, Literal

from pydantic import Field

from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.record.document import Document, Part, Real
from scalestudy.registry.codes import Changes, Goal, Unpaid, Verdict

FACTORS = {"ms": 1e3, "ms per step": 1e3, "us": 1e6, "%": 100, "points": 100}
"""From what a quantity is given in to the unit it is printed in."""


class Evidence(Part):
    """A number a finding rests on, with its limits (null where there are none) and what it is held against."""

    id: str
    """Part of the key of the number: it stays when the name is reworded."""
    name: str
    value: Real
    unit: str
    low: Real
    high: Real
    threshold: str

    @classmethod
    def of(cls, key: str, name: str, found: Interval | float, unit: str, threshold: str = "") -> Evidence:
        """A quantity, with its limits if it has any. key: its id, one of its own in a finding.

        Times are given in seconds and shares as fractions, whatever the unit is.
        """
        given = (found if isinstance(found, Interval) else Interval(found)).scaled(FACTORS.get(unit, 1))
        return cls(id=key, name=name, unit=unit, threshold=threshold, **vars(given))


AS_MEASURED = "as measured"
UNEXPLAINED = "unexplained"
"""What is named where no cause is found, and the weight of what no cause explains."""


class Prediction(Part):
    """What a point should become. Limits are null where what is saved was measured once only."""

    step_time_s: Interval
    gain: Interval
    """Times the throughput of now; null where there is none now."""
    speedup: Interval
    """Over one process at the same work."""
    efficiency: Interval
    peak_memory_gib: Real
    """Of a rank; null where nothing tells."""
    assumes: str
    """What has to hold for that, as the end of a sentence; AS_MEASURED where nothing has to."""
    progress: Interval = NOTHING
    """Times as fast to the same accuracy as now; null where that is not known, as at another global batch without
    a gradient noise scale."""


class Payback(Part):
    """What trying a recommendation takes, and after how many trainings that is repaid; null where not known."""

    least_device_hours: Real = nan
    """That trying it takes, without the launches in reserve."""
    most_device_hours: Real = nan
    """The same with all of them."""
    saved_device_hours: Interval = NOTHING
    """By a training as long as those of the study, at the predicted gain."""
    trainings: Interval = NOTHING
    """After which `most_device_hours` are repaid."""
    unknown: Unpaid = Unpaid.NONE
    """Why that is not known, where it is not."""


class Recommendation(Part):
    """A change worth trying: a patch of the study's own config, or null where it is advice only."""

    id: str
    """Part of the keys of its numbers: one of its own among the recommendations for a cause."""
    change: str
    patch: dict[str, Any] | None = None
    prediction: Prediction | None = None
    unpredicted: str = ""
    """Why nothing is predicted, where nothing is."""
    warning: str = ""
    changes: Changes = Changes.NOTHING
    variant: str | None = None
    """A variant of the study to train with instead of that of the point; the patch is null then."""
    scale: str | None = None
    """NODESxDEVICES of the training then, where it is another than now."""
    global_batch: int | None = None
    """Samples of a step of all ranks then, where they are others than now."""
    worth: Interval = NOTHING
    """Times as good as now, by what the study is to reach (`report.goal`); null where that is not known."""
    payback: Payback | None = None
    """Null in a diagnosis without a study around it."""

    def order(self, goal: Goal) -> tuple[int, float]:
        """Sorts by what is changed, and among equals by what it is worth: the unknown last.

        For another goal than throughput, all of known worth that ranks which were measured can have come first.
        """
        place, unknown = list(Changes).index(self.changes), isnan(self.worth.value)
        first = goal != Goal.THROUGHPUT and not unknown and self.changes != Changes.MORE_RANKS
        return -1 if first else place, inf if unknown else -self.worth.value

    @property
    def within_noise(self) -> bool:
        """Whether it may be worth nothing: its lower limit is no better than now."""
        return self.worth.low <= 1


class Finding(Part):
    """A cause, why it is believed, what to do about it, and what would prove it wrong."""

    cause: str
    explanation: str
    evidence: tuple[Evidence, ...]
    refuted_by: str
    recommendations: tuple[Recommendation, ...] = ()
    beside: bool = False
    """Worth knowing, and not what holds the point back."""
    support: float = 1.0
    """Probability that its quantity is beyond its threshold; 1 where it is counted, a setting or no cause."""


class NotJudged(Part):
    """Causes that could not be judged of a script, and what would show them."""

    causes: tuple[str, ...]
    unseen: str
    """What was not seen, as a sentence."""
    shown_by: str
    """A line of the script or an option of the study, in backquotes."""


class Bottleneck(Part):
    """What most of a step's time goes to, or `memory` where there is too little; '' where that is not known."""

    kind: str
    shares: dict[str, float]
    """Of the step, by kind; they add up to 1. Empty where there are none."""


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
    """What recommendations are ranked by."""
    verdict: Verdict
    sentence: str
    bottleneck: Bottleneck
    context: tuple[str, ...]
    """What is usual, to be read beside what was measured and never instead of it."""
    findings: tuple[Finding, ...]
    """The first is to be put right first."""
    also_possible: tuple[Finding, ...] = ()
    """Causes whose rule does not hold, and which the measurements do not rule out; the largest weight first."""
    weights: dict[str, float] = Field(default_factory=dict)
    """By cause, what it costs of a step times its support, as a share of the sum; they add up to 1.

    Empty where each cause is clear. `unexplained` is the loss that no cause explains. A cause has none where its
    cost is not known.
    """
    not_judged: tuple[NotJudged, ...] = ()

    @property
    def recommendations(self) -> list[tuple[str, Recommendation]]:
        """(cause, recommendation) of all findings, by what they are worth; last those of what is only told
        beside."""
        given = [(finding, one) for finding in self.findings for one in finding.recommendations]
        given.sort(key=lambda item: (item[0].beside, item[1].order(self.goal)))
        return [(finding.cause, one) for finding, one in given]

    @property
    def uncertain(self) -> list[tuple[str, Recommendation]]:
        """(cause, recommendation) of the causes that are only possible. They come after all others."""
        given = [(finding.cause, one) for finding in self.also_possible for one in finding.recommendations]
        return sorted(given, key=lambda item: item[1].order(self.goal))

    @property
    def named(self) -> tuple[Finding, ...]:
        """All findings, with those that are only possible last."""
        return (*self.findings, *self.also_possible)


class FindingsFile(Document):
    """findings.json: a diagnosis for every distributed point of the summary, in its order."""

    made_by: ClassVar[str] = "scalestudy stage diagnose"
    schema_version: Literal[6] = 6
    study: str
    diagnoses: tuple[Diagnosis, ...]
