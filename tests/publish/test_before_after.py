"""Advice that was tried, in every document: before, predicted and after; nothing of it where none was tried."""

from __future__ import annotations

import html
import re
from functools import cache
from typing import Any

import pytest
from builders import book_of, frames_of, page_of, printed_of, results_of, study_of, summary_of
from conftest import small_content
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.findings import Diagnosis, Finding, Payback, Recommendation
from scalestudy.publish.figures import drawing, figures_of
from scalestudy.publish.figures.style import paper_style
from scalestudy.publish.numbers.rounding import Shown
from scalestudy.publish.numbers.verified import verified_numbers
from scalestudy.publish.results import Results
from scalestudy.publish.tables.verified import verified_table_view
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.publish.views.verified import text_lines, verified_view
from scalestudy.registry.codes import Unpaid
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan
from scalestudy.verify.frame import verification_frame
from scalestudy.verify.model import VerificationFile
from scalestudy.verify.score import score
from test_every_number import unknown
from tried_advice import BEFORE, PATCH, TIMES, trial_of, tried_study

TRIED = Recommendation(id="default_buckets", change="Leave buckets alone.", patch=PATCH, unpredicted="a test.")
OTHER = Recommendation(
    id="other", change="Do the other thing.", unpredicted="a test.", payback=Payback(unknown=Unpaid.NO_TRIAL)
)
KEY = "mlp.ddp.strong.n2.verified.bucket-size.default_buckets"


class Made:
    """A study with two pieces of advice for each point, and what came of the first one at one of them."""

    def __init__(self, content: dict[str, Any], *, tried: bool = True, predicted: Interval | None, **trial: Any):
        self.plan: Plan = make_plan(parse_study(content | {"repeats": 3}, source="x"))
        times = {key: [time] * 3 for key, time in TIMES.items()}
        summary = summary_of(self.plan, times)
        self.file: VerificationFile | None = None
        if tried:
            one = score(trial_of(predicted), *tried_study(content, **trial))
            runs = {run: {"outcome": "ok"} for run in (*one.before.runs, *one.after.runs)}
            self.file = VerificationFile(study="small", verified=(one,), left_out=(), runs=runs)
        plain = results_of(self.plan, study_of(self.plan, times), summary)
        self.results: Results = results_of(
            self.plan,
            plain.runs,
            summary,
            findings=[advised(one) for one in plain.findings],
            verification=self.file,
        )
        self.text = render(DIRECTORY / "performance_report.txt", **printed_of(self.plan, self.results))
        self.page = page_of(self.plan, self.results)


@cache
def made_of(**given: Any) -> Made:
    """Of the small study; several tests look at the same one."""
    return Made(small_content(), **given)


def advised(diagnosis: Diagnosis) -> Diagnosis:
    finding = Finding(
        cause="bucket-size", explanation="", evidence=(), refuted_by="", recommendations=(TRIED, OTHER)
    )
    return diagnosis.model_copy(update={"findings": (finding,)})


def flat(text: str) -> str:
    return " ".join(text.split())


def summary_part(text: str, which: str) -> str:
    """What the text report's summary says of a way of scaling."""
    head = re.split("\n(?:RECOMMENDATIONS|MEASUREMENTS)\n", text)[0]
    return next(flat(item) for item in head.split("\n* ") if which in item)


def test_without_a_verification_nothing_is_said_of_one() -> None:
    made = made_of(tried=False, predicted=None)
    assert "BEFORE AND AFTER" not in made.text
    assert "Tried and" not in made.text + made.page
    assert "before-after" not in made.page
    assert "Next: Leave buckets alone." in summary_part(made.text, "strong")
    assert not [key for key in book_of(made.plan, made.results).numbers if ".verified." in key]
    assert "before_after" not in [entry.name for entry, _ in figures_of(made.plan)]


def test_confirmed_advice_is_said_to_be_confirmed_with_its_gain() -> None:
    made = made_of(predicted=Interval(2.0, 1.9, 2.1))
    gain = book_of(made.plan, made.results).shown(f"{KEY}.gain")
    assert gain.value.startswith("2.00") and gain.limits
    said = f"Tried and confirmed. It gave {gain} times the throughput; 2.00 [1.90, 2.10] was predicted."
    assert f"Next: Leave buckets alone. {said}" in summary_part(made.text, "strong")
    assert "Tried" not in summary_part(made.text, "weak"), "at that point nothing was tried"
    assert max(map(len, made.text.splitlines())) <= 80


