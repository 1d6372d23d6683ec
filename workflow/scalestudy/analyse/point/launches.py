"""The runs of a point: rows of runs.csv, selected by their ids, and common operations on their columns."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scalestudy.analyse.point.protocols import newest_of, same_meaning
from scalestudy.analyse.statistics.intervals import Sample
from scalestudy.study.config.study import Study


def plain_text(runs: pd.DataFrame) -> pd.DataFrame:
    """Returns the same rows in few blocks, text as objects: rows are then selected per block, not per column."""
    return runs.astype(dict.fromkeys(runs.select_dtypes(include=["string"]).columns, object)).copy()


def good_launches(runs: pd.DataFrame) -> pd.DataFrame:
    """Returns the runs that completed and have steady steps."""
    return runs[(runs["outcome"] == "ok") & runs["step_time_s"].notna()]


def by_repeat(launches: pd.DataFrame, column: str) -> pd.Series:
    """Returns a column of runs by their repeat."""
    return pd.Series(launches[column].to_numpy(), index=launches["repeat"].to_numpy(), name=column)


def launches_of(good: pd.DataFrame, column: str, study: Study) -> Sample:
    """Returns a column of the runs of a point; the spread is that of the runs that were planned from the start."""
    found = by_block(good, column)
    values, planned = found.to_numpy(), found.index.to_numpy() <= study.repeats_for_spread
    return Sample(values, None if planned.all() else values[planned])


def by_block(launches: pd.DataFrame, column: str) -> pd.Series:
    """Returns a column of the runs of a point by repeat, without runs for which the column has another meaning."""
    found = by_repeat(launches, column)
    if found.empty:
        return found
    same = same_meaning(launches, newest_of(launches), column).to_numpy()
    return found if same.all() else found[same]


def among(runs: pd.DataFrame, run_ids: tuple[str, ...]) -> pd.DataFrame:
    """Returns the rows of these runs, if they exist."""
    places = runs.index.get_indexer(pd.Index(run_ids))
    return runs.take(places[places >= 0])


def first_of(good: pd.DataFrame, seen: pd.Series, nothing: Mapping[str, Any]) -> dict[str, Any]:
    """Returns columns of the first run in which something was seen; `nothing` if there is none."""
    where = seen.to_numpy(dtype=bool)
    if not where.any():
        return dict(nothing)
    first = int(where.argmax())
    return {name: good[name].iloc[first] for name in nothing}
