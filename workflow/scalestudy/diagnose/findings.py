"""What a diagnosis consists of. Plain data: the documents print it, nobody computes with it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any


@dataclass(frozen=True)
class Evidence:
    """A number a finding rests on, with its limits (None where there are none) and what it is held against."""

    name: str
    value: float
    unit: str
    low: float | None = None
    high: float | None = None
    threshold: str = ""


@dataclass(frozen=True)
class Recommendation:
    """A change worth trying: a patch of the study's own config, or None where it is advice only."""

    change: str
    patch: dict[str, Any] | None = None
    prediction: str = ""
    """What it should bring, with its interval and what was assumed; or why nothing is predicted."""
    warning: str = ""


@dataclass(frozen=True)
class Finding:
    """A cause, why it is believed, what to do about it, and what would prove it wrong."""

    cause: str
    explanation: str
    evidence: tuple[Evidence, ...]
    refuted_by: str
    recommendations: tuple[Recommendation, ...] = ()


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
    findings: tuple[Finding, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """Nested dictionaries and lists; numbers that are not finite become None."""
        return _plain(asdict(self))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value.item() if hasattr(value, "item") else value
