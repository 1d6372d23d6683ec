"""The samples of README.md: written by site/samples.py from a finished study, and consistent with one another."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"<!-- sample: (\w+) -->\n(.*?)<!-- end of sample -->", README, flags=re.DOTALL))
DESCRIPTION = "{http://purl.org/dc/elements/1.1/}description"
FIRST_SCREEN = 25
"""Lines of a first screen."""


def rows() -> list[dict[str, str]]:
    """The rows of the table."""
    head, _, *lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in BLOCKS["table"].splitlines()]
    return [dict(zip(head, line, strict=True)) for line in lines]


def test_the_first_screen_is_a_question_a_command_a_figure_and_an_answer() -> None:
    first = "\n".join(README.splitlines()[:FIRST_SCREEN])
    order = [
        r"^\*\*.*\?\*\*$",
        r"^    scalestudy run ",
        r"^!\[.+\]\(docs/images/.+\.svg\)$",
        r"^> .*interval.*\.$",
    ]
    places = [[found.start() for found in re.finditer(pattern, first, flags=re.M)] for pattern in order]
    assert [len(found) for found in places] == [1, 1, 1, 1]
    assert places == sorted(places)


def test_the_text_around_the_samples_has_no_measured_number() -> None:
    text = re.sub(r"<!-- sample: .*?<!-- end of sample -->", "", README, flags=re.DOTALL)
    prose = re.sub(r"`[^`]*`|^    .*", "", text, flags=re.MULTILINE)
    assert re.findall(r"\d+(?:\.\d+)? ?(?:%|ms|times)|\[\d[\d.]*, \d[\d.]*\]", prose) == []


def test_sentence_summary_table_and_figure_are_of_one_study() -> None:
    measured = [row for row in rows() if row["scaling"] != "baseline"]
    assert len(measured) >= 3
    summary = " ".join(BLOCKS["summary"].split())
    for row in measured:
        line = f"{row['workload']} ddp {row['scaling']} on {row['ranks']} ranks"
        assert re.search(rf"{line}: [\w ]+, speedup {re.escape(row['speedup'])}", summary), line
    said = re.search(r"train (\S+) .*?([\d.]+) times .*?([\d.]+) to ([\d.]+)", BLOCKS["answer"])
    assert said
    assert (said[1], f"{said[2]} [{said[3]}, {said[4]}]") in {
        (row["workload"], row["speedup"]) for row in measured
    }
    assert BLOCKS["answer"].removeprefix("> ").strip() in BLOCKS["answers"]


def test_the_recording_is_of_the_same_study() -> None:
    """The numbers of its last screen are in the summary. Lines are divided at other places."""
    if not BLOCKS["recording"].strip():
        pytest.skip("there is no recording; `make cast samples` makes one")
    described = ElementTree.parse(ROOT / "docs/images/run.svg").find("{http://www.w3.org/2000/svg}desc")
    assert described is not None and described.text
    screen, summary = ("".join(text.split()) for text in (described.text, BLOCKS["summary"]))
    speedups = set(re.findall(r"speedup[\d.]+\[[\d.]+,[\d.]+\]", screen))
    assert speedups and all(speedup in summary for speedup in speedups)


def test_the_picture_of_the_figure_is_described_as_in_its_file() -> None:
    found = re.search(r"!\[(.+)\]\((docs/images/.+\.svg)\)", BLOCKS["figure"])
    assert found
    described = ElementTree.parse(ROOT / found[2]).find(f".//{DESCRIPTION}")
    assert described is not None
    assert described.text == found[1]
