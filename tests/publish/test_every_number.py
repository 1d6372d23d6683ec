"""Every number that a document prints is in numbers.json with the same digits, and names its source."""

from __future__ import annotations

import html
import re
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from builders import page_of, printed_of, results_of, study_of
from conftest import mlp_workload, small_content
from scalestudy.cli.main import main
from scalestudy.publish.numbers.ledger import make_numbers
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.numbers.rounding import Shown
from scalestudy.publish.results import Results
from scalestudy.publish.tables.view import table_view
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.record.document import write_document
from scalestudy.registry.tables import TABLES
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan
from test_measured_views import TRACE, probed

TIMES = {
    ("mlp", 1, 32): [0.0100, 0.0103, 0.0101],
    ("mlp", 1, 16): [0.0060, 0.0062, 0.0061],
    ("mlp", 1, 8): [0.0041, 0.0042, 0.0040],
    ("mlp", 2, 16): [0.0079, 0.0085, 0.0081],
    ("mlp", 2, 32): [0.0131, 0.0139, "oom"],
    ("mlp", 4, 8): ["oom", "oom", "timeout"],
    ("mlp", 4, 32): [0.0171, 0.0182, 0.0175],
}
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\w)")


@pytest.fixture(scope="module")
def plan() -> Plan:
    workloads = {"mlp": mlp_workload(target_accuracy=0.8)}
    return make_plan(parse_study(small_content(repeats=3, scales=["1x2", "1x4"], workloads=workloads), source="x"))


@pytest.fixture(scope="module")
def results(plan: Plan) -> Results:
    """A study with probes, notes and a trace, so that its documents have all of their parts."""
    runs = study_of(plan, TIMES)
    runs["record_sha256"] = "abcdef" * 10
    plain = results_of(plan, runs)
    return results_of(plan, runs, probed(plain.summary), traces=[TRACE])


@pytest.fixture(scope="module")
def numbers(plan: Plan, results: Results) -> NumbersFile:
    return make_numbers(plan, results)


def known(numbers: NumbersFile, plan: Plan) -> set[str]:
    """Texts of numbers.json, and numbers of the study file: levels of its factors and its targets."""
    study = plan.study
    texts = [text for number in numbers.numbers.values() for text in vars(number.shown).values()]
    shown = {re.sub(r"[^\d.-]", "", text) for text in texts}
    of_study = {
        str(study.repeats),
        str(2 * study.repeats),  # as advice for an undecided verdict
        f"{study.report.confidence * 100:.0f}",
        f"{study.report.target_efficiency * 100:.0f}",
    }
    return shown | of_study | {"80", "1"}  # the target accuracy; the margin of accuracy, in points


def unknown(text: str, numbers: NumbersFile, plan: Plan) -> list[str]:
    """Numbers of a text that are neither in numbers.json nor in the study. Outcomes such as '2 ok' count runs."""
    text = re.sub(
        r"\b\d+ (?:ok|oom|timeout|failed)\b|\d+ of \d+ (?:launches|runs)|batch \d+x?|\d+-column", " ", text
    )
    return sorted({number for number in NUMBER.findall(text) if number not in known(numbers, plan)})


def between(text: str, begin: str, end: str) -> str:
    return text[text.index(begin) : text.index(end)]


def test_the_text_report(plan: Plan, results: Results, numbers: NumbersFile) -> None:
    text = render(DIRECTORY / "performance_report.txt", **printed_of(plan, results))
    measured = between(text, "MEASUREMENTS\n", "FINDINGS\n")
    assert len(NUMBER.findall(measured)) > 100
    assert unknown(without_prose(measured), numbers, plan) == []
    evidence = "\n".join(re.findall(r"^ +- .*$", between(text, "FINDINGS\n", "METHOD AND"), flags=re.M))
    assert evidence
    assert unknown(without_thresholds(evidence), numbers, plan) == []


def without_prose(text: str) -> str:
    """Without the reason why a run stopped, which is a text of the run."""
    return re.sub(r"known to within [\d.]+ % after \d+ runs \(target [\d.]+ %\)", " ", " ".join(text.split()))


def without_thresholds(text: str) -> str:
    """Without the thresholds of evidence: (>= 10 % ...)."""
    return re.sub(r"\([^)]*\)", " ", text)


