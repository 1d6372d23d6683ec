"""What a diagnosis consists of. Plain data: the documents print it, nobody computes with it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from math import inf, isfinite, isnan, nan
from typing import Any

from scalestudy.analyse.statistics.intervals import Interval


@dataclass(frozen=True)
class Evidence:
    """A number a finding rests on, with its limits (None where there are none) and what it is held against."""

    name: str
    value: float
    unit: str
    low: float | None = None
    high: float | None = None
    threshold: str = ""

    @classmethod
    def of(cls, name: str, found: Interval, unit: str, *, factor: float = 1.0, threshold: str = "") -> Evidence:
        """`factor` times a quantity, with its limits."""
        return cls(name, found.value * factor, unit, found.low * factor, found.high * factor, threshold)


AS_MEASURED = "as measured"


@dataclass(frozen=True)
class Prediction:
    """What a point should become. Limits are nan where what is saved was measured once only."""

    step_time_s: Interval
    gain: Interval
    """Times the throughput of now; nan where there is none now."""
    speedup: Interval
    """Over one process at the same work."""
    efficiency: Interval
    peak_memory_gib: float | None
    """Of a rank; None where nothing tells."""
    assumes: str
    """What has to hold for that, as the end of a sentence; AS_MEASURED where nothing has to."""


@dataclass(frozen=True)
class Recommendation:
    """A change worth trying: a patch of the study's own config, or None where it is advice only."""

    change: str
    patch: dict[str, Any] | None = None
    prediction: Prediction | None = None
    unpredicted: str = ""
    """Why nothing is predicted, where nothing is."""
    warning: str = ""
    keeps_the_work: bool = True
    """Whether it is the same training on the same ranks, and nothing but its speed differs."""

    @property
    def order(self) -> tuple[bool, float]:
        """Sorts by expected gain: what keeps the work before what changes it, and in each the unknown last."""
        gain = self.prediction.gain.value if self.prediction else nan
        return not self.keeps_the_work, inf if isnan(gain) else -gain


@dataclass(frozen=True)
class Finding:
    """A cause, why it is believed, what to do about it, and what would prove it wrong."""

    cause: str
    explanation: str
    evidence: tuple[Evidence, ...]
    refuted_by: str
    recommendations: tuple[Recommendation, ...] = ()
    beside: bool = False
    """Worth knowing, and not what holds the point back."""


@dataclass(frozen=True)
class Bottleneck:
    """What most of a step's time goes to, or `memory` where there is too little; '' where that is not known."""

    kind: str
    shares: dict[str, float]
    """Of the step, by kind; they add up to 1. Empty where there are none."""


@dataclass(frozen=True)
class Diagnosis:
    """Verdict and findings of one point."""

    workload: str
    variant: str
    scaling: str
    nodes: int
    devices_per_node: int
    world_size: int
    batch_per_rank: int
    global_batch: int
    verdict: str
    sentence: str
    bottleneck: Bottleneck
    context: tuple[str, ...]
    """What is usual, to be read beside what was measured and never instead of it."""
    findings: tuple[Finding, ...] = field(default=())

    @property
    def recommendations(self) -> list[tuple[str, Recommendation]]:
        """(cause, recommendation) of all findings, by expected gain; last those of what is only told beside."""
        given = [(finding, one) for finding in self.findings for one in finding.recommendations]
        given.sort(key=lambda item: (item[0].beside, item[1].order))
        return [(finding.cause, one) for finding, one in given]

    def to_json(self) -> dict[str, Any]:
        """Nested dictionaries and lists; numbers that are not finite become None.

        Recommendations stand beside the findings, ranked, each with its cause.
        """
        plain = asdict(self)
        for finding in plain["findings"]:
            del finding["recommendations"]
        plain["recommendations"] = [{"cause": cause} | asdict(one) for cause, one in self.recommendations]
        return _plain(plain)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value.item() if hasattr(value, "item") else value
