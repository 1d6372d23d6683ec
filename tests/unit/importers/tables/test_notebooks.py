"""Jupyter notebooks: tables of markdown, of printed outputs, and of lists in the code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scalestudy.diagnose.audit import audit_file
from scalestudy.errors import UserError
from scalestudy.importers.reading import read_published
from scalestudy.importers.tables import MOST_BYTES
from test_more_printed_habits import kinds
from test_printed_habits import ONCE, RATES, TIMES, audited, speedups, table

N = ("1", "2", "4")
MARKDOWN = table("GPUs;s/epoch", *(f"{n};{time}" for n, time in zip(N, TIMES, strict=True)))
FRAME = "   gpus  images_per_s\n0     1           410\n1     2           779\n2     4          1435"
HTML = "<table><tr><th></th><th>gpus</th><th>img/s</th></tr>" + "".join(
    f"<tr><th>{at}</th><td>{n}</td><td>{rate}</td></tr>" for at, (n, rate) in enumerate(zip(N, RATES, strict=True))
)
PRINTED = "".join(f"workers={n} time={time}s\n" for n, time in zip(N, TIMES, strict=True))


def markdown(source: str | list[str]) -> dict[str, object]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def code(source: str, *outputs: dict[str, object]) -> dict[str, object]:
    return {
        "cell_type": "code",
        "execution_count": 3,
        "metadata": {},
        "source": source.splitlines(keepends=True),
        "outputs": list(outputs),
    }


def stream(text: str | list[str], name: str = "stdout") -> dict[str, object]:
    return {"output_type": "stream", "name": name, "text": text}


def shown(**data: str | list[str]) -> dict[str, object]:
    names = {"plain": "text/plain", "html": "text/html", "png": "image/png"}
    return {
        "output_type": "execute_result",
        "execution_count": 3,
        "metadata": {},
        "data": {names[name]: text for name, text in data.items()},
    }


def notebook(*cells: dict[str, object]) -> str:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


OF_OLD_FORMAT = json.dumps(
    {
        "nbformat": 3,
        "worksheets": [
            {
                "cells": [
                    {"cell_type": "heading", "level": 2, "source": ["Results"]},
                    {"cell_type": "code", "input": ["df"], "outputs": [{"output_type": "pyout", "text": [FRAME]}]},
                ]
            }
        ],
    }
)
ONE_TABLE = {
    "markdown-in-lines": notebook(
        markdown(MARKDOWN.splitlines(keepends=True)), code("df.plot()", shown(png="iVB"))
    ),
    "markdown-in-one-string": notebook(markdown("# Speed"), markdown(MARKDOWN)),
    "frame": notebook(
        markdown("# Speed, measured twice"), code("df", shown(plain=FRAME.splitlines(keepends=True)))
    ),
    "plain-text-before-html": notebook(code("df", shown(html=HTML.replace("410", "9"), plain=FRAME))),
    "html-of-an-object": notebook(code("df.style", shown(plain="<pandas.Styler at 0x7f1c9>", html=HTML))),
    "html-of-a-frame-that-is-cut": notebook(
        code("df", shown(plain="   gpus  ...  img/s\n0  1  ...  410", html=HTML))
    ),
    "printed": notebook(markdown("Before.\n\nMore."), code("main()", stream(PRINTED.splitlines(keepends=True)))),
    "printed-in-pieces": notebook(code("main()", *map(stream, PRINTED.splitlines(keepends=True)))),
    "written-over": notebook(code("main()", stream(PRINTED.replace("workers", "0%\r50%\r\x1b[32mworkers")))),
    "a-cell-for-each-size": notebook(
        *(
            code(f"run({n})", stream(f"GPUs: {n}, throughput: {rate} img/s\n"))
            for n, rate in zip(N, RATES, strict=True)
        )
    ),
    "lists-of-the-code": notebook(
        code("gpus = [1, 2, 4]\nimages_per_s = [410, 779, 1435]\nplt.plot(gpus, images_per_s)", shown(png="iVB"))
    ),
    "old-format": OF_OLD_FORMAT,
}


@pytest.mark.parametrize("text", ONE_TABLE.values(), ids=ONE_TABLE)
def test_a_table_of_a_notebook(tmp_path: Path, text: str) -> None:
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE
    assert not found.remarks


def test_tables_of_several_forms_are_read_in_their_order(tmp_path: Path) -> None:
    """A list beside a table in markdown is left alone in other texts. An output is a text of its own."""
    slow = PRINTED.replace("52.6", "80")
    text = notebook(markdown(f"# A\n\n{MARKDOWN}"), code("df", shown(plain=FRAME)), code("main()", stream(slow)))
    found = audited(tmp_path, text)
    assert [speedups(one) for one in found] == [ONCE, ONCE, [(1, 1.0), (2, 1.25), (4, 3.5)]]
    assert [one.case.split()[1] for one in found] == ["3", "9", "14"]


def test_lines_are_those_of_markdown_and_outputs(tmp_path: Path) -> None:
    text = notebook(markdown("# Speed"), code("a = 1\nb = 2\ndf", shown(plain=FRAME)))
    path = tmp_path / "speed.ipynb"
    path.write_text(text, encoding="utf-8")
    (read,) = read_published(path).tables
    assert (read.line, [row.line for row in read.rows]) == (3, [4, 5, 6])


def test_a_wrong_ratio_of_a_notebook_is_named(tmp_path: Path) -> None:
    wrong = table("GPUs;img/s;speedup", "1;410;1.0", "2;779;1.9", "4;1435;4.5")
    assert kinds(audited(tmp_path, notebook(markdown(wrong)))) == ["speedup"]


def test_errors_and_sources_of_a_notebook_are_no_tables(tmp_path: Path) -> None:
    failed = {"output_type": "error", "ename": "E", "evalue": PRINTED, "traceback": PRINTED.splitlines()}
    path = tmp_path / "failed.ipynb"
    path.write_text(notebook(markdown("# Speed"), code(PRINTED, failed)), encoding="utf-8")
    with pytest.raises(UserError, match="its columns are # Speed;"):
        read_published(path)


@pytest.mark.parametrize(
    "cells", [[3], [{"cell_type": 4}], [{"cell_type": "code", "outputs": [1, {"data": 2}, {"text": [None]}]}]]
)
def test_odd_cells_raise_no_other_error(tmp_path: Path, cells: list[object]) -> None:
    path = tmp_path / "odd.ipynb"
    path.write_text(json.dumps({"cells": cells, "nbformat": 4}), encoding="utf-8")
    with pytest.raises(UserError):
        read_published(path)


def test_records_with_types_of_cells_are_no_notebook(tmp_path: Path) -> None:
    """A simulation of batteries or of tissue has cells too."""
    records = [{"cell_type": "neuron", "gpus": int(n), "time_s": float(t)} for n, t in zip(N, TIMES, strict=True)]
    (found,) = audited(tmp_path, json.dumps({"cells": records}))
    assert speedups(found) == ONCE


def test_a_notebook_that_is_cut_off_is_a_text(tmp_path: Path) -> None:
    path = tmp_path / "cut.ipynb"
    path.write_text(notebook(markdown(MARKDOWN))[:-20], encoding="utf-8")
    with pytest.raises(UserError):
        audit_file(read_published(path), "cut")


def test_a_notebook_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large.ipynb"
    path.write_text(notebook(markdown(MARKDOWN), code("plot()", shown(png="A" * MOST_BYTES))), encoding="utf-8")
    with pytest.raises(UserError, match="larger than 16 MiB"):
        read_published(path)