@pytest.mark.parametrize("name", TABLES)
def test_tables(plan: Plan, results: Results, numbers: NumbersFile, name: Any) -> None:
    text = render(DIRECTORY / "table.tex", **table_view(plan, results.summary, numbers, name))
    bodies = "".join(re.findall(r"\\midrule(.*?)\\bottomrule", text, flags=re.S))
    assert bodies or name in ("variants", "ddp_fsdp"), "this study has one distributed variant"
    assert unknown(re.sub(r"\\multicolumn\{\d+\}", "", bodies), numbers, plan) == []


def test_cells_of_the_page(plan: Plan, results: Results, numbers: NumbersFile) -> None:
    page = page_of(plan, results)
    cells = re.findall(r"<td data-name[^>]*>(.*?)</td>", page, flags=re.S)
    assert len(cells) > 30
    text = html.unescape(re.sub(r"<[^>]+>", " ", " ".join(cells)))
    assert unknown(text, numbers, plan) == []


def test_a_number_says_what_it_is_and_where_it_is_from(
    plan: Plan, numbers: NumbersFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "numbers.json"
    write_document(path, numbers)
    assert main(["number", "mlp.ddp.strong.n2.speedup", "--results", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert re.match(r"mlp\.ddp\.strong\.n2\.speedup = 1\.2\d+ \[1\.\d+, 1\.\d+\] \(95 % confidence\)\n", text)
    assert "ratio of throughputs to the baseline" in text
    assert "baseline     mlp.single.strong.n1\n" in text
    assert text.count("record abcdefabcdef") == 6, "three launches, and three of the base case"
    assert max(map(len, text.splitlines())) <= 80


def test_a_forecast_says_which_launches_it_rests_on(
    numbers: NumbersFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "numbers.json"
    write_document(path, numbers)
    assert main(["number", "mlp.ddp.weak.n8.forecast.speedup", "--results", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    measured = ["mlp.single.strong.n1", "mlp.ddp.weak.n2", "mlp.ddp.weak.n4"]
    assert re.findall(r"^from +(\S+)$", text, flags=re.M) == measured
    launches = [run for key in measured for run in numbers.points[key].runs]
    assert re.findall(r"^(?:runs)? +(mlp-\S+):", text, flags=re.M) == launches


def test_a_failed_point_has_its_outcome_where_a_number_would_be(numbers: NumbersFile) -> None:
    number = numbers.numbers["mlp.ddp.strong.n4.speedup"]
    assert number.shown == Shown("OOM / timeout")
    assert isnan(number.value)
    assert numbers.find("mlp.ddp.strong.n4.forward_time_ms") is None


def test_a_shorter_key_is_one_that_can_mean_but_one_thing(numbers: NumbersFile) -> None:
    assert numbers.find("mlp.single.n1.step_time_ms") is not None
    assert numbers.find("mlp.ddp.n2.step_time_ms") is None, "strong or weak?"


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("mlp.ddp.strong.n2.speedups", "mlp.ddp.strong.n2.speedup"),
        ("mlp.ddp.strong.n2", "matching keys are mlp.ddp.strong.n2.ranks"),
        ("something", "keys start with mlp.single.strong.n1"),
    ],
)
def test_an_unknown_key_says_which_there_are(
    numbers: NumbersFile, tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str, said: str
) -> None:
    path = tmp_path / "numbers.json"
    write_document(path, numbers)
    assert main(["number", key, "--results", str(tmp_path)]) == 2
    assert f"{key}: not found in {path}" in (error := capsys.readouterr().err)
    assert said in error


def test_values_are_those_of_the_summary_in_the_printed_unit(results: Results, numbers: NumbersFile) -> None:
    row = results.summary[(results.summary["world_size"] == 2) & (results.summary["scaling"] == "weak")].iloc[0]
    number = numbers.numbers["mlp.ddp.weak.n2.step_time_ms"]
    assert number.value == pytest.approx(row["step_time_s"] * 1e3)
    assert [number.low, number.high] == pytest.approx(
        [row["step_time_s_low"] * 1e3, row["step_time_s_high"] * 1e3]
    )
    hours = numbers.numbers["mlp.ddp.weak.n2.device_hours_per_million_samples"]
    assert hours.value == pytest.approx(2 * 1e6 / row["throughput_samples_per_s"] / 3600)
    assert hours.low < hours.value < hours.high
