"""Runs of several measurement protocols: which of them may be averaged, and which may be compared."""

from itertools import combinations

import pandas as pd

from scalestudy.record.protocol import Measured, comparable, not_comparable

STEP_TIME = "step_time_s"


def measured_of(row: pd.Series) -> Measured:
    """Returns how a row of runs.csv or of the summary was measured."""
    return Measured(row["protocol"], row["strategy"])


def newest_of(rows: pd.DataFrame) -> Measured:
    """Returns how the newest of these rows was measured."""
    return measured_of(rows.iloc[int(rows["protocol"].to_numpy().argmax())])


def of_one_protocol(launches: pd.DataFrame) -> pd.DataFrame:
    """Returns the runs of a point that may be averaged: those comparable in step time with its newest protocol.

    runs: rows of runs.csv. In the remaining rows, columns that are not comparable with the newest protocol are
    cleared: nan, False, or '' for text.
    """
    protocols = launches["protocol"].unique()
    if len(protocols) < 2:
        return launches
    newest = newest_of(launches)
    kept = launches[same_meaning(launches, newest, STEP_TIME)].copy()
    for older in protocols:
        for column in not_comparable(newest._replace(protocol=older), newest).intersection(kept.columns):
            kept[column] = kept[column].where(kept["protocol"] != older, _nothing(kept[column]))
    return kept


def _nothing(column: pd.Series) -> float | bool | str:
    if pd.api.types.is_bool_dtype(column):
        return False
    return float("nan") if pd.api.types.is_numeric_dtype(column) else ""


def comparable_with(launches: pd.DataFrame, others: pd.DataFrame, column: str = STEP_TIME) -> pd.DataFrame:
    """Returns the other runs that may be averaged; none if a column of theirs is not comparable with ours."""
    others = of_one_protocol(others)
    return others if are_comparable(launches, others, column) else others.iloc[:0]


def are_comparable(launches: pd.DataFrame, others: pd.DataFrame, column: str = STEP_TIME) -> bool:
    """Returns whether a column is comparable between two sets of runs; true if one is empty."""
    if launches.empty or others.empty:
        return True
    return comparable(newest_of(launches), newest_of(others), column)


def same_meaning(rows: pd.DataFrame, one: Measured, column: str = STEP_TIME) -> pd.Series:
    """Returns whether a column is comparable between each of these rows and a given way of measuring."""
    same = rows["protocol"] == one.protocol
    if same.all():
        return same
    each = map(Measured, rows["protocol"], rows["strategy"])
    return pd.Series([comparable(other, one, column) for other in each], index=rows.index, dtype=bool)


def all_comparable(rows: pd.DataFrame, column: str = STEP_TIME) -> bool:
    """Returns whether a column is comparable between any two of these rows."""
    kinds = set(map(Measured, rows["protocol"], rows["strategy"]))
    return all(comparable(one, other, column) for one, other in combinations(kinds, 2))
