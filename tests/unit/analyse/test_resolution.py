"""Whether a part is resolved, against simulation; and which column and factor carry it."""

from __future__ import annotations

import json
from math import nan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scalestudy.analyse.point.derived import with_derived
from scalestudy.analyse.point.efficiency_tree import factors_frame
from scalestudy.analyse.statistics.intervals import Interval, mean
from scalestudy.analyse.statistics.resolution import SHARE, is_resolved, lost, repeats_to_resolve
from scalestudy.registry.estimates import ESTIMATES, FOLLOW_FROM, unresolved
from scalestudy.registry.points import POINT_COLUMNS

FINITE = st.floats(-2, 2, allow_nan=False)


@pytest.mark.parametrize(
    ("part", "resolved"),
    [
        (Interval(0.3, 0.2, 0.4), True),  # a difference
        (Interval(-0.3, -0.4, -0.2), True),
        (Interval(0.01, -0.05, 0.07), True),  # equivalent to nothing
        (Interval(0.0, -0.11, 0.05), False),  # neither: a gain of 11 % is possible
        (Interval(0.05, -0.01, 0.11), False),
        (Interval(-0.3, -6.1, 1.0), False),
        (Interval(0.5), True),  # a single run claims no precision
        (Interval(nan), True),
    ],
)
def test_the_rule_by_hand(part: Interval, resolved: bool) -> None:
    assert is_resolved(part) is resolved
    assert is_resolved(part.scaled(3.0), 3.0) is resolved, "it does not depend on the unit"
    loss = lost(Interval(1 - part.value, 1 - part.high, 1 - part.low))
    assert is_resolved(loss) is resolved, "nor on whether the loss or what remains is given"


@given(FINITE, FINITE, FINITE, st.floats(0, 1))
def test_a_narrower_interval_inside_a_resolved_one_is_resolved(
    a: float, b: float, c: float, shrink: float
) -> None:
    low, value, high = sorted((a, b, c))
    # Rounding must not move an end outside.
    inner_low, inner_high = value - shrink * (value - low), value + shrink * (high - value)
    inner = Interval(value, max(low, inner_low), min(high, inner_high))
    assert is_resolved(inner) or not is_resolved(Interval(value, low, high))


@pytest.mark.parametrize(("true", "spread"), [(0.0, 0.15), (0.04, 0.2), (0.3, 0.4)])
def test_as_many_repeats_as_stated_begin_to_resolve_it(true: float, spread: float) -> None:
    """From the stated number on many intervals are resolved, and at three times as many nearly all."""
    random, repeats = np.random.default_rng(1), 4
    half = float(mean(spread * _standard(repeats), confidence=0.95).high)
    needed = repeats_to_resolve(Interval(true, true - half, true + half), repeats=repeats, confidence=0.95)
    assert needed is not None
    assert needed > repeats

    def resolved(count: int) -> float:
        samples = random.normal(true, spread, size=(400, count))
        return float(np.mean([is_resolved(mean(sample, confidence=0.95)) for sample in samples]))

    assert resolved(needed) > 0.2
    assert resolved(3 * needed) > 0.9
    assert resolved(2) < resolved(3 * needed)


def _standard(count: int) -> np.ndarray:
    """Values with mean 0 and standard deviation 1."""
    values = np.arange(count, dtype=float)
    return (values - values.mean()) / values.std(ddof=1)


def test_a_number_of_repeats_that_is_not_known_is_not_given() -> None:
    wide = Interval(0.0, -0.5, 0.5)
    assert repeats_to_resolve(wide, repeats=1, confidence=0.95) is None
    assert repeats_to_resolve(wide.scaled(1e4), repeats=3, confidence=0.95) is None, "beyond what is computed"


def a_row(**columns: object) -> pd.DataFrame:
    names = {name for column in POINT_COLUMNS for name in column.names}
    names |= {f"{name}{end}" for name in ESTIMATES for end in ("", "_low", "_high")}
    names |= {"logging_time_s", "checkpoint_time_s", "lateness_s", "flops_per_sample", "launches_probed"}
    row = dict.fromkeys(sorted(names), nan) | {"step_time_s": 0.1, "world_size": 2, "launches_probed": 3}
    return pd.DataFrame([row | {"repeats_compared": 3} | columns])


def test_the_summary_names_what_is_not_resolved_and_the_repeats_that_would_do() -> None:
    columns = {"interference_s": 0.0, "interference_s_low": -0.03, "interference_s_high": 0.03}
    columns |= {"exposed_span_s": 0.01, "exposed_span_s_low": -0.09, "exposed_span_s_high": 0.11}
    columns |= {"differential_s": 0.03, "differential_s_low": 0.02, "differential_s_high": 0.04}
    row = with_derived(a_row(**columns)).iloc[0]
    found = unresolved(row)
    assert set(json.loads(row["unresolved"])) == {"interference_s", "exposed_span_s"}
    assert set(found) == {"interference_s", "exposed_span_s"} | {
        column for column, source in FOLLOW_FROM.items() if source == "exposed_span_s"
    }
    assert found["interference_s"] is not None
    assert 3 < found["interference_s"] < (found["exposed_span_s"] or 0)
    assert unresolved({}) == {}, "a table of an earlier release"


def test_factors_keep_their_numbers_and_say_that_they_are_not_resolved() -> None:
    wide = {"differential_s": 0.03, "differential_s_low": -0.02, "differential_s_high": 0.08}
    known = {"efficiency": 0.6, "efficiency_low": 0.58, "efficiency_high": 0.62, "step_time_s_low": 0.099}
    known |= {"step_time_s_high": 0.101, "step_time_alone_s": 0.06}
    known |= {"step_time_alone_s_low": 0.059, "step_time_alone_s_high": 0.061}
    names = {"workload": "mlp", "variant": "ddp", "scaling": "weak", "nodes": 1, "batch_per_rank": 32}
    frame = a_row(**wide, **known, **names).assign(is_base=False)
    tree = factors_frame(frame).set_index("factor")
    assert dict(tree["resolved"]) == {
        "efficiency": True,
        "batch": True,
        "parallel": True,
        "contention": False,
        "synchronisation": False,
    }
    assert tree.loc["synchronisation", "share"] == pytest.approx(0.7)
    assert tree.loc["synchronisation", "share_low"] == pytest.approx(0.2)
    assert (tree.loc[["contention", "synchronisation"], "repeats_to_resolve"] > 3).all()
    assert tree.loc["parallel", "share"] == pytest.approx(
        tree.loc["contention", "share"] * tree.loc["synchronisation", "share"]
    ), "the parts multiply to the whole, with those that are not resolved"


def test_the_limit_is_the_share_from_which_a_cause_is_named() -> None:
    from scalestudy.diagnose.causes import size, transport

    assert SHARE == size.SHARE == transport.SHARE
