"""Figures of parts, memory and collectives: what is drawn is what was measured, and what failed is named."""

from __future__ import annotations

import itertools
from typing import Any

import pandas as pd
import pytest
from builders import NO_CALLS, frames_of, study_of
from matplotlib.figure import Figure
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.publish.figures import drawing
from scalestudy.publish.figures.data import describe, drawn_frame
from scalestudy.publish.figures.style import paper_style
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


def draw(plan: Plan, name: str, summary: pd.DataFrame, calls: pd.DataFrame = NO_CALLS) -> Figure:
    with paper_style():
        figure = drawing(name)(plan, "mlp", frames_of(plan, summary, calls=calls))
        figure.canvas.draw()
    return figure


def test_parts_are_those_of_the_summary_and_stand_end_to_end(plan: Plan, summary: pd.DataFrame) -> None:
    figure = draw(plan, "step_breakdown", summary)
    drawn = drawn_frame(figure).pivot(index="x", columns="series", values="y")
    row = summary[(summary["world_size"] == 2) & (summary["scaling"] == "strong")].iloc[0]
    assert drawn.loc[STRONG, "exposed communication"] == pytest.approx(row["exposed_span_s"] * 1e3)
    assert drawn.loc[STRONG, "backward computation"] == pytest.approx(row["backward_compute_time_s"] * 1e3)
    base = summary[summary["is_base"]].iloc[0]
    assert drawn.loc[BASE, "backward computation"] == pytest.approx(base["backward_time_s"] * 1e3), (
        "and nothing else"
    )
    bars = [bar for container in figure.axes[0].containers for bar in container.patches if bar.get_width()]
    mine = sorted((bar.get_x(), bar.get_width()) for bar in bars if bar.get_y() < 0)
    for (left, width), (following, _) in itertools.pairwise(mine):
        assert left + width == pytest.approx(following)
    assert drawn.loc[WEAK].sum() == 0
    assert [text.get_text() for text in figure.axes[0].texts] == ["OOM"]


def test_memory_is_that_of_the_summary_and_what_did_not_fit_is_named(plan: Plan, summary: pd.DataFrame) -> None:
    figure = draw(plan, "memory", summary.assign(peak_allocated_gib=[1.5] * len(summary)))
    frame = drawn_frame(figure)
    assert set(frame["series"]) == {"peak allocated", "peak resident on the host"}
    assert set(frame["x"]) == {BASE, STRONG, WEAK}
    assert (frame[frame["series"] == "peak allocated"]["y"] == 1.5).all()
    assert [text.get_text() for text in figure.axes[0].texts] == ["OOM"]
    assert f"{STRONG}: peak allocated 1.50, peak resident on the host 0.500" in describe(frame)


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
    figure = draw(plan, "communication", summary.assign(all_reduce_gib_per_s=1.0), calls)
    frame = drawn_frame(figure)
    assert set(frame["series"]) == {"all-reduce, 2 ranks"}
    largest = frame[frame["x"] == 1_000_000].iloc[0]
    assert [largest["y"], largest["y_low"], largest["y_high"]] == pytest.approx([1.21, 1.1, 1.32])
    line = next(line for line in figure.axes[0].get_lines() if line.get_linestyle() == "--")
    assert line.get_label() == "latency + size / bandwidth"


def test_collectives_that_were_not_measured_are_said_to_be_missing(plan: Plan, summary: pd.DataFrame) -> None:
    figure = draw(plan, "communication", summary)
    assert [text.get_text() for text in figure.axes[0].texts] == ["not measured"]
    assert describe(drawn_frame(figure)) == "No point could be measured."
