"""Forecasts and factors of efficiency: computed from a summary, and the same in both documents and the figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from builders import WORKLOAD_FIGURES, book_of, frames_of, page_of, printed_of, results_of, study_of, summary_of
from scalestudy.analyse.forecast.forecasts import forecasts_frame
from scalestudy.publish.figures import drawing
from scalestudy.publish.figures.shown import shown_figures
from scalestudy.publish.figures.style import paper_style
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.publish.views.facts import document_facts
from scalestudy.publish.views.forecasts import laws, measured
from scalestudy.registry.words.refusals import no_forecast
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

TIMES = {
    ("mlp", 1, 32): [0.0100, 0.0101],
    ("mlp", 1, 16): [0.0052, 0.0053],
    ("mlp", 2, 16): [0.0060, 0.0061],
    ("mlp", 2, 32): [0.0110, 0.0111],
}


@pytest.fixture
def plan(content: dict[str, Any]) -> Plan:
    return make_plan(parse_study(content, source="x"))


def forecasts(content: dict[str, Any], times: dict[Any, Any] = TIMES, **report: Any) -> pd.DataFrame:
    """Forecasts by way of scaling."""
    plan = make_plan(
        parse_study(
            content | {"report": {"overhead_reference": True, "forecast_batches": []} | report}, source="x"
        )
    )
    return forecasts_frame(plan.study, summary_of(plan, times)).set_index("scaling")


def test_the_next_doubling_is_forecast_for_every_way_of_scaling(content: dict[str, Any]) -> None:
    found = forecasts(content)
    assert found["world_size"].tolist() == [4, 4]
    assert found.loc["strong", ["batch_per_rank", "global_batch"]].tolist() == [8, 32]
    assert found.loc["weak", ["batch_per_rank", "global_batch"]].tolist() == [32, 128]
    # Weak: 10 % overhead at two ranks is 10 % to 30 % at four.
    assert 4 / 1.32 < found.loc["weak", "speedup"] < 4 / 1.08
    assert (found["speedup_low"] < found["speedup"]).all()
    assert (found["speedup"] < found["speedup_high"]).all()
    assert found.loc["weak", "efficiency"] == pytest.approx(found.loc["weak", "speedup"] / 4)
    assert found.loc["weak", "throughput_samples_per_s"] == pytest.approx(128 / found.loc["weak", "step_time_s"])
    weak = found.loc["weak"]
    assert measured(weak) == "1x1, 1x2"
    every = "constant, 1-1/n, logarithmic and linear"
    said = f"two sizes cannot distinguish between {every} growth; the interval covers all of these"
    assert laws(weak) == said


@pytest.mark.parametrize(
    ("scales", "reason"),
    [
        (["1x16"], "16 ranks are 8 times the largest measured size"),
        (["2x2"], "no scale with 2 devices on each of several nodes was measured"),
        (["1x3"], "a global batch of 32 is not divisible by 3 ranks"),
    ],
)
def test_what_cannot_be_told_is_refused_with_its_reason(
    content: dict[str, Any], scales: list[str], reason: str
) -> None:
    row = forecasts(content, forecast_scales=scales).loc["strong"]
    assert reason in no_forecast(row)
    assert pd.isna(row["speedup"])


def test_no_forecast_is_made_where_none_is_asked_for(content: dict[str, Any]) -> None:
    assert forecasts(content, forecast_scales=[]).empty


def test_a_study_without_its_base_case_is_refused(content: dict[str, Any]) -> None:
    row = forecasts(content, TIMES | {("mlp", 1, 32): ["oom", "oom"]}).loc["strong"]
    assert no_forecast(row) == "the baseline was not measured"


def test_both_documents_say_the_same(plan: Plan) -> None:
    runs = study_of(plan, TIMES)
    results = results_of(plan, runs)
    facts = printed_of(plan, results)
    text = render(DIRECTORY / "performance_report.txt", **facts)
    page = page_of(plan, results)
    for item in facts["forecasts"]:
        assert f"speedup      {item['speedup']}\n" in text
        assert str(item["speedup"].limits) in page
    for row in facts["rows"]:
        assert [factor["factor"] for factor in row["factors"]] in ([], ["efficiency", "batch", "parallel"])
        for factor in row["factors"]:
            said = f"{factor['factor']} {factor['shown']} {factor['meaning']}"
            assert said in " ".join(text.split())
            assert factor["share_percent"].limits in page
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("report", "hollow", "larger"),
    [({}, True, True), ({"forecast_batches": []}, True, False), ({"forecast_scales": ["2x2"]}, True, True)],
)
def test_the_caption_speaks_of_what_the_figure_shows(
    content: dict[str, Any], report: dict[str, Any], hollow: bool, larger: bool, tmp_path: Path
) -> None:
    plan = make_plan(parse_study(content | {"report": {"overhead_reference": True} | report}, source="x"))
    results = results_of(plan, study_of(plan, TIMES))
    frames = frames_of(plan, results.summary)
    for name in WORKLOAD_FIGURES:
        drawing(name).frame(plan, "mlp", frames).to_csv(tmp_path / f"mlp_{name}.csv")
    with paper_style():
        figure = drawing("speedup_efficiency")(plan, "mlp", frames).figure
    facts = document_facts(plan, results, book_of(plan, results))
    first, *others = shown_figures(plan, tmp_path, facts)
    assert not {"accuracy", "epoch_time_detailed"} & {figure.entry.name for figure in others}, "no epoch: empty"
    assert ("Hollow: forecasts" in first.caption) == hollow
    assert ("larger batches" in first.caption) == larger == (len(figure.axes) == 3)
    assert ("forecast (hollow)" in [text.get_text() for text in figure.legends[0].get_texts()]) == hollow


def test_forecasts_are_hollow_in_the_figure(plan: Plan) -> None:
    summary = summary_of(plan, TIMES)
    frames = frames_of(plan, summary)
    with paper_style():
        figure = drawing("speedup_efficiency")(plan, "mlp", frames).figure
    hollow = [
        line
        for line in figure.axes[0].lines
        if line.get_markerfacecolor() == "white" and len(line.get_xdata()) == 1
    ]
    assert [line.get_xdata()[0] for line in hollow] == [4, 4]
    assert [text.get_text() for text in figure.legends[0].get_texts()].count("forecast (hollow)") == 1


def test_the_ideal_line_is_ideal_everywhere(plan: Plan) -> None:
    """Drawn from end to end it is straight, since both axes are logarithmic."""
    summary = summary_of(plan, TIMES)
    frames = frames_of(plan, summary)
    with paper_style():
        figure = drawing("speedup_efficiency")(plan, "mlp", frames).figure
    (ideal,) = (line for line in figure.axes[0].lines if line.get_label() == "ideal")
    axes = figure.axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert ideal.get_ydata() == pytest.approx(ideal.get_xdata())
