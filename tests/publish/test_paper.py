"""A paper that inputs what leaves the house: compiled in three classes, and its pages read again."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from builders import results_of, study_of
from scalestudy.publish.ledger import make_numbers
from scalestudy.publish.numbers_tex import numbers_view
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.study.load import parse_study
from scalestudy.study.plan import Plan, make_plan

PAPER = Path(__file__).parent / "paper" / "paper.tex"
TIMES = {
    ("mlp", 1, 32): [0.0100, 0.0102],
    ("mlp", 1, 16): [0.0060, 0.0061],
    ("mlp", 2, 16): [0.0070, 0.0073],
    ("mlp", 2, 32): [0.0110, 0.0112],
}
CLASSES = {
    "article": "{article}",
    "IEEEtran": "[conference]{IEEEtran}",
    "acmart": "[sigconf,nonacm]{acmart}",
}

pytestmark = pytest.mark.skipif(
    shutil.which("pdflatex") is None,
    reason="no pdflatex; apt-get install texlive-latex-extra texlive-science texlive-publishers",
)


@pytest.fixture
def plan(content: dict[str, Any]) -> Plan:
    return make_plan(parse_study(content, source="x"))


@pytest.fixture
def numbers(plan: Plan) -> dict[str, Any]:
    """Of a study, and a number below zero."""
    made = make_numbers(plan, results_of(plan, study_of(plan, TIMES)))
    below = made["numbers"]["mlp.ddp.strong.n2.speedup"] | {"shown": ["-0.51", "-0.60", "-0.42"]}
    return made | {"numbers": made["numbers"] | {"mlp.ddp.strong.n2.negative": below}}


def numbers_tex(numbers: dict[str, Any]) -> str:
    return render(DIRECTORY / "numbers.tex", **numbers_view(numbers))


def compile_paper(
    folder: Path, numbers: dict[str, Any], *, document_class: str, body: str | None = None, passes: int = 2
) -> tuple[int, str]:
    """(exit status, log) of the sample paper, or of one with another body."""
    text = PAPER.read_text(encoding="utf-8").replace("CLASS", document_class).replace("FRAGMENTS", "")
    if body is not None:
        begin, end = text.index("\\title"), text.index("\\end{document}")
        text = text[:begin] + body + text[end:]
    (folder / "paper.tex").write_text(text, encoding="utf-8")
    (folder / "numbers.tex").write_text(numbers_tex(numbers), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    for _ in range(passes):  # the second has the table of contents
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
        if result.returncode:
            break
    return result.returncode, result.stdout


def words_of(pdf: Path) -> str:
    """The text of all pages, spaces and lines as one space."""
    document = pypdfium2.PdfDocument(pdf)
    return re.sub(r"\s+", " ", " ".join(page.get_textpage().get_text_range() for page in document))


def printed(numbers: dict[str, Any], key: str) -> list[str]:
    return numbers["numbers"][f"mlp.{key}"]["shown"]


@pytest.mark.parametrize("document_class", CLASSES.values(), ids=list(CLASSES))
def test_numbers_are_printed_wherever_a_paper_has_them(
    numbers: dict[str, Any], tmp_path: Path, document_class: str
) -> None:
    status, log = compile_paper(tmp_path, numbers, document_class=document_class)
    assert status == 0, log[-3000:]
    assert "Overfull" not in log
    words = words_of(tmp_path / "paper.pdf")
    step, speedup = printed(numbers, "ddp.strong.n2.step_time_ms"), printed(numbers, "ddp.strong.n2.speedup")
    assert f"STEP {step[0]} ms [{step[1]}, {step[2]}] END" in words
    assert "ONE 1.00 no interval END" in words
    assert "MINUS \u22120.51 \u22120.51 END" in words
    assert f"EDEF {speedup[0]} END" in words
    # The title, the heading and the heading in the table of contents; acmart's headings are in capitals.
    assert len(re.findall(rf"speedup of {speedup[0]} \[", words, re.IGNORECASE)) == 2
    assert f"How it scales: {speedup[0]} on two ranks" in words
    assert f"Throughput of {printed(numbers, 'ddp.strong.n2.throughput_samples_per_s')[0]} samples/s" in words
    bookmarks = [item.get_title() for item in pypdfium2.PdfDocument(tmp_path / "paper.pdf").get_toc()]
    assert any(f"speedup of {speedup[0]} [" in title for title in bookmarks), bookmarks


def test_an_unknown_key_is_an_error_that_names_it(numbers: dict[str, Any], tmp_path: Path) -> None:
    status, log = compile_paper(
        tmp_path, numbers, document_class="{article}", body="\\scalenum{mlp.ddp.n3.speedup}"
    )
    assert status != 0
    assert "no number 'mlp.ddp.n3.speedup'" in " ".join(log.split())


def test_two_studies_need_a_prefix_each(numbers: dict[str, Any], tmp_path: Path) -> None:
    other = {key: number | {"shown": ["7.77"]} for key, number in numbers["numbers"].items()}
    (tmp_path / "other.tex").write_text(numbers_tex(numbers | {"numbers": other}), encoding="utf-8")
    twice = "\\input{numbers}\\input{other}\\scalenum{mlp.ddp.strong.n2.speedup}"
    status, log = compile_paper(tmp_path, numbers, document_class="{article}", body=twice, passes=1)
    assert status != 0
    assert "has two values" in log
    apart = twice.replace("\\input{other}", "\\def\\scalestudyprefix{b.}\\input{other}")
    body = f"{apart} and \\scalenum{{b.mlp.ddp.strong.n2.speedup}}"
    status, log = compile_paper(tmp_path, numbers, document_class="{article}", body=body, passes=1)
    assert status == 0, log[-3000:]
    assert f"{printed(numbers, 'ddp.strong.n2.speedup')[0]} and 7.77" in words_of(tmp_path / "paper.pdf")
