"""Runs of a repeat that were not run together are counted, by the way in which they were apart."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from scalestudy.analyse.point.together import APART, apart_columns

JOBS, NODES, DAYS = APART


def launches(**columns: Any) -> pd.DataFrame:
    """Three repeats of a point, in one job on one node within an hour, unless changed."""
    return pd.DataFrame(
        {
            "repeat": [1, 2, 3],
            "slurm_job": "7",
            "node_names": "a",
            "started_at": [f"2026-01-01T0{hour}:00:00+00:00" for hour in (1, 2, 3)],
        }
        | columns
    )


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({}, {}),
        ({"slurm_job": ["7", "8", "7"]}, {JOBS: 1}),
        ({"node_names": ["a b", "a", "b a"]}, {}),  # the node of the baseline is among them
        ({"node_names": ["b c", "a", "b"]}, {NODES: 2}),
        ({"slurm_job": ["7", "8", "9"], "node_names": ["a", "a", "b"]}, {JOBS: 2, NODES: 1}),
        ({"started_at": [f"2026-01-0{day}T03:00:00+00:00" for day in (1, 2, 3)]}, {DAYS: 2}),
        ({"slurm_job": ["8", "7", "7"], "node_names": ["a", "b", "a"]}, {"repeats_apart": 2, JOBS: 1, NODES: 1}),
        ({"slurm_job": ["", "", ""]}, {}),  # outside of SLURM nothing is known of jobs
    ],
)
def test_ways_to_be_apart(columns: dict[str, Any], found: dict[str, int]) -> None:
    expected = (
        dict.fromkeys(("repeats_apart", *APART), 0) | {"repeats_apart": max(found.values(), default=0)} | found
    )
    assert apart_columns(launches(**columns), launches()) == expected
    assert apart_columns(launches(), launches(**columns)) == expected


def test_only_repeats_with_both_sides_count() -> None:
    other = launches(slurm_job="8")
    assert apart_columns(launches()[:2], other)["repeats_apart"] == 2
    assert apart_columns(launches()[:0], other)["repeats_apart"] == 0
    assert apart_columns(launches()[:1], other[1:])["repeats_apart"] == 0


def test_what_a_csv_makes_of_jobs_is_the_same(tmp_path: Any) -> None:
    """Ids that look like numbers, and empty fields."""
    for jobs, expected in ((["7", "8", ""], 1), (["7", "7", "7"], 0), (["", "", ""], 0)):
        launches(slurm_job=jobs).to_csv(tmp_path / "runs.csv", index=False)
        launches().to_csv(tmp_path / "base.csv", index=False)
        read = [pd.read_csv(tmp_path / name) for name in ("runs.csv", "base.csv")]
        assert apart_columns(*read)[JOBS] == expected
