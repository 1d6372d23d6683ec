"""Numbers in tables stand with their points below each other, as siunitx would have set them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pypdfium2
import pytest
from scalestudy.publish.numbers.rounding import table_format
from scalestudy.publish.templates import number
from scalestudy.publish.typeset import missing_tex

COLUMNS = (
    ("12.3", "1.25", "200", "7", "oom"),
    ("-1", "0.25", "-13.75", "--", "3"),
    ("12345.6", "1234", "99", "100000", "1"),
    ("1234567", "12", "30000.25", "1", "2"),
    ("5", "10", "100", "7", "8"),
    ("0.04324", "1.5", "0.1145912", "3", "--"),
)


@pytest.mark.parametrize(
    ("text", "form", "cell"),
    [
        ("12.3", "3.2", r"$\phantom{0}12.3\phantom{0}$"),
        ("-1", "-3.2", r"$\phantom{00}{-}1\phantom{.00}$"),
        ("1.25", "-3.2", r"$\phantom{{-}00}1.25$"),
        ("1234", "5.1", r"$\phantom{0\,}1234\phantom{.0}$"),
        ("123456", "7.0", r"$\phantom{0\,}123\,456$"),
        ("0.04324", "1.7", r"$0.043\,24\phantom{00\,}$"),
        ("7", "1.0", "$7$"),
        ("oom", "3.2", "oom"),
    ],
)
def test_a_number_is_filled_up_to_its_column(text: str, form: str, cell: str) -> None:
    assert number(text, form) == cell


def tabular(kinds: list[str], cells: list[list[str]]) -> str:
    """A document of one table with a column of each kind; cells by column."""
    rows = [" & ".join(row) + r" \\" for row in zip(*cells, strict=True)]
    return "\n".join(
        [
            r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{lmodern,booktabs,siunitx}\pagestyle{empty}",
            rf"\begin{{document}}\footnotesize\begin{{tabular}}{{{' '.join(kinds)}}}\toprule",
            " & ".join(["{A long header}", *["{x}"] * (len(kinds) - 1)]) + r" \\ \midrule",
            *rows,
            r"\bottomrule\end{tabular}\end{document}",
        ]
    )


def printed(folder: Path, name: str, source: str) -> np.ndarray:
    """The page that LaTeX makes of a document, as grey pixels."""
    (folder / f"{name}.tex").write_text(source, encoding="utf-8")
    subprocess.run(["pdflatex", "-halt-on-error", f"{name}.tex"], cwd=folder, check=True, capture_output=True)
    page = pypdfium2.PdfDocument(folder / f"{name}.pdf")[0]
    return np.asarray(page.render(scale=4).to_pil().convert("L")).astype(int)


@pytest.mark.skipif(bool(missing_tex()), reason=missing_tex())
def test_a_table_looks_as_siunitx_sets_it(tmp_path: Path) -> None:
    forms = [table_format(list(column)) for column in COLUMNS]
    braced = [
        [text if re.fullmatch(r"-?\d+(\.\d+)?", text) else f"{{{text}}}" for text in column] for column in COLUMNS
    ]
    theirs = printed(tmp_path, "theirs", tabular([f"S[table-format={form}]" for form in forms], braced))
    mine = [[number(text, form) for text in column] for column, form in zip(COLUMNS, forms, strict=True)]
    ours = printed(tmp_path, "ours", tabular(["c"] * len(forms), mine))
    assert (ours < 128).sum() > 1000, "nothing is printed"
    assert (abs(ours - theirs) > 40).sum() == 0
