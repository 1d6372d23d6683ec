"""Everything we write for LaTeX, in papers of three classes with one and with two columns: nothing is too wide."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from builders import book_of, printed_of
from latex_layouts import LAYOUTS, LONG, STUDIES, WITHOUT_BREAKS, body_of, compiled, complaints, mixed, recorded
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.cli.main import main
from scalestudy.publish.documents.artifact import artifact_view
from scalestudy.publish.tables.verified import verified_table_view
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.publish.typeset import missing_tex
from scalestudy.registry.tables import NAMES
from test_before_after import Made
from test_latex_documents import drawn, pdf_of, write_documents, write_results  # noqa: F401
from test_paper import draw_figures, words_of

pytestmark = pytest.mark.skipif(bool(missing_tex()), reason=missing_tex())


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tables of a study with names of 60 characters, tables of tried advice and of links, and two figures."""
    folder = tmp_path_factory.mktemp("rich")
    plan, results = recorded(mixed(LONG, WITHOUT_BREAKS, study=WITHOUT_BREAKS))
    write_results(folder, plan, results)
    assert main(["stage", "tables", f"--results={folder}"]) == 0
    view = artifact_view(plan, results, printed_of(plan, results), book=book_of(plan, results), command="")
    (folder / "artifact_description.tex").write_text(render(DIRECTORY / "artifact_description.tex", **view))
    small: dict[str, Any] = mixed("mlp", "other", study="small", scales=["1x2"])
    made = Made(small, predicted=Interval(2.0, 1.9, 2.1))
    assert made.file is not None
    tried = verified_table_view(made.plan, made.results.summary, book_of(made.plan, made.results), made.file)
    (folder / "tables" / "verification.tex").write_text(render(DIRECTORY / "verification_table.tex", **tried))
    (folder / "figures").mkdir()
    draw_figures(small, "ieee", folder / "figures")
    return folder


QUICK = ("IEEEtran, two columns",)
"""Layouts of the short form; test_paper.py has an article in one column. The others take a minute more."""


@pytest.mark.parametrize(
    "layout", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in LAYOUTS]
)
def test_nothing_is_too_wide_or_too_high_in_any_paper(rich: Path, layout: str) -> None:
    figures = ("throughput", "speedup_efficiency")
    body = body_of([*NAMES, "verification"], figures)
    log = compiled(rich, LAYOUTS[layout], body, passes=1)
    assert complaints(log) == []
    words = words_of(rich / "paper.pdf")
    for table in ("Scaling of study", "Peak memory per rank", "Where study", "Links between", "Advice of study"):
        assert table.lower() in words.lower(), table
    assert words.count("OOM") > 5
    assert "The time to make the tables, figures" in words, "the artifact description"


def test_a_wide_table_has_panels_only_where_it_does_not_fit(rich: Path) -> None:
    pages = {}
    for paper in ("{article}", "[landscape]{article}\n\\setlength{\\textwidth}{680pt}"):
        compiled(rich, paper, body_of(["summary_table"], appendix=False), passes=1)
        pages[paper] = words_of(rich / "paper.pdf")
    narrow, wide = pages.values()
    assert narrow.count("Nodes") > wide.count("Nodes") > 0, "the places of measurement are in every panel"
    for column in ("Speedup", "p95", "Samples"):
        assert column in narrow and column in wide


@pytest.mark.slow
@pytest.mark.parametrize("study", STUDIES)
def test_nothing_is_too_wide_for_a_ready_study(study: str, tmp_path: Path, drawn: Path) -> None:  # noqa: F811
    plan, results = recorded(STUDIES[study])
    write_documents(tmp_path, drawn, plan, results)
    for name in ("report", "proposal"):
        pdf_of(tmp_path, name)
        assert complaints((tmp_path / f"{name}.log").read_text(encoding="utf-8", errors="replace")) == []
    figures = sorted(figure.stem for figure in (tmp_path / "figures").glob("*.pdf"))
    found = {}
    for layout, document_class in LAYOUTS.items():
        body = body_of(NAMES, figures)
        found[layout] = complaints(compiled(tmp_path, document_class, body))
    assert found == {layout: [] for layout in LAYOUTS}
    assert re.search(r"[1-9]", words_of(tmp_path / "paper.pdf"))
