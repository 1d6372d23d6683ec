"""A remark of an audit, and its kinds."""

from dataclasses import dataclass

KINDS = (
    "not positive",
    "no base case",
    "one scale",
    "two base cases",
    "printed twice",
    "devices",
    "batch",
    "throughput against step time",
    "throughput per device",
    "utilization",
    "speedup",
    "efficiency",
    "efficiency not printed",
    "precision",
    "label",
    "confounded",
    "faster than its devices",
    "negative scaling",
    "turns back",
    "limit of a node",
)


@dataclass(frozen=True)
class Remark:
    """Something a reader of the table should know; `kind` is one of KINDS."""

    kind: str
    gpus: int | None
    """The scale that it concerns; None for the whole table."""
    sentence: str