def test_refuted_advice_stays_with_what_was_learnt_and_the_next_one_comes_first() -> None:
    made = made_of(predicted=Interval(2.0, 1.9, 2.1), gain=0.9)
    strong = summary_part(made.text, "strong")
    gain = book_of(made.plan, made.results).shown(f"{KEY}.gain")
    assert f"Tried and refuted: Leave buckets alone. It gave {gain} times the throughput" in strong
    assert strong.endswith("Next: Do the other thing.")
    assert "Next: Leave buckets alone." in summary_part(made.text, "weak")
    advice = made.text[made.text.index("\nRECOMMENDATIONS\n") : made.text.index("\nBEFORE AND AFTER\n")]
    assert advice.index("1. Do the other thing.") < advice.index("2. Leave buckets alone.")
    assert "mlp, ddp strong scaling, 1x2: REFUTED" in made.text
    assert "Next: Do the other thing." in flat(html.unescape(re.sub(r"<[^>]+>", "", made.page)))


@pytest.mark.parametrize(
    ("good", "said"),
    [
        ((3, 3), ""),
        ((1, 1), "Only one run before and one run after the change completed, so their values have no limits."),
        pytest.param(
            (1, 3),
            "Only one run before the change completed, so its values have no limits.",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            (3, 1),
            "Only one run after the change completed, so its values have no limits.",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_values_have_limits_wherever_launches_allow_and_else_it_is_said_why(
    content: dict[str, Any], good: tuple[int, int], said: str
) -> None:
    lines, cells, page = launched(content, *good)
    assert (said in lines) and (said in page) and lines.count("no limits") == page.count("no limits") == bool(said)
    for side, launches in zip(("before", "after"), good, strict=True):
        for quantity in ("step_time_ms", "speedup", "efficiency_percent", "epoch_time_s", "accuracy_percent"):
            assert bool(cells[quantity][side].limits) == (launches > 1), (quantity, side)


def test_one_process_has_limits_of_its_own_launches_and_a_speedup_by_definition(content: dict[str, Any]) -> None:
    lines, cells, _ = launched(content, 3, 3, variant="single", nodes=1, devices_per_node=1)
    assert "The point after the change is the baseline, whose speedup is 1 by definition." in lines
    for quantity in ("step_time_ms", "epoch_time_s", "accuracy_percent"):
        assert cells[quantity]["after"].limits, quantity
    assert not cells["speedup"]["after"].limits


def launched(content: dict[str, Any], before: int, after: int, **place: Any) -> tuple[str, dict[str, Any], str]:
    """(text, cells by quantity, page) of a trial with these numbers of runs before and after."""
    made = tried_study(content)
    runs = made.runs.copy()
    runs["validation_accuracy"] = 0.9 + 0.001 * runs["repeat"]
    for variant, launches in (("ddp", before), ("ddp-after", after)):
        runs.loc[(runs["variant"] == variant) & (runs["repeat"] > launches), "outcome"] = "unneeded"
    one = score(
        trial_of(Interval(2.0, 1.9, 2.1), **place), made.plan, summary_frame(made.plan, runs), runs, made.epochs
    )
    origins = {run: {"outcome": "ok"} for run in (*one.before.runs, *one.after.runs)}
    file = VerificationFile(study="small", verified=(one,), left_out=(), runs=origins)
    (item,) = verified_view(file, made.plan.study, dict(verified_numbers(file)))["tried"]
    assert max(map(len, item["lines"].splitlines())) <= 80
    study = make_plan(parse_study(content | {"repeats": 3}, source="x"))
    times = {key: [time] * 3 for key, time in TIMES.items()}
    page = page_of(study, results_of(study, study_of(study, times), summary_of(study, times), verification=file))
    return flat(item["lines"]), {row["quantity"]: row["cells"] for row in item["rows"]}, flat(page)


def test_another_patch_has_not_been_tried() -> None:
    made = made_of(predicted=Interval(2.0, 1.9, 2.1), gain=0.9)
    changed = [
        one.model_copy(
            update={
                "findings": tuple(
                    finding.model_copy(
                        update={"recommendations": (TRIED.model_copy(update={"patch": {"repeats": 9}}), OTHER)}
                    )
                    for finding in one.findings
                )
            }
        )
        for one in made.results.findings
    ]
    results = results_of(
        made.plan, made.results.runs, made.results.summary, findings=changed, verification=made.file
    )
    text = render(DIRECTORY / "performance_report.txt", **printed_of(made.plan, results))
    assert "Next: Leave buckets alone." in summary_part(text, "strong")
    assert "mlp, ddp strong scaling, 1x2: REFUTED" in text, "the old verdict is told all the same"


def test_a_point_that_the_study_has_no_more_is_left_out() -> None:
    made = made_of(predicted=None)
    assert made.file is not None
    assert made.file.of_points(made.plan.points) == made.file
    weak = [point for point in made.plan.points if point.scaling == "weak"]
    assert made.file.of_points(weak).verified == ()


def test_advice_that_does_not_run_has_its_outcome_where_numbers_would_be() -> None:
    made = made_of(predicted=Interval(2.0, 1.9, 2.1), outcome="oom")
    row = next(line for line in made.text.splitlines() if line.strip().startswith("step time (ms)"))
    assert row.split()[-1] == "OOM"
    assert "No run completed: 3 oom." in flat(made.text)
    assert book_of(made.plan, made.results).find(f"{KEY}.after.step_time_ms") is None
    assert book_of(made.plan, made.results).find(f"{KEY}.gain") is None


def test_documents_print_the_numbers_of_the_ledger_and_leave_out_what_is_missing() -> None:
    made = made_of(predicted=Interval(2.0, 1.9, 2.1))
    book = book_of(made.plan, made.results)
    section = made.text[made.text.index("\nBEFORE AND AFTER\n") : made.text.index("\nMETHOD AND")]
    section = section[section.index("mlp, ddp") :].replace("1x2", "")
    assert len(re.findall(r"\d\.\d", section)) > 15
    assert unknown(section, book, made.plan) == []
    assert "time to" not in section, "the study has no target: neither side was measured"
    cells = re.findall(r"<td data-name=\"(?:Before|Predicted|After)\">(.*?)</td>", made.page)
    assert len(cells) == 3 * 5
    assert "" in cells, "the speedup was not predicted"
    table = render(
        DIRECTORY / "verification_table.tex",
        **verified_table_view(made.plan, made.results.summary, book, made.file),  # type: ignore[arg-type]
    )
    rows = "".join(re.findall(r"\\midrule(.*?)\\bottomrule", table, flags=re.S))
    assert unknown(re.sub(r"\\multicolumn\{\d+\}|1x2", "", rows), book, made.plan) == []
    assert "(A)~Leave buckets alone." in table


@pytest.mark.parametrize("name", ["step time (ms)", "time to 90 % (s)", "time to 99.95 % (min)"])
@pytest.mark.parametrize("limits", [("", ""), ("0.1907", "0.2055")], ids=["beside", "below"])
def test_columns_of_the_text_are_aligned_under_their_heads(name: str, limits: tuple[str, str]) -> None:
    cells = {
        side: Shown(value, *limits) for side, value in zip(("before", "predicted", "after"), "123", strict=True)
    }
    item = {"where": "mlp", "verdict": "confirmed", "change": "", "said": "", "note": ""}
    lines = text_lines(item | {"rows": [{"name": name, "cells": cells}]})
    head, row = (next(line for line in lines if word in line) for word in ("predicted", name))
    assert [head.index(side) for side in cells] == [row.index(f" {value}", len(name)) + 1 for value in "123"]
    assert max(map(len, lines)) <= 80


def test_a_number_of_a_trial_leads_to_its_launches() -> None:
    made = made_of(predicted=Interval(2.0, 1.9, 2.1))
    book = book_of(made.plan, made.results)
    number = book.numbers[f"{KEY}.after.speedup"]
    assert number.point == f"{KEY}.after"
    runs = book.launches(book.points[number.point].runs)
    assert len(runs) == 3 and all("ddp-after" in run for run in runs)
    for link in set(re.findall(r'href="#([^"]+)"', made.page)):
        assert f'id="{link}"' in made.page, link


@pytest.mark.parametrize("tried", [True, False], ids=["tried", "left out"])
def test_the_figure_has_a_panel_for_each_quantity_that_was_measured(tried: bool) -> None:
    made = made_of(predicted=Interval(2.0, 1.9, 2.1))
    assert made.file is not None
    frames = frames_of(made.plan, made.results.summary)
    given = frames.__class__(
        **vars(frames) | {"verified": verification_frame(made.file.verified if tried else ())}
    )
    with paper_style():
        drawn = drawing("before_after")(made.plan, given)
    if not tried:
        assert drawn.words == "No advice was tried."
        assert not drawn.frame["y"].notna().any(), "documents leave it out"
        return
    names = list(dict.fromkeys(drawn.frame["y_name"]))
    assert names == ["Step time (ms)", "Speedup", "Efficiency (%)", "Epoch time (s)", "Accuracy (%)"]
    assert len([axes for axes in drawn.figure.axes if axes.get_visible()]) == len(names)
    assert "Confirmed. Step time (ms): before " in drawn.words
    first = drawn.frame.iloc[0]
    assert first["y"] == pytest.approx(made.file.verified[0].quantities["step_time_s"].before.value * 1e3)


def test_what_was_not_tried_is_told_with_its_reason() -> None:
    made = made_of(predicted=None)
    assert made.file is not None
    left = {"at": BEFORE, "change": "Add ranks.", "why": "it needs devices that the study does not have"}
    file = VerificationFile.model_validate(
        made.file.model_dump() | {"verified": (), "left_out": (left,), "runs": {}}
    )
    results = results_of(made.plan, made.results.runs, made.results.summary, verification=file)
    text = flat(render(DIRECTORY / "performance_report.txt", **printed_of(made.plan, results)))
    assert "0 pieces of advice tried" in text
    assert "1x2: Add ranks. It needs devices that the study does not have." in text
    table = verified_table_view(made.plan, results.summary, book_of(made.plan, results), file)
    assert render(DIRECTORY / "verification_table.tex", **table).count("tabular") == 0


@pytest.mark.parametrize(
    ("payback", "said"),
    [
        (
            {
                "least_device_hours": 0.1,
                "most_device_hours": 0.2,
                "saved_device_hours": Interval(0.5, 0.4, 0.6),
                "trainings": Interval(0.4, 0.33, 0.5),
            },
            "Trying it takes 0.100 to 0.200 device-hours. If the prediction is right, each training as long as"
            " those of this study saves 0.50 [0.40, 0.60] device-hours, which repays the trial after"
            " 0.400 [0.330, 0.500] trainings.",
        ),
        (
            {
                "least_device_hours": 0.003,
                "most_device_hours": 0.02,
                "saved_device_hours": Interval(0.0005, 0.0004, 0.0006),
                "trainings": Interval(40, 33, 50),
            },
            "Trying it takes 10.8 to 72.0 device-seconds. If the prediction is right, each training as long as"
            " those of this study saves 1.80 [1.44, 2.16] device-seconds, which repays the trial after"
            " 40.0 [33.0, 50.0] trainings.",
        ),
        (
            {"least_device_hours": 0.2, "most_device_hours": 0.2, "unknown": Unpaid.WITHIN_NOISE},
            "Trying it takes 0.200 device-hours. The number of trainings that repay the trial is not known: the"
            " predicted saving is within its noise.",
        ),
        ({"unknown": Unpaid.NO_TRIAL}, "No trial can test it, so its cost is not known."),
    ],
    ids=["repaid", "repaid in seconds", "within noise", "no trial"],
)
def test_advice_says_what_trying_it_takes_and_when_that_is_repaid(payback: dict[str, Any], said: str) -> None:
    made = made_of(tried=False, predicted=None)
    paid = TRIED.model_copy(update={"payback": Payback(**payback)})
    finding = Finding(cause="bucket-size", explanation="", evidence=(), refuted_by="", recommendations=(paid,))
    findings = [one.model_copy(update={"findings": (finding,)}) for one in made.results.findings]
    results = results_of(made.plan, made.results.runs, made.results.summary, findings=findings)
    text = render(DIRECTORY / "performance_report.txt", **printed_of(made.plan, results))
    assert said in flat(text)
    assert said in flat(html.unescape(re.sub(r"<[^>]+>", "", page_of(made.plan, results))))
