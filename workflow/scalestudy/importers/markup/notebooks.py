"""Reads Jupyter notebooks as the text that they show: markdown, and the outputs of code. Nothing is executed."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scalestudy.importers.markup.aligned import table_names_devices
from scalestudy.importers.markup.arrays import array_tables
from scalestudy.importers.raw import RawTable

_MARK = '"cell_type"'
"""What every cell has."""
_KINDS = ("code", "markdown", "raw", "heading")
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
"""Codes that colour a terminal."""
_CUT = re.compile(r"(?:^|[ \t])\.\.\.(?:[ \t]|$)|[ \t]\\[ \t]*$", re.MULTILINE)
"""Rows or columns that are left out of a printed table, or columns that are printed below the others."""
_OBJECT = re.compile(r"\s*<[\w. ]+(?: at 0x[0-9a-fA-F]+)?>\s*")
"""The name of an object, which is no text of it: <pandas.io.formats.style.Styler at 0x7f2c>."""


@dataclass(frozen=True)
class _Part:
    """A cell of markdown, or an output of a cell with code."""

    text: str
    of_output: bool


@dataclass(frozen=True)
class Notebook:
    """What a notebook shows, in its order, and its code."""

    parts: tuple[_Part, ...]
    code: str

    def text(self, without: Collection[int] = ()) -> str:
        """Return the text of all parts, with an empty line between two. without: places of parts left empty."""
        lengths = [len(part.text.splitlines()) for part in self.parts]
        return "\n\n".join(
            "\n" * (lengths[place] - 1) if place in without else part.text for place, part in enumerate(self.parts)
        )

    def places(self, tables: list[RawTable]) -> list[int | None]:
        """Return the place of the part in which each table is; None for a table with lines of several parts."""
        starts, line = [], 1
        for part in self.parts:
            starts.append(line)
            line += len(part.text.splitlines()) + 1
        ends = [(bisect_right(starts, min(one.lines)), bisect_right(starts, max(one.lines))) for one in tables]
        return [first - 1 if first == last else None for first, last in ends]


def may_be_notebook(text: str) -> bool:
    """Return whether the beginning of a text is that of JSON with cells."""
    return _MARK in text and text.lstrip().startswith("{")


def notebook_in(text: str) -> Notebook | None:
    """Return the notebook that a text is in JSON; None for any other text. Only texts are read, no images."""
    if not may_be_notebook(text):
        return None
    try:
        cells = _cells(json.loads(text))
    except (ValueError, RecursionError):
        return None
    if not cells or not all(isinstance(cell, dict) and cell.get("cell_type") in _KINDS for cell in cells):
        return None
    parts = [part for cell in cells for part in _parts(cell) if part.text.strip()]
    code = [_joined(cell.get("source", cell.get("input"))) for cell in cells if cell["cell_type"] == "code"]
    return Notebook(tuple(parts), "\n\n".join(code))


def tables_of_notebook(notebook: Notebook, read: Callable[[str], list[RawTable]]) -> list[RawTable]:
    """Return the tables of a notebook. read: returns those of a text.

    Lines are counted in the markdown and the outputs, with an empty line between two. A text with one form of
    tables is not searched for others, so outputs are also read without the parts that have a table. If no table
    has devices, the lists in the code are read; their lines are counted in the code.
    """
    found = read(notebook.text())
    used = {place for place in notebook.places(found) if place is not None}
    if used:
        others = read(notebook.text(without=used))
        of_outputs = {place for place, part in enumerate(notebook.parts) if part.of_output} - used
        within = zip(others, notebook.places(others), strict=True)
        found += [table for table, place in within if place in of_outputs and table_names_devices(table)]
    if not any(map(table_names_devices, found)):
        found += array_tables(notebook.code.splitlines())
    return sorted(found, key=lambda table: table.line)


def _cells(content: Any) -> list[Any]:
    """The cells of a notebook. Before version 4 of the format they were in worksheets."""
    if not isinstance(content, dict):
        return []
    sheets = content.get("worksheets")
    inner = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)] if isinstance(sheets, list) else []
    return [cell for cells in (content.get("cells"), *inner) if isinstance(cells, list) for cell in cells]


def _parts(cell: Mapping[str, Any]) -> Iterator[_Part]:
    """What a cell shows: its markdown or its outputs. What a program prints in several pieces is one part."""
    if cell["cell_type"] in ("markdown", "heading"):
        sign = "# " if cell["cell_type"] == "heading" else ""
        yield _Part((sign + _joined(cell.get("source"))).rstrip("\n"), of_output=False)
    outputs = cell.get("outputs") if cell["cell_type"] == "code" else None
    printed, stream = "", None
    for output in outputs if isinstance(outputs, list) else ():
        if not isinstance(output, dict):
            continue
        kind = (output.get("output_type"), output.get("name", output.get("stream")))
        if kind != stream:
            yield _Part(_as_shown(printed), of_output=True)
            printed = ""
        printed += _shown(output)
        stream = kind if kind[0] == "stream" else None
    yield _Part(_as_shown(printed), of_output=True)


def _shown(output: Mapping[str, Any]) -> str:
    """The text of an output: the plain one, unless it is cut or names an object only."""
    data = output.get("data", output)
    if not isinstance(data, dict):
        return ""
    plain = _joined(data.get("text/plain", data.get("text")))
    if plain and not _CUT.search(plain) and not _OBJECT.fullmatch(plain):
        return plain
    others = (data.get("text/markdown"), data.get("text/html", data.get("html")))
    return next((text for text in map(_joined, others) if text), plain)


def _as_shown(text: str) -> str:
    """A printed text without the codes of a terminal, and without what a carriage return writes over."""
    lines = _ESCAPES.sub("", text).split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines).rstrip("\n")


def _joined(text: object) -> str:
    """The text of JSON that is one string or a list of lines."""
    lines = text if isinstance(text, list) else [text]
    return "".join(line for line in lines if isinstance(line, str))
