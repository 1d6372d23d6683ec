"""Which points of a study a table has."""

from __future__ import annotations

import pandas as pd

from scalestudy.analyse.point.rows import WORK
from scalestudy.registry.tables import Table


def pick(table: Table, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the summary, without references, that a table has."""
    if table in ("strong_scaling", "weak_scaling"):
        mine = rows[rows["scaling"] == table.removesuffix("_scaling")]
        return mine if (mine["world_size"] > 1).any() else mine.iloc[:0]
    if table in ("variants", "ddp_fsdp"):
        return _beside(rows, "variant" if table == "variants" else "strategy")
    return rows


def _beside(rows: pd.DataFrame, what: str) -> pd.DataFrame:
    """Distributed points at places where several variants, or several strategies, do the same work."""
    found = rows[rows["world_size"] > 1]
    together = found.groupby(WORK)[what].transform("nunique") > 1
    return found[together].sort_values(WORK, kind="stable", key=_in_order)


def _in_order(column: pd.Series) -> pd.Series:
    """Names in the order of the study, numbers by size."""
    return (
        column if column.dtype.kind in "iuf" else column.map({name: i for i, name in enumerate(column.unique())})
    )
