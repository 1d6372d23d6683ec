"""The tree of efficiencies, by hand."""

from __future__ import annotations

from math import nan, prod

import pandas as pd
import pytest
from scalestudy.analyse.point.efficiency_tree import efficiency_tree


def point(**known: float) -> pd.Series:
    """A row of the summary; limits are 1 % on either side, and missing values are unknown."""
    columns = ("efficiency", "step_time_s", "step_time_alone_s", "differential_s", "interference_s", "wait_time_s")
    values = dict.fromkeys(columns, nan) | known
    return pd.Series(
        {"scaling": "strong"}
        | {
            f"{name}{limit}": value * factor
            for name, value in values.items()
            for limit, factor in (("", 1), ("_low", 0.99), ("_high", 1.01))
        }
    )


STRONG = {
    "efficiency": 0.4,
    "step_time_s": 0.1,
    "step_time_alone_s": 0.06,
    "differential_s": 0.03,
    "interference_s": 0.01,
    "wait_time_s": 0.005,
}


def shares(row: pd.Series, level: int) -> dict[str, float]:
    return {factor.name: factor.share.value for factor in efficiency_tree(row) if factor.level == level}


def test_every_level_of_the_tree_closes() -> None:
    row = point(**STRONG)
    assert prod(shares(row, 1).values()) == pytest.approx(0.4)
    assert prod(shares(row, 2).values()) == pytest.approx(shares(row, 1)["parallel"])
    assert prod(shares(row, 3).values()) == pytest.approx(shares(row, 2)["synchronisation"])


def test_the_factors_by_hand() -> None:
    """A step of 100 ms: 60 alone, 70 without synchronisation, 80 with interference, 85 with waiting."""
    row = point(**STRONG)
    assert shares(row, 1) == pytest.approx({"batch": 0.4 / 0.6, "parallel": 0.6})
    assert shares(row, 2) == pytest.approx({"contention": 60 / 70, "synchronisation": 0.7})
    assert shares(row, 3) == pytest.approx({"interference": 70 / 80, "balance": 80 / 85, "transfer": 0.85})


def test_the_tree_ends_where_the_measurements_do() -> None:
    assert efficiency_tree(point()) == []
    assert [factor.name for factor in efficiency_tree(point(efficiency=0.4, step_time_s=0.1))] == ["efficiency"]
    unprobed = {name: STRONG[name] for name in ("efficiency", "step_time_s", "step_time_alone_s")}
    assert [factor.level for factor in efficiency_tree(point(**unprobed))] == [0, 1, 1]


def test_factors_have_the_intervals_of_their_times() -> None:
    """1 % of each time is 1.4 % of their ratio."""
    (parallel,) = (factor.share for factor in efficiency_tree(point(**STRONG)) if factor.name == "parallel")
    assert parallel.low == pytest.approx(0.6 * (1 - 0.0141), rel=1e-3)
    assert parallel.high == pytest.approx(0.6 * (1 + 0.0141), rel=1e-3)


def test_what_is_lost_is_as_sure_as_its_own_measurement() -> None:
    """1 % of 5 ms of waiting is little of a step of 85 ms, however unsure the step itself is."""
    (balance,) = (factor.share for factor in efficiency_tree(point(**STRONG)) if factor.name == "balance")
    assert balance.low == pytest.approx(1 - 5.05 / 85)
    assert balance.high == pytest.approx(1 - 4.95 / 85)


def test_no_limit_of_a_share_is_negative() -> None:
    row = point(**STRONG)
    row["differential_s_high"] = 0.2
    (sync,) = (factor.share for factor in efficiency_tree(row) if factor.name == "synchronisation")
    assert (sync.low, sync.value) == (0.0, pytest.approx(0.7))


def test_weak_scaling_loses_nothing_to_the_batch() -> None:
    row = point(**STRONG)
    row["scaling"] = "weak"
    tree = {factor.name: factor.share for factor in efficiency_tree(row)}
    assert tree["batch"].value == 1
    assert tree["parallel"] == tree["efficiency"]
