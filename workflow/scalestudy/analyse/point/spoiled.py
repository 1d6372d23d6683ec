"""Runs that something else on their host spoiled: left out while enough others are left, and counted."""

from collections import Counter
from typing import Any

import pandas as pd

from scalestudy.registry.codes import Spoiled, Turns
from scalestudy.study.config.study import Study

FEWEST = 2
"""Runs that have to be left: fewer have no interval."""
NOT_MARKED = (Spoiled.NONE, Spoiled.UNKNOWN)


def is_spoiled(launches: pd.DataFrame) -> pd.Series:
    """Whether each run is marked. One whose host was not watched is not."""
    if launches.get("spoiled") is None:
        return pd.Series(False, index=launches.index)
    return ~launches["spoiled"].isin(NOT_MARKED)


def kept(launches: pd.DataFrame, study: Study) -> pd.DataFrame:
    """The runs of a point without the spoiled ones, or all where fewer than FEWEST would be left."""
    return launches if (clean := _clean(launches, study)) is None or len(clean) < FEWEST else clean


def kept_together(mine: pd.DataFrame, others: pd.DataFrame, study: Study) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The runs of two points that are compared: a repeat with a spoiled run of either is left out whole,
    or none where fewer than FEWEST repeats would be left."""
    left = [_clean(launches, study) for launches in (mine, others)]
    if any(one is None for one in left):
        return mine, others
    first, second = (one for one in left if one is not None)
    if len(set(first["repeat"]) & set(second["repeat"])) < FEWEST:
        return mine, others
    return first, second


def _clean(launches: pd.DataFrame, study: Study) -> pd.DataFrame | None:
    """None where the study leaves nothing out."""
    return launches[~is_spoiled(launches)] if study.report.spoiled.leave_out else None


def quiet_turns(turned: pd.DataFrame) -> pd.Series:
    """Whether the turns of each run count for its own speedup.

    Others did not have the cores in every round, and nothing else spoiled what followed the training.
    Load of others alone does not spoil it, since contended rounds do not count.
    """
    quiet = turned["turns"] == Turns.MADE
    if turned.get("spoiled_after") is not None:
        allowed = {*NOT_MARKED, Spoiled.OTHER_LOAD}
        quiet &= turned["spoiled_after"].isin(allowed)
    return quiet


def spoiled_repeats(mine: pd.DataFrame, others: pd.DataFrame) -> tuple[set[int], set[int]]:
    """(repeats that have both, those of them in which either is spoiled)."""
    both = set(mine["repeat"]) & set(others["repeat"])
    spoiled = {repeat for one in (mine, others) for repeat in one.loc[is_spoiled(one), "repeat"]}
    return both, both & spoiled


def spoiled_row(mine: pd.DataFrame, others: pd.DataFrame) -> dict[str, Any]:
    """Columns of the summary: how many runs are marked, and by what. others: of the baseline."""
    marks = Counter(
        mark
        for launches in (mine, others[~others.index.isin(mine.index)])
        if launches.get("spoiled") is not None  # records before it was read have no such column
        for codes in launches.loc[is_spoiled(launches), "spoiled"]
        for mark in codes.split()
    )
    unknown = mine["spoiled"] == Spoiled.UNKNOWN if mine.get("spoiled") is not None else is_spoiled(mine)
    return {
        "launches_spoiled": int(is_spoiled(mine).sum()),
        "launches_not_watched": int(unknown.sum()),
        "spoiled_by": " ".join(code for code, _ in marks.most_common()) or Spoiled.NONE,
    }
