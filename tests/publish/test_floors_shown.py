"""The smallest difference that a study shows, in its documents: text, page, LaTeX and numbers agree."""

from __future__ import annotations

import html
import re
from math import isnan
from typing import Any

import pytest
from builders import book_of, page_of, printed_of, results_of, study_of
from conftest import small_content
from scalestudy.publish.documents.artifact import artifact_view
from scalestudy.publish.numbers.provenance import number_text
from scalestudy.publish.results import Results
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan
from test_every_number import unknown

TIMES = {
    ("mlp", 1, 32): [0.0100, 0.0104, 0.0097, 0.0101, 0.0102],
    ("mlp", 1, 16): [0.0061, 0.0060, 0.0062, 0.0061, 0.0060],
    ("mlp", 2, 16): [0.0103, 0.0107, 0.0100, 0.0104, 0.0105],
    ("mlp", 2, 32): [0.0131, 0.0139, 0.0132, 0.0133, 0.0135],
}
ALIKE = [1.004, 0.991, 1.012, 0.998, 1.006]
"""Step times of the second runs over those of the first."""
SLOWER = [1.10, 1.11, 1.09, 1.10, 1.12]
SCATTER = [1.04, 0.93, 1.06, 0.95, 1.03]


def made(again: list[float] = ALIKE, *, floor: bool = True, **study: Any) -> tuple[Plan, Results]:
    content = small_content(**({"repeats": 5, "measure": {"floor": floor}} | study))
    plan = make_plan(parse_study(content, source="x"))
    runs = study_of(plan, TIMES)
    runs["record_sha256"] = "abcdef" * 10
    twins = runs["variant"] == "single-again"
    runs.loc[twins, "step_time_s"] *= [again[repeat - 1] for repeat in runs.loc[twins, "repeat"]]
    return plan, results_of(plan, runs)


def flat(text: str) -> str:
    return " ".join(text.split())


def documents(plan: Plan, results: Results) -> dict[str, str]:
    """Text report and page without markup, in one line each."""
    text = render(DIRECTORY / "performance_report.txt", **printed_of(plan, results))
    page = re.sub(r"<[^>]+>", "", page_of(plan, results))
    return {"text": flat(text), "page": flat(html.unescape(page))}


def test_a_base_case_has_a_sentence_and_a_row() -> None:
    plan, results = made()
    book = book_of(plan, results)
    key = "mlp.single.floor"
    difference, smallest = (
        book.shown(f"{key}.{name}_percent") for name in ("step_time_difference", "smallest_difference")
    )
    said = (
        f"Two identical baselines of mlp (single, batch 32) differ by {difference} % in step time; the interval"
        f" includes 0. With 5 repeats, a difference of {smallest} % is detected in 4 of 5 studies, a smaller one"
        " less often."
    )
    for text in documents(plan, results).values():
        assert said in text
        assert "With 5 repeats, it would be" not in text
        assert "of the variance between runs: runs of one repeat differ less than" in text
    calm = documents(*made(SCATTER))["text"]
    assert "This is not significant: one spread describes runs within and across repeats." in calm
    page = page_of(plan, results)
    assert f'title="{key}.smallest_difference_percent"' in page
    assert f'href="#{key}"' in page
    assert f'id="{key}"' in page
    said = re.sub("4 of 5 studies|includes 0", "", said)
    assert unknown(said, book, plan) == []


def test_every_number_of_a_floor_has_its_value_and_its_launches() -> None:
    plan, results = made()
    book, row = book_of(plan, results), results.floors.iloc[0]
    (twin,) = plan.twins
    for name in ("step_time_difference", "smallest_difference", "smallest_difference_at_most"):
        number = book.numbers[f"mlp.single.floor.{name}_percent"]
        assert (number.value, number.low, number.high) == pytest.approx(
            tuple(100 * row[f"{name}{end}"] for end in ("", "_low", "_high"))
        )
        assert (number.unit, number.limits) == ("%", "95 % confidence")
        text = number_text(book, "x", number)
        assert all(f" {run}: ok" in text for run in (*twin.runs, *twin.base))
        assert "5 ok" in text
    assert book.points["mlp.single.floor"].base == "mlp.single.strong.n1"
    assert not isnan(row["shared_variance"])


def test_where_identical_cases_differ_every_document_warns() -> None:
    plan, results = made(SLOWER)
    for text in documents(plan, results).values():
        assert "the interval excludes 0. This happens by chance in 5 % of such comparisons." in text
        assert "this host show differences that do not exist, and the intervals are too narrow" in text
    assert re.search(r'<p class="mind">Two identical baselines', page_of(plan, results))
    looked = made(SLOWER, repeats=3, max_repeats=5)
    assert "This happens by chance in 2.5 % of such comparisons." in documents(*looked)["text"]


def test_where_more_repeats_are_allowed_it_is_said_what_they_would_show() -> None:
    plan, results = made(repeats=3, max_repeats=5)
    results.runs.loc[results.runs["repeat"] > 3, "outcome"] = "unneeded"
    results = results_of(plan, results.runs)
    smallest = book_of(plan, results).shown("mlp.single.floor.smallest_difference_at_most_percent")
    for text in documents(plan, results).values():
        assert "With 3 repeats, a difference of" in text
        assert f"With 5 repeats, it would be {smallest} %." in text


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"floor": False}, "is not known, since no baseline was run twice per repeat. To measure it, set"),
        ({"repeats": 1}, "fewer than 2 repeats have a good run of both identical baselines. With repeats: 3"),
    ],
)
def test_without_a_floor_one_line_says_what_to_set(given: dict[str, Any], said: str) -> None:
    plan, results = made(**given)
    for text in documents(plan, results).values():
        assert said in text
        assert "Two identical baselines" not in text
    assert 'id="floor"' not in page_of(plan, results)
    assert not any("smallest_difference" in key for key in book_of(plan, results).numbers)


def notes_of(plan: Plan, results: Results) -> dict[str, list[str]]:
    rows = printed_of(plan, results)["rows"]
    return {row["key"]: [note for note in row["notes"] if "smallest difference" in note] for row in rows}


def test_a_difference_below_the_floor_is_marked() -> None:
    """The speedup of 0.97 is known to half a percent, and baselines scatter by 5 %."""
    plan, results = made(SCATTER)
    notes = notes_of(plan, results)
    smallest = book_of(plan, results).shown("mlp.single.floor.smallest_difference_percent")
    assert notes.pop("mlp.ddp.strong.n2") == [
        f"the speedup differs from 1 by less than {smallest} %, the smallest difference that two identical"
        " baselines would show in 4 of 5 studies. It may be chance, or smaller than it looks; run more repeats to"
        " find out"
    ]
    assert not any(notes.values())
    for text in documents(plan, results).values():
        assert "the speedup differs from 1 by less than" in text
        assert (
            text.count("This verdict rests on less than the smallest difference that this study can detect.") == 1
        )
    assert "This verdict rests on less" not in documents(*made(ALIKE))["text"]
    assert not any(notes_of(*made(ALIKE)).values())
    assert not any(notes_of(*made(SCATTER, floor=False)).values())


def test_the_artifact_description_counts_the_second_launches() -> None:
    plan, results = made()
    book = book_of(plan, results)
    view = artifact_view(plan, results, printed_of(plan, results), book=book, command="")
    (workload,) = view["effort"]["workloads"]
    counts = {row["variant"]: row["launches"].value for row in workload["variants"]}
    assert counts == {"single": "10", "ddp": "10", "single-again": "5"}
    assert workload["launches"].value == "25"
