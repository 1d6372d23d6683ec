"""Legibility of figures: no text overlaps another, no text is too small, and series differ in grey."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import pandas as pd
import pytest
from builders import WORKLOAD_FIGURES, frames_of, study_of
from conftest import mlp_workload
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.publish.figures import drawing
from scalestudy.publish.figures.drawers.runs import grouped_runs
from scalestudy.publish.figures.drawers.scaling import HOLLOW
from scalestudy.publish.figures.style import paper_style
from scalestudy.publish.figures.tidy import Frames
from scalestudy.publish.words import labels
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

CASES = [*((series, "ieee") for series in (1, 2, 7, 12)), (12, "article")]
"""How many series, and for which paper: the last has the narrowest page."""
QUICK = ((1, "ieee"), (12, "ieee"))
LEAST_PT = 7
APART = 0.08  # of the lightness between black and white


@cache
def study(series: int, paper: str) -> tuple[Plan, Frames]:
    """A workload that is trained in so many variants, on 2, 4 and 8 ranks."""
    names = ["ddp", *(f"ddp-variant-{index}" for index in range(2, series + 1))]
    content = {
        "study": "many",
        "repeats": 2,
        "scales": ["1x2", "1x4", "1x8"],
        "report": {"paper": paper},
        "variants": {"single": {"strategy": "single"}} | {name: {"strategy": "ddp"} for name in names},
        "workloads": {"mlp": mlp_workload(batch_size=64, scaling=["strong"])},
    }
    plan = make_plan(parse_study(content, source="x"))
    times = {
        ("mlp", spec.world_size, spec.batch_per_rank): [0.1 / spec.world_size**0.8, 0.104 / spec.world_size**0.8]
        for spec in plan.runs.values()
    }
    runs = study_of(plan, times)
    slower = {name: 1 + 0.07 * index for index, name in enumerate(names)} | {"single": 1.0}
    factor = runs["variant"].map(slower)
    runs["step_time_s"] *= factor
    runs["throughput_samples_per_s"] /= factor
    epochs = pd.DataFrame(
        [
            {"run_id": run, "epoch": epoch, "epoch_time_s": 1 / epoch, "validation_accuracy": 0.3 * epoch}
            for run in plan.runs
            for epoch in (1, 2, 3)
        ]
    )
    calls = pd.DataFrame(
        [
            {"collective": "all-reduce", "bytes": size, "time_s": 1e-5 + size / 1e9, "run_id": run}
            for run, spec in plan.runs.items()
            for size in (1024, 65536, 4194304)
            if spec.world_size > 1
        ]
    )
    return plan, frames_of(plan, summary_frame(plan, runs), epochs=epochs, calls=calls)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((name, case), marks=[] if case in QUICK else pytest.mark.slow, id=f"{name}-{case}")
        for name, case in itertools.product(WORKLOAD_FIGURES, CASES)
    ],
)
def figure(request: pytest.FixtureRequest) -> Any:
    name, (series, paper) = request.param
    with paper_style():
        plan, frames = study(series, paper)
        made = drawing(name)(plan, "mlp", frames).figure
        made.set_dpi(300)  # as it is saved; at a screen's resolution text has other widths
        made.draw_without_rendering()
        yield made


def words_of(figure: Figure) -> list[Text]:
    """All text that is drawn."""
    found = [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]
    hidden = {
        label
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        for label in (tick.label1, tick.label2)
        if not _inside(axes, axis, tick)
    }
    return [text for text in found if text not in hidden]


def _inside(axes: Axes, axis: Any, tick: Any) -> bool:
    low, high = sorted(axis.get_view_interval())
    return low <= tick.get_loc() <= high


def test_no_text_lies_on_other_text_or_over_the_edge(figure: Figure) -> None:
    boxes = [(text.get_text(), text.get_window_extent()) for text in words_of(figure)]
    assert len(boxes) > 3
    for text, box in boxes:
        assert box.x0 >= -0.5, text
        assert box.y0 >= -0.5, text
        assert box.x1 <= figure.bbox.x1 + 0.5, text
        assert box.y1 <= figure.bbox.y1 + 0.5, text
    for (one, here), (other, there) in itertools.combinations(boxes, 2):
        apart = here.x1 <= there.x0 or there.x1 <= here.x0 or here.y1 <= there.y0 or there.y1 <= here.y0
        assert apart, f"{one!r} and {other!r}"


def test_no_text_is_too_small(figure: Figure) -> None:
    assert {text.get_fontsize() for text in words_of(figure) if text.get_fontsize() < LEAST_PT} == set()


def test_a_panel_is_not_squeezed_by_its_legend(figure: Figure) -> None:
    for axes in figure.axes:
        rows = len(axes.get_yticks()) if any(isinstance(item, BarContainer) for item in axes.containers) else 99
        least = 0.85 if axes.get_gridspec().nrows > 1 else 1.2  # inches
        assert axes.get_window_extent().height / figure.dpi > min(least, 0.15 * rows)


def test_series_are_told_apart_without_colour(figure: Figure) -> None:
    for axes in figure.axes:
        for one, other in itertools.combinations(_series(axes), 2):
            assert one[1:] != other[1:] or abs(one[0] - other[0]) > APART, (one, other)


def _series(axes: Axes) -> list[tuple]:
    """(lightness, other properties of the line) of every series in the legend."""
    found = []
    for container in axes.containers:
        if isinstance(container, BarContainer) and not str(container.get_label()).startswith("_"):
            bar = container.patches[0]
            found.append((_lightness(bar.get_facecolor()), bar.get_hatch()))
        named = not str(container.get_label()).startswith("_")  # the intervals of parts belong to their bars
        if isinstance(container, ErrorbarContainer) and named and container.get_label() != HOLLOW:
            line = container.lines[0]
            found.append((_lightness(line.get_color()), line.get_marker(), line.get_linestyle()))
    for line in axes.get_lines():
        if not str(line.get_label()).startswith("_") and line.get_marker() not in ("None", "", "_", "x"):
            found.append((_lightness(line.get_color()), line.get_marker(), line.get_linestyle()))
    return found


def _lightness(colour: Any) -> float:
    red, green, blue = to_rgb(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("name", ["epoch_time_detailed", "step_time_distribution", "accuracy"])
def test_many_points_stand_in_panels_of_a_variant_each(name: str) -> None:
    plan, frames = study(12, "ieee")
    with paper_style():
        figure, frame, _ = drawing(name)(plan, "mlp", frames)
    named = [axes for axes in figure.axes if axes.get_title(loc="left")]
    variants = [variant for variant in plan.study.variants if variant != "single"]
    assert [axes.get_title(loc="left").split(",")[0] for axes in named] == variants
    said = {labels.series(point) for point in plan.points if point.scaling != "reference"}
    assert set(frame["series"]) == said, "the data have every point under its whole name"
    (legend,) = figure.legends
    shown = {text.get_text(): line for text, line in zip(legend.get_texts(), legend.get_lines(), strict=True)}
    assert list(shown) == ["one process", "2 ranks", "4 ranks", "8 ranks"]
    for axes in figure.axes:
        lines = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
        assert {line.get_label(): _look(line) for line in lines} == {
            entry: _look(line) for entry, line in shown.items()
        }
    assert all(entry in name for name, entry in zip(frame["series"], frame["legend"], strict=True))


def _look(line: Line2D) -> tuple:
    return line.get_color(), line.get_marker(), line.get_linestyle()


def test_few_points_stand_together(content: dict[str, Any]) -> None:
    plan = make_plan(parse_study(content, source="x"))
    runs = grouped_runs(plan, "mlp")
    assert set(runs["group"]) == {""}
    assert runs["legend"].tolist() == runs["series"].tolist()
    assert sorted(runs["run"]) == sorted(
        {run for point in plan.points if point.scaling != "reference" for run in point.runs}
    )


def test_every_point_has_its_place_in_a_panel() -> None:
    """Also where strong and weak scaling share a model on one rank, and a single process has no counterpart."""
    variants = {
        "single": {"strategy": "single"},
        "single-bf16": {"strategy": "single", "precision": "bf16"},
        "alone": {"strategy": "single", "activation_checkpointing": True},
        "ddp": {"strategy": "ddp", "base": "single"},
        "ddp-bf16": {"strategy": "ddp", "precision": "bf16", "base": "single-bf16"},
    }
    workloads = {"mlp": mlp_workload(batch_size=64)}
    content = study(1, "ieee")[0].study.model_dump(mode="json") | {"variants": variants, "workloads": workloads}
    plan = make_plan(parse_study(content | {"scales": ["1x1", "1x2", "1x4"]}, source="x"))
    runs = grouped_runs(plan, "mlp")
    groups = {name.split(";")[0]: mine for name, mine in runs.groupby("group", sort=False)}
    assert list(groups) == [
        f"{name}, {way} scaling" for name in ("ddp", "ddp-bf16") for way in ("strong", "weak")
    ] + ["alone"]
    for name, mine in groups.items():
        scales = list(dict.fromkeys(mine["legend"]))
        assert scales == ["one process", *([] if name == "alone" else ["1 rank", "2 ranks", "4 ranks"])]
    assert groups["ddp-bf16, weak scaling"]["series"].iloc[0].startswith("single-bf16, one process")


def test_points_that_no_scale_joins_stand_together() -> None:
    """Twelve variants at one scale: panels of a point each would show less than one panel of them all."""
    content = study(12, "ieee")[0].study.model_dump(mode="json") | {"scales": ["1x2"]}
    runs = grouped_runs(make_plan(parse_study(content, source="x")), "mlp")
    assert runs["group"].nunique() == 1
    assert runs["series"].nunique() == runs["style"].nunique() == 1 + 12


def test_bars_of_many_points_stand_under_headings() -> None:
    plan, frames = study(12, "ieee")
    with paper_style():
        figure, frame, _ = drawing("memory")(plan, "mlp", frames)
    (axes,) = figure.axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names[:6] == [
        *("single", "1 rank, batch 64", "ddp, strong scaling"),
        *("2 ranks, batch 32 per rank", "4 ranks, batch 16 per rank", "8 ranks, batch 8 per rank"),
    ]
    bars = [round(bar.get_y() + bar.get_height() / 2) for bar in axes.containers[0].patches]
    assert [names[place] for place in range(len(names)) if place not in bars] == [
        "single",
        *(f"{variant}, strong scaling" for variant in plan.study.variants if variant != "single"),
    ]
    assert frame["x"].tolist()[:2] == [
        "single, 1 rank, batch 64 per rank",
        "ddp strong, 2 ranks, batch 32 per rank",
    ]
