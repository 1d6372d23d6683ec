"""The page of many points: the same numbers, in parts that are closed until a reader opens one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from browser import Page
from builders import book_of, page_from, results_of, study_of
from conftest import mlp_workload, small_content
from scalestudy.publish.views.facts import document_facts
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from test_every_number import TIMES
from test_measured_views import probed

LINK = re.compile(r'<a href="#([^"]+)" title="([^"]+)">([^<]*)')
CLOSED = "[...document.querySelectorAll('details.portion:not([open])')]"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    """The page of one study, as one of few points and as one of many."""
    workloads: dict[str, Any] = {"mlp": mlp_workload(), "other": mlp_workload()}
    plan = make_plan(parse_study(small_content(repeats=3, scales=["1x2", "1x4"], workloads=workloads), source="x"))
    runs = study_of(plan, TIMES | {("other", *key[1:]): value for key, value in TIMES.items()})
    runs["record_sha256"], runs["commit"], runs["dirty"] = "abcdef" * 10, "0123456789abcdef", False
    results = results_of(plan, runs, probed(results_of(plan, runs).summary))
    book = book_of(plan, results)
    facts = document_facts(plan, results, book)
    assert not facts["many_points"]
    folder, made = tmp_path_factory.mktemp("pages"), {}
    for many in (False, True):
        made[many] = folder / f"{many}.html"
        made[many].write_text(page_from(facts | {"many_points": many}, book), encoding="utf-8")
    return made


def test_it_has_every_number_of_a_page_of_few(pages: dict[bool, Path]) -> None:
    few, many = (LINK.findall(pages[one].read_text(encoding="utf-8")) for one in (False, True))
    assert len(few) > 100
    assert sorted(many) == sorted(few)


def test_its_parts_are_closed_and_a_link_opens_the_one_it_leads_into(page: Page, pages: dict[bool, Path]) -> None:
    page.open(pages[True])
    closed = page.get(f"{CLOSED}.map(part => part.querySelector('summary').textContent)")
    assert min(sum(name.startswith(workload) for name in closed) for workload in ("mlp", "other")) > 3
    assert sum(name.startswith("Figures") for name in closed) == 2
    page.get(f"{CLOSED}[0].open = true")
    assert page.get("document.querySelector('table.points tr.point').offsetHeight") > 0
    page.get("document.querySelector('table.points td a').click()")
    page.settle()
    launches = "document.getElementById(decodeURIComponent(location.hash.slice(1)))"
    assert page.get(f"{launches}.closest('details.portion').open")
    assert page.get(f"{launches}.open")
    assert len(page.get(f"{CLOSED}.map(part => 0)")) == len(closed) - 2
    page.open(pages[False])
    assert page.get("document.querySelectorAll('details.portion').length") == 0
    assert page.problems + page.warnings == []
