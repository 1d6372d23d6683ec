"""Causes that are only possible, as documents print them: with weights, after those that were found."""

from __future__ import annotations

import re
from typing import Any

import pytest
from builders import book_of, page_of, printed_of, results_of, study_of
from scalestudy.publish.results import Results
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan

UNDECIDED = {
    ("mlp", 1, 32): [0.0100, 0.0103, 0.0099],
    ("mlp", 1, 16): [0.0050, 0.0051, 0.0052],
    ("mlp", 2, 16): [0.0068, 0.0072, 0.0066],
    ("mlp", 2, 32): [0.0120, 0.0127, 0.0118],
}
"""Efficiencies of 73 % (69 to 78) and 83 % (79 to 86), with data wait of 10 % of each step."""


def made(content: dict[str, Any], times: dict[Any, list[float]]) -> tuple[Plan, Results]:
    plan = make_plan(parse_study(content | {"repeats": 3}, source="x"))
    return plan, results_of(plan, study_of(plan, times))


@pytest.fixture
def undecided(content: dict[str, Any]) -> tuple[Plan, Results]:
    return made(content, UNDECIDED)


def text_of(plan: Plan, results: Results) -> str:
    return render(DIRECTORY / "performance_report.txt", **printed_of(plan, results))


def test_the_summary_names_all_with_their_weights(undecided: tuple[Plan, Results]) -> None:
    strong, weak = printed_of(*undecided)["diagnoses"]
    assert re.fullmatch(
        r"comm-bound \(0\.\d\d\), input-bound \(0\.\d\d\) or unexplained \(0\.\d\d\)", strong["causes"]
    )
    assert sum(map(float, re.findall(r"0\.\d\d", strong["causes"]))) == pytest.approx(1, abs=0.011)
    assert re.fullmatch(r"possibly input-bound \(0\.\d\d\)", weak["causes"]), (
        "a healthy point has nothing unexplained"
    )
    summary = " ".join(text_of(*undecided).split("MEASUREMENTS")[0].split())
    assert f"; {strong['causes']}. Next: Run more repeats" in summary
    assert f"; {weak['causes']}. Next: Add ranks" in summary


def test_findings_tell_the_found_ones_first_and_say_what_a_weight_is(undecided: tuple[Plan, Results]) -> None:
    text = text_of(*undecided)
    findings = text.split("FINDINGS\n")[1].split("METHOD AND CAVEATS")[0]
    order = re.findall(r"^  (also possible, )?([a-z-]+) \(0\.\d\d\):", findings, flags=re.M)
    assert order[:3] == [
        ("", "unexplained"),
        ("also possible, ", "comm-bound"),
        ("also possible, ", "input-bound"),
    ]
    assert findings.count("A number in brackets after a cause is its weight") == 1
    assert max(map(len, text.splitlines())) <= 80


def test_advice_for_a_possible_cause_comes_last_and_says_so(undecided: tuple[Plan, Results]) -> None:
    for diagnosis in printed_of(*undecided)["diagnoses"]:
        uncertain = ["this cause is uncertain" in one["cause"] for one in diagnosis["recommendations"]]
        assert any(uncertain)
        assert uncertain == sorted(uncertain)
        assert diagnosis["next"] == diagnosis["recommendations"][0]
        assert "uncertain" not in diagnosis["next"]["cause"]


def test_the_page_links_the_weights_to_their_runs(undecided: tuple[Plan, Results]) -> None:
    plan, results = undecided
    page, book = page_of(plan, results), book_of(plan, results)
    keys = [key for key in book.numbers if key.endswith(".weight")]
    assert len(keys) == 5
    (not_printed,) = [key for key in keys if f'title="{key}"' not in page]
    assert not_printed.endswith(".unexplained.weight"), "of the healthy point"
    assert "Also possible, comm-bound" in page


def test_clear_causes_are_printed_without_weights(content: dict[str, Any]) -> None:
    slow = UNDECIDED | {("mlp", 2, 16): [0.0140, 0.0141, 0.0139], ("mlp", 2, 32): [0.0290, 0.0291, 0.0289]}
    plan, results = made(content, slow)
    for part in ("data_time_s", "data_time_s_low", "data_time_s_high"):
        results.summary[part] = 0.0
    clear = results_of(plan, results.runs, results.summary)
    assert [one["causes"] for one in printed_of(plan, clear)["diagnoses"]] == ["comm-bound", "comm-bound"]
    assert "in brackets" not in text_of(plan, clear)
