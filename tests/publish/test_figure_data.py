"""Figures and their data: a figure draws its frame, the frame has the measurements, and failures are named."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from artists import assert_drawn
from builders import NO_CALLS, WORKLOAD_FIGURES, frames_of, study_of
from matplotlib.container import BarContainer
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.publish.figures import drawing
from scalestudy.publish.figures.style import paper_style
from scalestudy.publish.figures.tidy import COLUMNS, Drawn
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan
from test_measured_views import probed

TIMES = {
    ("mlp", 1, 32): [0.0100, 0.0103],
    ("mlp", 1, 16): [0.0060, 0.0062],
    ("mlp", 2, 16): [0.0079, 0.0085],
    ("mlp", 2, 32): ["oom", "oom"],
}
BASE, STRONG, WEAK = (
    "single, 1 rank, batch 32 per rank",
    "ddp strong, 2 ranks, batch 16 per rank",
    "ddp weak, 2 ranks, batch 32 per rank",
)


@pytest.fixture
def plan(content: dict[str, Any]) -> Plan:
    return make_plan(parse_study(content, source="x"))


@pytest.fixture
def summary(plan: Plan) -> pd.DataFrame:
    return probed(summary_frame(plan, study_of(plan, TIMES)))


def draw(plan: Plan, name: str, summary: pd.DataFrame, calls: pd.DataFrame = NO_CALLS) -> Drawn:
    with paper_style():
        drawn = drawing(name)(plan, "mlp", frames_of(plan, summary, calls=calls))
        drawn.figure.canvas.draw()
    return drawn


@pytest.mark.parametrize("failing", [False, True], ids=["measured", "failing"])
@pytest.mark.parametrize("name", WORKLOAD_FIGURES)
def test_the_picture_is_the_frame(content: dict[str, Any], name: str, failing: bool) -> None:
    """Of a study of two sizes of nodes, with forecasts, and in panels where there are many points."""
    plan = make_plan(parse_study(content | {"scales": ["1x2", "1x4", "2x2", "2x4"]}, source="x"))
    times = {}
    for number, spec in enumerate(plan.runs.values()):
        ranks, batch = spec.world_size, spec.batch_per_rank
        mean_s = 0.01 * batch / 32 + 0.0001 * ranks
        times[("mlp", ranks, batch)] = [mean_s * (1 + 0.001 * number), mean_s]
    if failing:
        times |= {("mlp", 4, 8): ["oom", "oom"], ("mlp", 8, 32): ["failed", "failed"]}
    summary = probed(summary_frame(plan, study_of(plan, times)))
    rows = [(run, epoch, epoch / 8, 0.3 * epoch) for run in plan.runs for epoch in (1, 2, 3)]
    epochs = pd.DataFrame(rows, columns=["run_id", "epoch", "epoch_time_s", "validation_accuracy"])
    calls = pd.DataFrame(
        [
            {"collective": name, "bytes": size, "time_s": 1e-4 + size / 1e9 * index, "run_id": run}
            for index, (run, spec) in enumerate(plan.runs.items())
            for name in ("all-gather", "all-reduce")
            for size in (8, 1024)
            if spec.world_size > 1
        ]
    )
    with paper_style():
        figure, frame, _ = drawing(name)(plan, "mlp", frames_of(plan, summary, epochs=epochs, calls=calls))
        assert_drawn(figure, frame)
    assert frame["y"].notna().any()
    assert frame.columns.tolist()[: len(COLUMNS)] == list(COLUMNS)


def test_parts_are_those_of_the_summary_and_stand_end_to_end(plan: Plan, summary: pd.DataFrame) -> None:
    figure, frame, _ = draw(plan, "step_breakdown", summary)
    drawn = frame.pivot(index="x", columns="series", values="y")
    row = summary[(summary["world_size"] == 2) & (summary["scaling"] == "strong")].iloc[0]
    assert drawn.loc[STRONG, "exposed communication"] == pytest.approx(row["exposed_span_s"] * 1e3)
    assert drawn.loc[STRONG, "backward computation"] == pytest.approx(row["backward_compute_time_s"] * 1e3)
    base = summary[summary["is_base"]].iloc[0]
    assert drawn.loc[BASE, "backward computation"] == pytest.approx(base["backward_time_s"] * 1e3), (
        "and nothing else"
    )
    stacked = [container for container in figure.axes[0].containers if isinstance(container, BarContainer)]
    bars = [bar for container in stacked for bar in container.patches if bar.get_width()]
    mine = sorted((bar.get_x(), bar.get_width()) for bar in bars if bar.get_y() < 0)
    for (left, width), (following, _) in itertools.pairwise(mine):
        assert left + width == pytest.approx(following)
    assert drawn.loc[WEAK].sum() == 0
    assert [text.get_text() for text in figure.axes[0].texts] == ["OOM"]


def test_each_part_and_the_whole_step_have_their_interval(plan: Plan, summary: pd.DataFrame) -> None:
    figure, frame, words = draw(plan, "step_breakdown", summary)
    mine = frame[frame["x"] == STRONG].set_index("series")
    row = summary[(summary["world_size"] == 2) & (summary["scaling"] == "strong")].iloc[0]
    quantities = {"exposed communication": "exposed_span", "forward": "forward_time", "step time": "step_time"}
    for name, quantity in quantities.items():
        for column, end in (("y", ""), ("y_low", "_low"), ("y_high", "_high")):
            assert mine.loc[name, column] == pytest.approx(row[f"{quantity}_s{end}"] * 1e3), (name, end)
    assert (mine["y_high"] > mine["y_low"]).sum() >= 4
    lines = [bar.errorbar for bar in figure.axes[0].containers if isinstance(bar, BarContainer)]
    places = {round(float(y), 3) for line in lines for x, y in line[0].get_xydata() if not np.isnan(x) and y < 0.5}
    assert len(places) == sum(mine_base(frame)["y_low"].notna()), "no interval is on another"
    assert "step time" in words


def mine_base(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[(frame["x"] == BASE) & (frame["series"] != "step time")]


def test_an_interval_that_is_far_longer_than_its_bar_runs_out_of_the_panel(
    plan: Plan, summary: pd.DataFrame
) -> None:
    far = summary.assign(forward_time_s_low=-1.0, forward_time_s_high=1.0)
    figure, frame, _ = draw(plan, "step_breakdown", far)
    low, high = figure.axes[0].get_xlim()
    longest = frame[frame["series"] != "step time"].groupby("x")["y"].sum().max()
    assert low == 0
    assert longest < high < 1.3 * longest
    assert frame.loc[frame["series"] == "forward", "y_high"].max() == 1000


def test_memory_is_that_of_the_summary_and_what_did_not_fit_is_named(plan: Plan, summary: pd.DataFrame) -> None:
    figure, frame, words = draw(plan, "memory", summary.assign(peak_allocated_gib=[1.5] * len(summary)))
    assert set(frame["series"]) == {"peak allocated", "peak resident on the host"}
    assert set(frame["x"]) == {BASE, STRONG, WEAK}
    assert (frame[frame["series"] == "peak allocated"]["y"] == 1.5).all()
    assert [text.get_text() for text in figure.axes[0].texts] == ["OOM"]
    assert f"{STRONG}: peak allocated 1.50, peak resident on the host 0.500" in words


def test_collectives_are_medians_and_ranges_of_launches(plan: Plan, summary: pd.DataFrame) -> None:
    runs = [run for run, spec in plan.runs.items() if spec.world_size == 2 and spec.batch_per_rank == 16]
    calls = pd.DataFrame(
        [
            {"collective": name, "bytes": size, "time_s": factor * (1e-4 + size / 1e9), "run_id": run}
            for run, factor in zip(runs, (1.0, 1.2), strict=True)
            for name in ("all-reduce", "broadcast")
            for size in (8, 1024, 1_000_000)
        ]
    )
    figure, frame, _ = draw(plan, "communication", summary.assign(all_reduce_gib_per_s=1.0), calls)
    assert set(frame["series"]) == {"all-reduce, 2 ranks"}
    largest = frame[frame["x"] == 1_000_000].iloc[0]
    assert [largest["y"], largest["y_low"], largest["y_high"]] == pytest.approx([1.21, 1.1, 1.32])
    line = next(line for line in figure.axes[0].get_lines() if line.get_linestyle() == "--")
    assert line.get_label() == "latency + size / bandwidth"


def test_collectives_that_were_not_measured_are_said_to_be_missing(plan: Plan, summary: pd.DataFrame) -> None:
    figure, _, words = draw(plan, "communication", summary)
    assert [text.get_text() for text in figure.axes[0].texts] == ["not measured"]
    assert words == "No point could be measured."
