"""Speedup and throughput on logarithmic axes: a straight ideal, plain ticks at the sizes, one baseline."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from artists import assert_drawn
from builders import frames_of, study_of
from conftest import mlp_workload
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.publish.figures import drawing
from scalestudy.publish.figures.style import paper_style, plain
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

Times = Callable[[int, int], Sequence[float]]
MANY = ["1x2", "1x4", "1x8", "2x8", "4x8", "8x8", "16x8", "32x8", "64x8", "128x8"]


def good(ranks: int, batch: int) -> list[float]:
    return [(batch * 1e-3 + 1e-3 * ranks**0.5) * factor for factor in (1, 1.02, 0.97)]


def slower(ranks: int, batch: int) -> list[float]:
    """Several ranks are slower than one, and runs differ by a factor of six."""
    return [batch * 1e-4 * (1 if ranks == 1 else 6) * factor for factor in (1, 2.5, 0.4)]


def draw(name: str, scales: list[str], times: Times = good, **more: Any) -> tuple[Figure, pd.DataFrame]:
    """The figure and its frame. more: keys of the workload and of the study."""
    workload = mlp_workload(batch_size=more.pop("batch_size", 64), scaling=more.pop("scaling", ["strong", "weak"]))
    variants = {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}}
    content = {
        "study": "axes",
        "repeats": 3,
        "scales": scales,
        "variants": variants,
        "workloads": {"mlp": workload},
    }
    plan = make_plan(parse_study(content | more, source="x"))
    measured = {
        ("mlp", spec.world_size, spec.batch_per_rank): times(spec.world_size, spec.batch_per_rank)
        for spec in plan.runs.values()
    }
    with paper_style():
        frames = frames_of(plan, summary_frame(plan, study_of(plan, measured)))
        figure, frame, _ = drawing(name)(plan, "mlp", frames)
        figure.set_dpi(300)
        figure.draw_without_rendering()
        assert_drawn(figure, frame)
    return figure, frame


def ticks(axis: Axis) -> dict[float, str]:
    """Place -> label of the major ticks in view; there are no minor ones."""
    low, high = axis.get_view_interval()
    assert not [tick for tick in axis.get_minorticklocs() if low <= tick <= high]
    found = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
    return {float(place): label.get_text() for place, label in found if low <= place <= high}


def bends(axes: Axes, label: str) -> float:
    """The largest distance of a line from the straight one between its ends, in pixels."""
    (line,) = (line for line in axes.get_lines() if line.get_label() == label)
    points = axes.transData.transform(np.column_stack([line.get_xdata(), line.get_ydata()]))
    straight = np.interp(points[:, 0], points[[0, -1], 0], points[[0, -1], 1])
    return float(np.abs(points[:, 1] - straight).max())


@pytest.mark.parametrize(
    ("name", "ideal"), [("speedup_efficiency", "ideal"), ("throughput", "ideal from the baseline")]
)
@pytest.mark.parametrize("scales", [["1x2"], ["1x2", "1x3", "1x4"], ["8x8"]], ids=str)
def test_the_ideal_is_straight_and_labels_are_plain_numbers(name: str, ideal: str, scales: list[str]) -> None:
    figure, frame = draw(name, scales, scaling=["weak"], batch_size=16)
    axes = figure.axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert bends(axes, ideal) < 0.1
    assert set(ticks(axes.xaxis)) == set(frame.loc[frame["panel"] == 1, "x"])
    for axis in (axes.xaxis, axes.yaxis):
        for place, label in ticks(axis).items():
            assert label in ("", plain(place))
            assert label == "" or float(label) == pytest.approx(place, rel=1e-5)
    assert len([label for label in ticks(axes.yaxis).values() if label]) >= 2


def test_speedup_has_its_ticks_at_the_measured_sizes() -> None:
    figure, _ = draw("speedup_efficiency", ["1x2", "1x3", "1x6"], scaling=["weak"])
    assert {1, 2, 3, 6} <= set(ticks(figure.axes[0].yaxis))
    assert set(ticks(figure.axes[0].yaxis)) <= set(ticks(figure.axes[0].xaxis)), "and at no other"


def test_a_wide_gap_between_two_sizes_has_ticks_to_read_a_speedup() -> None:
    figure, _ = draw("speedup_efficiency", ["8x8"], scaling=["strong"])
    assert list(ticks(figure.axes[0].xaxis)) == [1, 64]
    assert list(ticks(figure.axes[0].yaxis)) == [1, 2, 4, 8, 16, 32, 64]


def test_speedups_below_one_and_intervals_down_to_zero_are_drawn() -> None:
    for name in ("speedup_efficiency", "throughput"):
        figure, frame = draw(name, ["1x2", "1x4"], slower)
        axes = figure.axes[0]
        low, high = axes.get_ylim()
        y = frame.loc[frame["panel"] == 1, "y"].dropna()
        assert 0 < low < y.min() / 1.2
        assert y.max() * 1.2 < high < y.max() * 100
        (before, after) = axes.transAxes.inverted().transform(
            axes.transData.transform([[1, y.min()], [1, y.max()]])
        )
        assert after[1] - before[1] > 0.1, "the points are apart"
    speedup, _ = draw("speedup_efficiency", ["1x2", "1x4"], slower)
    labels = ticks(speedup.axes[0].yaxis)
    assert labels[0.5] == "0.5"


def test_an_interval_that_includes_zero_runs_out_of_the_panel() -> None:
    figure, frame = draw(
        "throughput", ["1x2"], lambda ranks, batch: [batch * 1e-4, 90 * batch * 1e-4, batch * 1e-4]
    )
    cut = frame[frame["y_low"] < figure.axes[0].get_ylim()[0]]
    assert len(cut)
    assert (cut["y"] > figure.axes[0].get_ylim()[0]).all()


@pytest.mark.parametrize("name", ["speedup_efficiency", pytest.param("throughput", marks=pytest.mark.slow)])
def test_labels_of_many_sizes_are_thinned_between_the_first_and_the_last(name: str) -> None:
    figure, _ = draw(name, MANY, batch_size=1024, scaling=["strong"])
    labels = list(ticks(figure.axes[0].xaxis).values())
    assert (labels[0], labels[-1]) == ("1", "1024")
    assert len(labels) == 11
    boxes = [label.get_window_extent() for label in figure.axes[0].get_xticklabels() if label.get_text()]
    assert len(boxes) >= 8
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(boxes))
    for text in figure.legends[0].get_texts():
        assert text.get_window_extent().x1 <= figure.bbox.x1, text.get_text()


def test_efficiency_is_in_percent_on_a_linear_axis() -> None:
    figure, frame = draw("speedup_efficiency", ["1x2", "1x4"])
    axes = figure.axes[1]
    assert axes.get_yscale() == "linear"
    assert ticks(axes.xaxis) == ticks(figure.axes[0].xaxis)
    assert "100\N{NO-BREAK SPACE}%" in ticks(axes.yaxis).values()
    assert frame.loc[frame["panel"] == 2, "y"].max() <= 1.2, "the data are shares"


@pytest.mark.parametrize(("name", "panels"), [("speedup_efficiency", (1, 2)), ("throughput", (1,))])
def test_the_baseline_is_one_point_at_which_all_lines_begin(name: str, panels: tuple[int, ...]) -> None:
    figure, frame = draw(name, ["1x2", "1x4"])
    for panel in panels:
        mine = frame[(frame["panel"] == panel) & (frame["kind"] == "measured")]
        base = mine[mine["x"] == 1]
        assert len(base) == 1
        assert set(mine[mine["x"] > 1]["base"]) == {base["series"].iloc[0]}
        begins = [line for line in figure.axes[panel - 1].get_lines() if list(line.get_xdata()) == [1, 2]]
        first = mine[mine["x"] == 2]["y"].tolist()
        assert [list(line.get_ydata()) for line in begins] == [[base["y"].iloc[0], y] for y in first]


def test_a_missing_point_is_marked_at_the_edge_of_a_logarithmic_axis() -> None:
    """The missing point between them is marked on the axis."""

    def times(ranks: int, batch: int) -> Sequence[Any]:
        return ["oom"] * 3 if ranks == 2 else good(ranks, batch)

    figure, frame = draw("speedup_efficiency", ["1x2", "1x4"], times)
    assert {text.get_text() for text in figure.axes[0].texts} == {"3 oom"}
    assert frame.loc[frame["x"] == 2, "y"].isna().all()
    for text in figure.axes[0].texts:
        assert figure.axes[0].get_window_extent().contains(*text.get_window_extent().min)
