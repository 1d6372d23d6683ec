"""DDP against FSDP by size: which points are compared, where one overtakes the other, and the figure."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from artists import assert_drawn
from builders import frames_of, study_of
from scalestudy.analyse.point.crossover import beside_ddp, overtaking
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.publish.figures import drawing, figures_of
from scalestudy.publish.figures.style import paper_style
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

SIZES = {"small": 1e6, "medium": 1e7, "large": 1e8}
FSDP_OVER_DDP = {"small": 1.5, "medium": 0.98, "large": 0.6}
"""Of step times."""


def plan_of(content: dict[str, Any], *, first: str = "ddp", strategies: tuple[str, ...] = ("ddp", "fsdp")) -> Plan:
    other = next(name for name in strategies if name != first) if len(strategies) > 1 else first
    one = content["workloads"]["mlp"] | {"scaling": ["weak"]}
    content = content | {
        "repeats": 3,
        "variants": {name: {"strategy": name} for name in dict.fromkeys(("single", first, other))},
        "workloads": dict.fromkeys(SIZES, one),
    }
    return make_plan(parse_study(content, source="x"))


def summary_of(plan: Plan, *, failing: tuple[str, ...] = ()) -> pd.DataFrame:
    """Steps of 10 ms, those of FSDP as FSDP_OVER_DDP has them; DDP is out of memory where it fails."""
    scatter = [0.99, 1.0, 1.01]
    times = {(w, ranks, 32): [0.01 * factor for factor in scatter] for w in SIZES for ranks in (1, 2)}
    runs = study_of(plan, times)
    factor = runs["workload"].map(FSDP_OVER_DDP) * 1.01 ** (runs["repeat"] - 2)
    factor = factor.where(runs["strategy"] == "fsdp", 1.0)
    runs["step_time_s"] *= factor
    runs["throughput_samples_per_s"] /= factor
    runs["parameters"] = runs["workload"].map(SIZES)
    lost = (runs["strategy"] == "ddp") & runs["workload"].isin(failing)
    runs.loc[lost, "outcome"] = "oom"
    return summary_frame(plan, runs)


@pytest.mark.parametrize("first", ["ddp", "fsdp"])
def test_fsdp_is_compared_with_ddp_whichever_comes_first(content: dict[str, Any], first: str) -> None:
    plan = plan_of(content, first=first)
    ((key, points),) = beside_ddp(summary_of(plan))
    assert key == ("fsdp", "weak", 1, 2)
    assert points["workload"].tolist() == list(SIZES), "by size"
    ratios = points[["relative_throughput", "relative_throughput_low", "relative_throughput_high"]].to_numpy()
    for (value, low, high), expected in zip(ratios, FSDP_OVER_DDP.values(), strict=True):
        assert value == pytest.approx(1 / expected, rel=1e-6)
        assert low < value < high
    assert overtaking(points) == {"slower_at": 1e6, "faster_at": 1e8}, "in between it is not shown"


def test_what_does_not_cross_is_not_said_to(content: dict[str, Any]) -> None:
    ((_, points),) = beside_ddp(summary_of(plan_of(content)))
    assert not overtaking(points.iloc[:2]), "slower, and not distinguishable"
    turned = points.assign(parameters=points["parameters"].to_numpy()[::-1])
    assert not overtaking(turned), "faster for small models and slower for large ones"


def test_a_model_that_only_fsdp_can_train_is_one_that_it_overtakes_at(content: dict[str, Any]) -> None:
    summary = summary_of(plan_of(content), failing=("medium", "large"))
    ((_, points),) = beside_ddp(summary)
    assert points["relative_throughput"].notna().tolist() == [True, False, False]
    assert overtaking(points) == {"slower_at": 1e6, "faster_at": 1e7}


def test_the_figure_has_ratios_memory_and_outcomes(content: dict[str, Any]) -> None:
    plan = plan_of(content)
    assert [figure.name for figure, workload in figures_of(plan) if not workload] == ["ddp_fsdp_crossover"]
    summary = summary_of(plan, failing=("large",))
    with paper_style():
        figure, drawn, words = drawing("ddp_fsdp_crossover")(plan, frames_of(plan, summary))
        figure.canvas.draw()
    left, right = figure.axes
    assert_drawn(figure, drawn)
    ratios = drawn[(drawn["panel"] == 1) & drawn["y"].notna()]
    assert ratios["x"].tolist() == [1e6, 1e7], "none for the model that DDP cannot train"
    assert ratios["y"].tolist() == pytest.approx([1 / 1.5, 1 / 0.98])
    assert ratios[["y_low", "y_high"]].notna().all(axis=None)
    assert [text.get_text() for text in left.texts] == ["ddp: OOM"]
    assert set(drawn[drawn["panel"] == 2]["series"]) == {"fsdp", "ddp"}
    assert [label.get_text() for label in right.get_xticklabels()] == ["1 M", "10 M", "100 M"]
    assert len(left.patches) == 1, "where it overtakes is shaded"
    missing = drawn[drawn["y"].isna()]
    assert missing[["panel", "x", "outcome"]].values.tolist() == [[1, 1e8, "ddp: OOM"], [2, 1e8, "ddp: OOM"]]
    assert words.startswith("Throughput relative to DDP against parameters: fsdp from 0.667")


def test_a_study_of_one_strategy_has_no_such_figure(content: dict[str, Any]) -> None:
    plan = plan_of(content, strategies=("ddp",))
    assert all(workload for _, workload in figures_of(plan))
    assert list(beside_ddp(summary_of(plan))) == []
