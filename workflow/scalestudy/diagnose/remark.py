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
    "work",
    "throughput against step time",
    "throughput against time",
    "throughput per device",
    "utilization",
    "speedup",
    "efficiency",
    "efficiency not printed",
    "precision",
    "sentence",
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


_MOST_DECIMALS = 6


def apart(value: float, other: float, digits: int) -> str:
    """Return a number with as many decimals as tell it from another one, at least `digits`."""
    for decimals in range(digits, digits + _MOST_DECIMALS):
        if round(value, decimals) != round(other, decimals):
            return f"{value:.{decimals}f}"
    return f"{value:.{digits}f}"
