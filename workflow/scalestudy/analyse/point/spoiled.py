"""Runs that something else on their host disturbed: left out while enough others are left, and counted."""

from collections import Counter
from math import inf, sqrt
from typing import Any

import pandas as pd

from scalestudy.analyse.statistics.intervals import t_quantile
from scalestudy.registry.codes import Spoiled, Turns
from scalestudy.study.config.study import Study

FEWEST = 2
"""Smallest number of runs that must be left: fewer have no interval."""
SHARED = 0.5
"""Assumed share of the variance between runs that the runs of a repeat have in common, for the choice of a method
only. No interval depends on it."""
NOT_MARKED = (Spoiled.NONE, Spoiled.UNKNOWN)


def is_spoiled(launches: pd.DataFrame) -> pd.Series:
    """Returns whether each run is marked. A run whose host was not monitored is not marked."""
    if launches.get("spoiled") is None:
        return pd.Series(False, index=launches.index)
    return ~launches["spoiled"].isin(NOT_MARKED)


def kept(launches: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Returns the runs of a point without the disturbed ones, or all if fewer than FEWEST would be left."""
    return launches if (clean := _clean(launches, study)) is None or len(clean) < FEWEST else clean


def kept_together(mine: pd.DataFrame, others: pd.DataFrame, study: Study) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Returns the runs of two points to compare: a repeat with a disturbed run on either side is left out as a
    whole, unless fewer than FEWEST repeats would be left."""
    left = [_clean(launches, study) for launches in (mine, others)]
    if any(one is None for one in left):
        return mine, others
    first, second = (one for one in left if one is not None)
    if len(set(first["repeat"]) & set(second["repeat"])) < FEWEST:
        return mine, others
    return first, second


def apart_from_repeats(
    mine: pd.DataFrame, others: pd.DataFrame, study: Study
) -> tuple[pd.DataFrame, pd.DataFrame] | None:
    """Returns the undisturbed runs of two points, to compare as independent samples; None to compare in repeats.

    A repeat is whole only if neither of its runs was disturbed. Where half of all runs are disturbed, a quarter of
    the repeats is. The method is the one with the narrower expected interval if the runs of a repeat share SHARED
    of their variance: t / sqrt(n) of whole repeats, or of undisturbed runs, divided by sqrt(1 - SHARED). Only
    numbers of runs enter, and no measured time, so each interval keeps its level.
    """
    first, second = (_clean(launches, study) for launches in (mine, others))
    if first is None or second is None or len(first) + len(second) == len(mine) + len(others):
        return None
    whole, least = len(set(first["repeat"]) & set(second["repeat"])), min(len(first), len(second))
    if least < FEWEST:
        return None
    in_repeats = inf if whole < FEWEST else t_quantile(study.level, whole - 1) / sqrt(whole)
    of_samples = t_quantile(study.level, 2 * least - 2) / sqrt(least * (1 - SHARED))
    return (first, second) if of_samples < in_repeats else None


def _clean(launches: pd.DataFrame, study: Study) -> pd.DataFrame | None:
    """None if the study leaves nothing out."""
    return launches[~is_spoiled(launches)] if study.report.spoiled.leave_out else None


def quiet_turns(turned: pd.DataFrame) -> pd.Series:
    """Returns whether the turns of each run count for its own speedup.

    Other processes did not use the cores in every round, and nothing else disturbed the time after the training.
    Other load alone does not exclude it, since contended rounds do not count.
    """
    quiet = turned["turns"] == Turns.MADE
    if turned.get("spoiled_after") is not None:
        allowed = {*NOT_MARKED, Spoiled.OTHER_LOAD}
        quiet &= turned["spoiled_after"].isin(allowed)
    return quiet


def spoiled_repeats(mine: pd.DataFrame, others: pd.DataFrame) -> tuple[set[int], set[int]]:
    """Returns (repeats that have both, repeats among them in which either is disturbed)."""
    both = set(mine["repeat"]) & set(others["repeat"])
    spoiled = {repeat for one in (mine, others) for repeat in one.loc[is_spoiled(one), "repeat"]}
    return both, both & spoiled


def spoiled_row(mine: pd.DataFrame, others: pd.DataFrame) -> dict[str, Any]:
    """Returns columns of the summary: the number of marked runs, and the causes. others: of the baseline."""
    marks = Counter(
        mark
        for launches in (mine, others[~others.index.isin(mine.index)])
        if launches.get("spoiled") is not None  # older records lack this column
        for codes in launches.loc[is_spoiled(launches), "spoiled"]
        for mark in codes.split()
    )
    unknown = mine["spoiled"] == Spoiled.UNKNOWN if mine.get("spoiled") is not None else is_spoiled(mine)
    return {
        "launches_spoiled": int(is_spoiled(mine).sum()),
        "launches_not_watched": int(unknown.sum()),
        "spoiled_by": " ".join(code for code, _ in marks.most_common()) or Spoiled.NONE,
    }
