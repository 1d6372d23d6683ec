"""The page at its limits: a thousand runs, names that would break it, numbers that are not of these tables."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd
import pytest
from bench.synthetic import make_study
from browser import Page
from builders import WORKLOAD_FIGURES, book_of, frames_of, page_from, page_of, printed_of, results_of, study_of
from conftest import mlp_workload
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.study.environment import StudyEnvironment, WarningCount
from scalestudy.analyse.trace.summary import Trace
from scalestudy.errors import UserError
from scalestudy.publish.embedding import data_uri
from scalestudy.publish.figures import drawing
from scalestudy.publish.figures.save import save_figure
from scalestudy.publish.figures.style import paper_style
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.results import Results
from scalestudy.publish.views.answers import Answer
from scalestudy.publish.visible import visible
from scalestudy.publish.words.phrases import Phrase, Piece
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan
from test_every_number import TIMES
from test_measured_views import PROBED, TRACE

MOST_BYTES = 3_000_000
MOST_MS = 1000
LOADED_MS = (
    "Math.max(performance.getEntriesByType('navigation')[0].loadEventEnd,"
    " performance.getEntriesByName('first-contentful-paint')[0].startTime)"
)
HOSTILE = {
    "signs": "_ % & # { } \\ $ ~ ^ < > \" ' | ` = ; 100% %41",
    "script": "</script><script>throw new Error('injected')</script>",
    "attribute": '" onmouseover="throw 1"><img src=x onerror=\'throw 2\'>',
    "template": "{{ 7 * 7 }}{% endfor %}{# x #}",
    "style": "</style><style>body { display: none }</style><!-- ",
    "emoji": "\N{GRINNING FACE}\N{FAMILY} 漢",
    "long": "x" * 200,
    "right to left": "\u202eשלום \u0627\u0644",
}


class Elements(HTMLParser):
    """How often each element is there, and each attribute of it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: Counter[tuple[str, ...]] = Counter()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[tag, *(name for name, _ in attrs)] += 1

    def handle_comment(self, data: str) -> None:
        self.found["a comment",] += 1


def renamed(value: Any, old: str, new: str) -> Any:
    """A name in all texts and keys of what a page is given."""
    if isinstance(value, Phrase):
        return Phrase(*(Piece(*(part.replace(old, new) for part in piece)) for piece in value.pieces))
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, dict):
        return {renamed(key, old, new): renamed(item, old, new) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item, old, new) for item in value]
    if isinstance(value, Answer):
        return Answer(*(renamed(item, old, new) for item in value))
    return tuple(renamed(item, old, new) for item in value) if type(value) is tuple else value


@pytest.fixture(scope="module")
def named() -> tuple[Plan, Results]:
    """A study whose workload, variant, runs, operators, devices and reasons have `victim` in their names."""
    study = {
        "study": "victim-study",
        "description": "of victim",
        "repeats": 3,
        "scales": ["1x2", "1x4"],
        "variants": {"single": {"strategy": "single"}, "victim-ddp": {"strategy": "ddp"}},
        "workloads": {"victim": mlp_workload()},
    }
    plan = make_plan(parse_study(study, source="x"))
    runs = study_of(plan, {("victim", *key[1:]): value for key, value in TIMES.items()})
    runs["reason"] = "for victim"
    trace = Trace.model_validate(renamed(TRACE.model_dump(), "aten::mm", "victim::mm") | {"run_id": "victim-run"})
    environment = StudyEnvironment(
        facts={"device": ("victim",), "cpu": ("victim",), "variable victim": ("victim",)},
        warnings=(WarningCount(kind="victim", launches=1, example="victim"),),
    )
    summary = summary_frame(plan, runs)
    summary["settings"] = "set by victim"
    return plan, results_of(plan, runs, summary, traces=[trace], environment=environment)


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_name_stays_text(page: Page, named: tuple[Plan, Results], kind: str, tmp_path: Path) -> None:
    plan, results = named
    facts, book = printed_of(plan, results), book_of(plan, results)
    harmless = page_from(facts, book)
    other = NumbersFile.model_validate(renamed(book.model_dump(), "victim", HOSTILE[kind]))
    hostile = page_from(renamed(facts, "victim", HOSTILE[kind]), other)
    assert harmless.count("victim") > 300
    assert facts["traces"] and facts["failed"] and facts["forecasts"] and facts["warnings"]
    assert "victim" not in hostile
    assert Elements(hostile).found == Elements(harmless).found
    path = tmp_path / "report.html"
    path.write_text(hostile, encoding="utf-8")
    page.resize(390)
    page.open(path)
    assert page.problems == []
    assert visible(HOSTILE[kind]).strip() in page.get("document.querySelector('.card').textContent")
    assert page.get("document.querySelectorAll('script').length") == 1
    assert page.get("document.documentElement.scrollWidth") == 390
    page.get("document.querySelector('.card a').click()")
    page.settle()
    assert page.problems == []


