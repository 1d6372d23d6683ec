"""Columns of numbers in our documents: every character is where siunitx sets it."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from scalestudy.publish.numbers.rounding import table_format
from scalestudy.publish.templates import DIRECTORY, number, render
from scalestudy.publish.typeset import missing_tex
from test_paper import mixed_study, write_fragments

pytestmark = pytest.mark.skipif(bool(missing_tex()), reason=missing_tex())

COLUMNS = render(DIRECTORY / "number_columns.tex")
TEXTS = ["OOM", "--", "<0.1", "1.28 G", ""]
Placed = list[tuple[int, str, tuple[float, ...]]]


def placed(pdf: Path) -> Placed:
    """Page, character and box of every character, in 1/100 pt."""
    found = []
    for index, page in enumerate(pypdfium2.PdfDocument(pdf)):
        text = page.get_textpage()
        for place, character in enumerate(text.get_text_range()):
            found.append((index, character, tuple(round(edge, 2) for edge in text.get_charbox(place))))
    return found


def both_ways(folder: Path, body: str) -> tuple[Placed, Placed]:
    """The characters of a document with our columns, and with those of siunitx."""
    made = []
    for columns in (COLUMNS, ""):
        (folder / "paper.tex").write_text(
            "\\documentclass[10pt]{article}\n\\usepackage[T1]{fontenc}\n\\usepackage{lmodern}\n"
            "\\usepackage[margin=5mm]{geometry}\n\\usepackage{array,booktabs,siunitx}\n"
            f"{columns}\\begin{{document}}\n{body}\n\\end{{document}}\n"
        )
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
        assert result.returncode == 0, result.stdout[-3000:]
        made.append(placed(folder / "paper.pdf"))
    return made[0], made[1]


def table(columns: list[list[str]]) -> str:
    formats = "".join(f"S[table-format={table_format(cells)}]" for cells in columns)
    head = " & ".join(f"{{Over {index}}}" for index in range(len(columns)))
    rows = "\\\\\n".join(
        " & ".join(number(cell) if cell else cell for cell in row) for row in zip(*columns, strict=True)
    )
    return f"\\begin{{tabular}}{{{formats}@{{}}}}\n{head} \\\\\n{rows} \\\\\n\\end{{tabular}}"


def drawn(draw: random.Random, whole: int, decimals: int, sign: str) -> str:
    """A number with up to `whole` digits before its point and `decimals` after it, or one of TEXTS."""
    if draw.random() < 0.2:
        return draw.choice(TEXTS)
    behind = "".join(draw.choices("0123456789", k=draw.randint(0, decimals)))
    return draw.choice(["", sign]) + str(draw.randrange(10 ** draw.randint(1, whole))) + (behind and f".{behind}")


def test_numbers_of_any_length_are_where_siunitx_sets_them(tmp_path: Path) -> None:
    draw = random.Random(0)
    tables = [
        f"{{\\{size}\n{table([[drawn(draw, *digits) for _ in range(12)] for _ in range(3)])}}}"
        for size in ("footnotesize", "normalsize")
        for digits in ((1, 0, ""), (2, 3, "-"), (4, 4, ""), (7, 0, "-"), (1, 8, ""), (12, 6, "-"))
    ]
    ours, theirs = both_ways(tmp_path, "\n\n".join(tables))
    assert sum(character.isdigit() for _, character, _ in theirs) > 1000
    assert any(character == "\N{MINUS SIGN}" for _, character, _ in theirs)
    assert ours == theirs


@pytest.mark.slow
@pytest.mark.parametrize("paper", ["ieee", "article"])
def test_every_table_is_as_siunitx_sets_it(content: dict[str, Any], tmp_path: Path, paper: str) -> None:
    """Limits beside numbers and under them, panels, and failures in the place of numbers."""
    plan, runs = mixed_study(content | {"report": {"paper": paper}})
    names = write_fragments(tmp_path, plan, runs)
    ours, theirs = both_ways(tmp_path, "\n".join(f"\\input{{tables/{name}}}\\clearpage" for name in names))
    assert "OOM" in "".join(character for _, character, _ in theirs)
    assert ours == theirs


def test_columns_with_other_options_are_left_to_siunitx(tmp_path: Path) -> None:
    """An author's own table beside ours: uncertainties, rounding, a format without decimals, and none at all."""
    cells = {
        "S[table-format=2.2(2)]": "1.25(3)",
        "S[table-format=1.2e1]": "1.25e3",
        "S[table-format=3]": "123",
        "S[round-mode=places, round-precision=1, table-format=2.1]": "1.2345",
        "S": "1.5",
    }
    tables = [f"\\begin{{tabular}}{{{c}}} {{head}} \\\\ {v} \\\\ \\end{{tabular}}" for c, v in cells.items()]
    ours, theirs = both_ways(tmp_path, "\n\n".join(tables))
    assert ours == theirs
