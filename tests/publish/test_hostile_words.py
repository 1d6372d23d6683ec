"""A hundred and more hostile texts, as names of devices and variables, and as reasons: text in every document.

Each is between two marks of its own, so that it can be found as a whole in the PDF, on the page and in the CSV.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from browser import Page
from hostile_texts import HOSTILE
from scalestudy.analyse.study.environment import StudyEnvironment, WarningCount
from scalestudy.cli.main import main
from scalestudy.publish.cells import csv_text, without_apostrophes
from scalestudy.publish.templates import DIRECTORY, breakable, code, latex, prose, render
from scalestudy.publish.visible import visible
from scalestudy.registry.results import RESULTS
from test_documents import facts_of, page_of
from test_latex_documents import measured, needs_tex
from test_paper import words_of

MARKED = [f"K{number:03d}{text}Q{number:03d}" for number, text in enumerate(HOSTILE)]
FIRST = [f"{text}Q{number:03d}" for number, text in enumerate(HOSTILE)]
"""Without the mark before it: what begins a cell."""
ENVIRONMENT = StudyEnvironment(
    facts={"device": (MARKED[0],), "cpu": (MARKED[1],)}
    | {f"variable V{number}": (text,) for number, text in enumerate(MARKED)},
    warnings=(WarningCount(kind="busy host", launches=1, example=MARKED[2]),),
)


def test_there_are_enough() -> None:
    assert len(set(HOSTILE)) >= 150


def letters(text: str) -> str:
    """Without spaces, and without signs that a PDF draws by others: quotes and hyphens."""
    return re.sub("[\\s\"'`\u2018\u2019\u201c\u201d\\-\u2010-\u2014\xad\x02\ufffe]", "", text)


def numbered(text: str) -> str:
    """As the other filters have it, which show a line that ends too."""
    return re.sub(r"[^\x20-\x7e\xa1-\xff]", lambda match: f"(U+{ord(match[0]):04X})", text)


def spelled(text: str) -> str:
    """As LaTeX's documents have it: a character that fonts may lack by its number."""
    return re.sub(
        r"[^\x20-\x7e\xa1-\xff]", lambda match: f"(U+{ord(match[0]):04X})", re.sub(r"\s*[\n\t]\s*", " ", text)
    )


@needs_tex
@pytest.mark.parametrize("escaped", [latex, breakable, prose, code])
def test_a_pdf_holds_them_as_text(tmp_path: Path, escaped: Callable[[str], str]) -> None:
    """All in one document, by each of the ways in which our templates write a text of others."""
    lines = "".join(f"\\noindent {escaped(text)}\\par\n" for text in MARKED)
    head = "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{lmodern}\n\\begin{document}\n"
    (tmp_path / "report.tex").write_text(f"{head}{lines}\\end{{document}}\n", encoding="utf-8")
    assert main(["stage", "typeset", f"{tmp_path}/report.tex"]) == 0
    said = letters(words_of(tmp_path / "report.pdf"))
    assert [
        text for text in MARKED if letters(spelled(text)) not in said and letters(numbered(text)) not in said
    ] == []
    assert "root:" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.log", "report.pdf", "report.tex"]


class Parsed(HTMLParser):
    """Tags and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {str(value) for name, value in attrs if name in ("href", "src")}

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def hostile_page() -> str:
    plan, results = measured(ENVIRONMENT, description=" ".join(MARKED[:30]))
    return page_of(plan, results)


def test_a_page_holds_them_as_text() -> None:
    page = hostile_page()
    parsed = Parsed(page)
    said = " ".join("".join(parsed.text).split())
    assert [text for text in MARKED if " ".join(visible(text).split()) not in said] == []
    assert visible(page) == page
    assert not parsed.tags & {"iframe", "base", "form", "object", "plaintext", "link", "svg"}
    assert not [name for name in parsed.attributes if name.startswith("on") or name == "style"]
    assert all(link.startswith(("#", "data:")) for link in parsed.links)


def test_a_browser_runs_and_fetches_nothing_of_them(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(hostile_page(), encoding="utf-8")
    page.open(path)
    assert page.problems == []
    assert {url for url in page.requests if not url.startswith("data:")} == {path.as_uri()}
    assert page.get("document.scripts.length") == page.get("document.querySelectorAll('style').length") == 1
    assert page.get("document.title") == "Scaling study small"


def test_a_table_and_the_terminal_hold_them_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, results = measured(ENVIRONMENT)
    runs = results.runs.iloc[[0] * len(FIRST)].assign(reason=FIRST)
    text = csv_text(runs)
    (tmp_path / RESULTS["runs"]).write_text(text, encoding="utf-8", newline="")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(rows) == len(FIRST)
    assert [row["reason"] for row in rows if row["reason"].startswith(("=", "+", "-", "@"))] == []
    read = without_apostrophes(pd.DataFrame(rows))
    assert list(read["reason"]) == [visible(given) for given in FIRST]
    assert main(["plan", "--study", *(f"{text}.yaml" for text in FIRST if "\0" not in text)]) == 2
    said = capsys.readouterr().err
    assert visible(said) == said


def test_a_text_report_holds_them_as_text() -> None:
    plan, results = measured(ENVIRONMENT, description=" ".join(MARKED[:60]))
    runs = results.runs.assign(reason=[MARKED[index % len(MARKED)] for index in range(len(results.runs))])
    text = render(DIRECTORY / "performance_report.txt", **facts_of(plan, results.summary, runs))
    assert visible(text) == text
    assert max(map(len, text.splitlines())) <= 320, "of words that have no place to be broken at"
    said = "".join(text.split())
    assert [word for word in MARKED[:60] if "".join(visible(word).split()) not in said] == []