def test_numbers_of_an_older_study_are_refused(named: tuple[Plan, Results]) -> None:
    plan, results = named
    facts, book = printed_of(plan, results), book_of(plan, results)
    del book.numbers["victim.victim-ddp.weak.n2.step_time_ms"]
    with pytest.raises(UserError, match=r"victim-ddp\.weak\.n2\.step_time_ms: not in numbers\.json"):
        page_from(facts, book)


@pytest.fixture(scope="module")
def thousand() -> tuple[Plan, Results]:
    """The synthetic study: one workload is computed from step times, nine are copies. All are probed."""
    plan = make_study("1000")
    first = plan.model_copy(update={"runs": {k: s for k, s in plan.runs.items() if s.workload == "workload-0"}})
    times = {
        (spec.workload, spec.world_size, spec.batch_per_rank): [
            0.01 * (1 + spec.batch_per_rank / 640 + spec.world_size / 80) * (1 + 0.003 * (7 * repeat % 11))
            for repeat in range(20)
        ]
        for spec in first.runs.values()
    }
    made = study_of(first, times)
    rows = {place_of(first.runs[row["run_id"]]): row for row in made.to_dict("records")}
    runs = pd.DataFrame(
        rows[place_of(spec)] | {"run_id": run, "workload": spec.workload} for run, spec in plan.runs.items()
    )
    runs["record_sha256"], runs["commit"], runs["dirty"] = "abcdef" * 10, "0123456789abcdef", False
    summary = summary_frame(plan, runs)
    for (name, values), (limit, index) in product(PROBED.items(), (("", 0), ("_low", 1), ("_high", 2))):
        summary.loc[summary["world_size"] > 1, f"{name}_s{limit}"] = values[index] / 1e3
    summary["methods"] = "agree"
    return plan, results_of(plan, runs, summary)


def place_of(spec: Any) -> tuple:
    return spec.variant, spec.world_size, spec.batch_per_rank, spec.repeat


@pytest.fixture(scope="module")
def thousand_page(thousand: tuple[Plan, Results], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """(path of the page, in which each workload has the figures of one; bytes of its figures)."""
    plan, results = thousand
    folder, text = tmp_path_factory.mktemp("thousand"), page_of(plan, results)
    runs = [run for run, spec in plan.runs.items() if spec.workload == "workload-0"]
    epochs = pd.DataFrame(
        [
            {
                "run_id": run,
                "epoch": epoch,
                "epoch_time_s": 0.1 + 1e-4 * n,
                "validation_accuracy": 0.9 - 0.3 / epoch,
            }
            for n, run in enumerate(runs)
            for epoch in range(1, 5)
        ]
    )
    frames, before = frames_of(plan, results.summary, epochs=epochs), len(text)
    with paper_style():
        for name in WORKLOAD_FIGURES:
            _, svg, *_ = save_figure(drawing(name)(plan, "workload-0", frames), folder / name)
            assert text.count(f'src="data:,{name}"') == len(plan.study.workloads) == 10
            text = text.replace(f'src="data:,{name}"', f'src="{data_uri(svg.read_text(encoding="utf-8"))}"')
    path = folder / "report.html"
    path.write_text(text, encoding="utf-8")
    return path, len(text) - before


@pytest.mark.slow
def test_a_thousand_runs_are_one_page_of_three_megabytes(
    page: Page, thousand: tuple[Plan, Results], thousand_page: tuple[Path, int]
) -> None:
    (plan, _), (path, drawn) = thousand, thousand_page
    assert drawn > 1_000_000
    assert path.stat().st_size < MOST_BYTES, (path.stat().st_size, drawn)
    page.open(path)
    assert page.problems == []
    assert page.get("document.querySelectorAll('details[open]').length") == 0
    shown = "[...new Set([...document.querySelectorAll('.launches tbody th')].map(cell => cell.textContent))]"
    assert set(page.get(shown)) == set(plan.runs)
    assert page.get("document.querySelectorAll('tr.point').length") >= 60
    assert page.get("[...document.querySelectorAll('.communication a[title]')].length") >= 40 * len(PROBED)


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("width", [1200, 320])
def test_a_thousand_runs_are_shown_within_a_second(
    page: Page, thousand_page: tuple[Path, int], width: int
) -> None:
    page.resize(width)
    loaded = []
    for _ in range(5):
        page.open(thousand_page[0])
        loaded.append(page.get(LOADED_MS))
    print(f"a thousand runs at {width} px, loaded and painted after {sorted(map(round, loaded))} ms")
    assert 1 < median(loaded) < MOST_MS, loaded
