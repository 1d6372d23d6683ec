"""The runs of a point: rows of runs.csv, picked by their ids, and what is asked of their columns."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from scalestudy.analyse.point.protocols import newest_of, same_meaning
from scalestudy.analyse.statistics.intervals import Sample
from scalestudy.study.config.study import Study


def plain_text(runs: pd.DataFrame) -> pd.DataFrame:
    """The same rows, with text as objects, in few blocks: to pick rows then takes a step a block, not a column."""
    return runs.astype(dict.fromkeys(runs.select_dtypes(include=["string"]).columns, object)).copy()


def good_launches(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that ended well and have steady steps."""
    return runs[(runs["outcome"] == "ok") & runs["step_time_s"].notna()]


def by_repeat(launches: pd.DataFrame, column: str) -> pd.Series:
    """A column of runs by their repeat."""
    return pd.Series(launches[column].to_numpy(), index=launches["repeat"].to_numpy(), name=column)


def launches_of(good: pd.DataFrame, column: str, study: Study) -> Sample:
    """A column of the runs of a point; those that were planned from the start decide on the spread."""
    found = by_block(good, column)
    values, planned = found.to_numpy(), found.index.to_numpy() <= study.repeats_for_spread
    return Sample(values, None if planned.all() else values[planned])


def by_block(launches: pd.DataFrame, column: str) -> pd.Series:
    """A column of the runs of a point by their repeat, without runs of another meaning of it."""
    found = by_repeat(launches, column)
    if found.empty:
        return found
    same = same_meaning(launches, newest_of(launches), column).to_numpy()
    return found if same.all() else found[same]


def among(runs: pd.DataFrame, run_ids: tuple[str, ...]) -> pd.DataFrame:
    """Those of these runs that are among the rows."""
    places = runs.index.get_indexer(pd.Index(run_ids))
    return runs.take(places[places >= 0])


def first_of(good: pd.DataFrame, seen: pd.Series, nothing: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of the first run in which something was seen; `nothing` where there is none."""
    where = seen.to_numpy(dtype=bool)
    if not where.any():
        return dict(nothing)
    first = int(where.argmax())
    return {name: good[name].iloc[first] for name in nothing}
