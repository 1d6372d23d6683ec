"""What others wrote is shown as text: on the terminal, in reports, and in cells that a spreadsheet opens."""

from __future__ import annotations

import io
import unicodedata
from pathlib import Path

import pandas as pd
import pytest
from scalestudy.cli.main import main
from scalestudy.publish.cells import csv_text, without_apostrophes
from scalestudy.publish.templates import breakable, render
from scalestudy.publish.visible import visible

KEPT = "\n\t\N{SOFT HYPHEN}\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
"""A line and a column that are meant; and what words of Persian, Hindi and emoji are written with."""
ARABIC_SIGNS = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
"""Of the category of format characters, but printed."""


def test_no_character_that_commands_a_terminal_or_hides_text_is_left() -> None:
    for number in range(0x110000):
        character = chr(number)
        kind = unicodedata.category(character)
        if number < 0x3000 and kind in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in KEPT + ARABIC_SIGNS:
            assert visible(f"a{character}b") not in (f"a{character}b", "ab"), hex(number)
        if kind[0] in "LMNPS" or character in KEPT:
            assert visible(character) == character, hex(number)
    assert visible("\x1b[31mred\u202eder\ud800\U000e0041") == "\\x1b[31mred\\u202eder\\ud800\\U000e0041"


@pytest.mark.parametrize("name", ["report.txt", "page.html"])
def test_documents_show_them(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{{ said }}{{ ('<b>' ~ said) | safe }}")
    assert render(tmp_path / name, said="a\x1b]0;x\x07\u2066b\n") == (
        "a\\x1b]0;x\\x07\\u2066b\n<b>a\\x1b]0;x\\x07\\u2066b\n"
    )


def test_a_line_that_ends_is_no_sign_in_latex() -> None:
    assert breakable("one\ntwo\tthree") == "one two three"


def test_a_terminal_is_told_nothing_by_a_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--study", str(tmp_path / "no\x1b[2Jth\u202eing.yaml")]) == 2
    error = capsys.readouterr().err
    assert "no\\x1b[2Jth\\u202eing.yaml: no such study file" in error
    assert "\x1b" not in error


def test_no_cell_is_a_formula_and_all_come_back() -> None:
    texts = [
        "=1+1",
        "+cmd|' /C calc'!A0",
        "-2+3",
        "@SUM(A1)",
        "'=quoted",
        "''+x",
        "'plain",
        "-1.5",
        "plain",
        "a\x1bb",
    ]
    frame = pd.DataFrame({"text": [*texts, None], "number": [-1.0] * 11})
    written = csv_text(frame)
    cells = pd.read_csv(io.StringIO(written), dtype=str)["text"]
    assert [cell for cell in cells if str(cell).startswith(("=", "+", "-", "@"))] == ["-1.5"]
    read = without_apostrophes(pd.read_csv(io.StringIO(written)))
    assert list(read["text"])[:-1] == [*texts[:-1], "a\\x1bb"]
    assert list(read["number"]) == [-1.0] * 11
