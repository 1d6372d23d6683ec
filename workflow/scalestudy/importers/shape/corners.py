"""Tables whose first header names rows and columns: `Size / Threads`, with a backslash or with arrows too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from scalestudy.importers.counts.cells import DEGREES, read_count
from scalestudy.importers.devices.degrees import is_degree
from scalestudy.importers.devices.templates import OTHER
from scalestudy.importers.headers.meaning import meaning_of, normal
from scalestudy.importers.headers.terms import DEVICE, NODE
from scalestudy.importers.numbers.printed import is_blank, plain, share
from scalestudy.importers.raw import UNSAID, RawTable

_DOWN, _RIGHT = "\u2193\u2b07", "\u2192\u27a1\u00bb"
_CORNER = re.compile(
    rf"(?P<first>[^\\/|]*?[^\W_])\W*?(?:\\+| / |[{_DOWN}{_RIGHT}][\W_]*?|\|)[\W_]*(?P<second>#?[^\W_].*?)\W*"
)
_MOST_LABELS = 3
"""Columns of labels left of numbers that are headers."""
_NUMBER = re.compile(r"[1-9]\d{0,5}")
_OF_SCALING = re.compile(r"\b(?:(?:strong|weak)?[ -]?scaling|parallel(?:ism|ization)?|mpi|openmp|speed-?ups?)\b")
"""Words of what a table of devices shows. The devices of a caption may be those of all columns."""
_OF_PARALLEL = re.compile(rf"\b(?:{DEVICE}|{NODE})\b|{_OF_SCALING.pattern}")
_THREADING = re.compile(r"(?:multi-?)?(?:threading|processing)")


def with_corner(table: RawTable) -> RawTable:
    """Return a table with devices in each header or in the first column, if its first header names both.

    Without arrows, the first name is that of the rows.
    """
    words, others = plain(table.header[0]), [plain(name) for name in table.header[1:]]
    corner = _CORNER.fullmatch(words)
    if len(others) < 2 or not all(map(_NUMBER.fullmatch, others)):
        return table
    if not corner:
        return _with_devices_by_words(table, list(map(int, others)))
    rows, columns = corner["first"], corner["second"]
    if re.search(rf"[{_DOWN}].*[^\W_]", words[len(rows) :]) is None and re.match(rf"[^{_DOWN}]*[{_RIGHT}]", words):
        rows, columns = columns, rows
    of_rows, of_columns = _noun(rows), _noun(columns)
    if bool(of_rows) == bool(of_columns):
        return table
    if of_columns:
        return replace(table, header=(rows, *(f"{number} {of_columns}" for number in others)))
    return replace(table, header=(of_rows, *(f"{columns} {number}" for number in others)))


def with_devices_across(table: RawTable, said: Mapping[str, str]) -> RawTable:
    """Return a table with devices in each of its headers, which are numbers, if the user says so of its first.

    said: header in normal form -> role.
    """
    names = [plain(name) for name in table.header]
    labels = next((at for at, name in enumerate(names) if at and _NUMBER.fullmatch(name)), len(names))
    named = [at for at in range(labels) if said.get(normal(names[at])) in ("gpus", "nodes")]
    numbers = names[labels:]
    if labels > _MOST_LABELS or len(named) != 1 or len(numbers) < 2:
        return table
    if not all(map(_NUMBER.fullmatch, numbers)) or share(table.cells(named[0]), read_count) == 1 < labels:
        return table
    noun = "devices" if said[normal(names[named[0]])] == "gpus" else "nodes"
    first = (names[0] or "name", *table.header[1:labels])
    return replace(table, header=(*first, *(f"{number} {noun}" for number in numbers)))


def _with_devices_by_words(table: RawTable, sizes: list[int]) -> RawTable:
    """The table with devices in each header if words beside growing numbers from 1 are of parallel programs."""
    grow = sizes[0] == 1 and sizes == sorted(set(sizes)) and sizes[-1] > len(sizes) > 2
    first = normal(table.header[0])
    if not grow or OTHER.search(first) or meaning_of(table.header[0]).role in ("gpus", "nodes"):
        return table
    named = [_OF_PARALLEL.search(first), *(_OF_SCALING.search(normal(words)) for words in table.captions)]
    word = next((found[0].strip() for found in named if found), "")
    if not word:
        return table
    note = f"the numbers in headers are read as numbers of devices, by the word '{word}' beside them"
    return _across(table, "devices").noted(note)


def _across(table: RawTable, noun: str) -> RawTable:
    return replace(
        table, header=(table.header[0] or "name", *(f"{plain(name)} {noun}" for name in table.header[1:]))
    )


def with_degrees(table: RawTable) -> RawTable:
    """Return a table of two degrees of parallelism, `TP=2` beside `DP=1 | DP=2`, with a row for each product."""
    corner = _CORNER.fullmatch(plain(table.header[0]))
    kinds = [normal(name) if is_degree(name) else "" for name in corner.groups()] if corner else ["", ""]
    columns = [_degree(name, kinds[1]) for name in table.header[1:]]
    rows = [_degree(cells[0], kinds[0]) for _, cells in table.rows]
    named = [{kind for kind, _ in found} for found in (rows, columns)]
    if (
        len(columns) < 2
        or len(rows) < 2
        or named[0] == named[1]
        or not all(len(one) == 1 and all(one) for one in named)
    ):
        return table
    body = tuple(
        (line, (str(size), str(size * other), cell))
        for (line, cells), (_, size) in zip(table.rows, rows, strict=True)
        for (_, other), cell in zip(columns, cells[1:], strict=False)
        if not is_blank(cell)
    )
    return replace(table, header=(named[0].pop().upper(), "devices", UNSAID), rows=body)


def _degree(words: str, kind: str) -> tuple[str, int]:
    """The kind and the size of a degree of parallelism, `TP=2`, or `2` of a known kind; ('', 0) for others."""
    if kind and _NUMBER.fullmatch(plain(words)):
        return kind, int(plain(words))
    found = DEGREES.fullmatch(plain(words))
    return (found["kind"].lower(), int(found["size"])) if found else ("", 0)


def _noun(words: str) -> str:
    """The devices that a part of the corner names; '' if it names none."""
    name = normal(words)
    if _THREADING.fullmatch(name):
        return "threads" if "thread" in name else "processes"
    if meaning_of(words).role not in ("gpus", "nodes") or name == "n":  # n is the size of a problem
        return ""
    nouns = re.findall(rf"\b(?:{DEVICE}|{NODE})\b", name)
    return nouns[-1] if nouns else "processes"


def has_sizes_across(table: RawTable) -> bool:
    """Return whether numbers as headers are sizes, beside devices in the first column: Threads | 10000 | 20000."""
    headers = [plain(name) for name in table.header[1:]]
    cells = [plain(row[0]) for _, row in table.rows if row]
    if (
        not headers
        or len(cells) < 2
        or not all(re.fullmatch(r"[1-9]\d{0,8}", text) for text in (*headers, *cells))
    ):
        return False
    return len(set(cells)) == len(cells) and max(map(int, cells)) < min(map(int, headers))
