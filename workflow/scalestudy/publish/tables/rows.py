"""Which points of a study a table has, and what it is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from scalestudy.analyse.point.rows import WORK
from scalestudy.registry.tables import Table


@dataclass(frozen=True)
class Content:
    """Rows and caption of a table."""

    about: str
    """The beginning of its caption."""
    pick: Callable[[pd.DataFrame], pd.DataFrame]
    """Of the summary, without references."""
    names_scaling: bool = True
    """Whether a row says how it was scaled."""


def _scaling(which: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def pick(rows: pd.DataFrame) -> pd.DataFrame:
        mine = rows[rows["scaling"] == which]
        return mine if (mine["world_size"] > 1).any() else mine.iloc[:0]

    return pick


def _all(rows: pd.DataFrame) -> pd.DataFrame:
    return rows


def _beside(rows: pd.DataFrame, *, strategies: bool) -> pd.DataFrame:
    """Distributed points at places where several variants, or several strategies, do the same work."""
    found = rows[rows["world_size"] > 1]
    what = "strategy" if strategies else "variant"
    together = found.groupby(WORK)[what].transform("nunique") > 1
    return found[together].sort_values(WORK, kind="stable", key=_in_order)


def _in_order(column: pd.Series) -> pd.Series:
    """Names in the order of the study, numbers by size."""
    return (
        column if column.dtype.kind in "iuf" else column.map({name: i for i, name in enumerate(column.unique())})
    )


CONTENTS: dict[Table, Content] = {
    "summary": Content("Scaling of study {study}.", _all),
    "strong_scaling": Content(
        "Strong scaling of study {study}: the global batch is held.", _scaling("strong"), names_scaling=False
    ),
    "weak_scaling": Content(
        "Weak scaling of study {study}: the batch per rank is held.", _scaling("weak"), names_scaling=False
    ),
    "step_breakdown": Content(
        "Where a step's time goes in study {study}: means over steady steps, ranks and launches, in the order of"
        " a step; exposed communication is part of the backward pass.",
        _all,
    ),
    "memory": Content("Memory of the rank that has most in study {study}.", _all),
    "variants": Content(
        "Variants of study {study} at the same work and place, each against the first of its group.",
        lambda rows: _beside(rows, strategies=False),
    ),
    "ddp_fsdp": Content(
        "Strategies of study {study} at the same work and place, each against the first of its group.",
        lambda rows: _beside(rows, strategies=True),
    ),
    "proposal": Content(
        "Scaling of study {study}, and what a million samples cost in hours of all devices.", _all
    ),
}
