"""Launches of several measurement protocols: which of them are averaged, and which are compared."""

import pandas as pd

from scalestudy.record.protocol import comparable, not_comparable

STEP_TIME = "step_time_s"


def of_one_protocol(launches: pd.DataFrame) -> pd.DataFrame:
    """The launches of a point that may be averaged: those comparable in step time with its newest protocol.

    launches: rows of runs.csv. Of the rows kept, columns that are not comparable with the newest protocol are
    emptied: nan, False, or '' for text.
    """
    protocols = launches["protocol"].unique()
    if len(protocols) < 2:
        return launches
    newest = max(protocols)
    kept = launches[same_meaning(launches["protocol"], newest, STEP_TIME)].copy()
    for older in protocols:
        for column in not_comparable(older, newest).intersection(kept.columns):
            kept[column] = kept[column].where(kept["protocol"] != older, _nothing(kept[column]))
    return kept


def _nothing(column: pd.Series) -> float | bool | str:
    if pd.api.types.is_bool_dtype(column):
        return False
    return float("nan") if pd.api.types.is_numeric_dtype(column) else ""


def comparable_with(launches: pd.DataFrame, others: pd.DataFrame, column: str = STEP_TIME) -> pd.DataFrame:
    """Those of other launches that may be averaged; none where a column of theirs does not compare with ours."""
    others = of_one_protocol(others)
    return others if are_comparable(launches, others, column) else others.iloc[:0]


def are_comparable(launches: pd.DataFrame, others: pd.DataFrame, column: str = STEP_TIME) -> bool:
    """Whether a column means the same in the newest protocols of two sets of launches; so it does in none."""
    if launches.empty or others.empty:
        return True
    return comparable(launches["protocol"].max(), others["protocol"].max(), column)


def same_meaning(protocols: pd.Series, protocol: float, column: str = STEP_TIME) -> pd.Series:
    """Whether a column is comparable between each of these protocols and one."""
    same = protocols == protocol
    return same if same.all() else protocols.map(lambda other: comparable(other, protocol, column)).astype(bool)
