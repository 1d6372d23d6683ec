"""A remark about a published table, and the kinds that there are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Remark:
    """Something a reader of the table should know; `kind` is one of KINDS."""

    kind: str
    gpus: int | None
    """The scale it is about; None for the table as a whole."""
    sentence: str


KINDS = (
    "not positive",
    "no base case",
    "one scale",
    "two base cases",
    "printed twice",
    "throughput against step time",
    "speedup",
    "efficiency",
    "efficiency not printed",
    "label",
    "confounded",
    "faster than its devices",
    "negative scaling",
    "turns back",
    "limit of a node",
)
