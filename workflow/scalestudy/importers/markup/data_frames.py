"""Reads data frames and series of pandas whose index has a name. Their columns end where the headers end.

Names of the index are below the headers. Labels of all but its last level are printed once for each group:

                 wall_s  efficiency
    machine nodes
    big     1      1204        1.00
            2       618        0.97
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.numbers.printed import is_blank
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.quantities import known_role
from scalestudy.importers.raw import UNSAID, RawTable

LONGEST = 2000
"""Characters of a line that may be one of a table."""
_CELL = re.compile(r"\S+(?: \S+)*")
"""Words with one space between them."""
_NUMBER = re.compile(r"[~(<>$+-]?\.?\d")
_MOST_LEVELS = 3
"""Lines of headers of a data frame."""
_FEWEST = 2
"""Rows of a table."""
_OF_SERIES = re.compile(r"(?:Freq: \S+, )?Name: (?P<name>.+?), (?:Length: \d+, )?dtype: \w+")
"""The last line of a series."""
_ITEM = re.compile(r"(?P<index>.*\S)\s{2,}(?P<value>\S+)")
"""A line of a series."""


@dataclass(frozen=True)
class _Frame:
    """The cells of a data frame."""

    line: int
    index: tuple[str, ...]
    """Names of the levels of its index."""
    levels: tuple[str, ...]
    """Names of the levels of its columns, '' for one without."""
    columns: tuple[tuple[str, ...], ...]
    """The labels of each column, one for each level."""
    rows: tuple[tuple[int, tuple[str, ...], tuple[str, ...]], ...]
    """Line, labels and cells of each row."""


def data_frame(lines: Sequence[str], start: int, taken: set[int], header: list[str]) -> RawTable | None:
    """Return the data frame whose headers begin in a line, or the series; None if there is none.

    taken: lines of other tables. header: the cells of the line, if they are headers.
    """
    for depth in range(1, _MOST_LEVELS + 1):
        if start + depth < len(lines) and (frame := _frame(lines, start, depth, taken)):
            return _table(frame)
    return _series(lines, start, taken) or _numbered(lines, start, taken, header)


def _frame(lines: Sequence[str], start: int, depth: int, taken: set[int]) -> _Frame | None:
    """The data frame with as many lines of headers, the first of which is given."""
    above, names = lines[start : start + depth], lines[start + depth].rstrip()
    if not names[:1].strip() or not len(names) < len(above[-1].rstrip()) <= LONGEST or _NUMBER.match(names):
        return None
    headers = [_labels(line[:LONGEST]) for line in above]
    ends = [end for end, _ in headers[-1][1]]
    if not ends or len(names) >= ends[0] or taken & set(range(start + 1, start + depth + 2)):
        return None
    if any(not labels or any(end not in ends for end, _ in labels) for _, labels in headers):
        return None
    body = []
    for number in range(start + depth + 1, len(lines)):
        row = _row(lines[number], ends) if number + 1 not in taken and len(lines[number]) <= LONGEST else None
        if row is None or len(row[0].rstrip()) >= ends[0]:
            break
        if not all(cell == "..." for cell in row[1]):
            body.append((number + 1, *row))
    starts = _starts(names, [index for _, index, _ in body])
    labels = _filled([_cut(index, starts) for _, index, _ in body])
    if len(body) < _FEWEST or labels is None:
        return None
    columns = zip(*(_carried(dict(found), ends) for _, found in headers), strict=True)
    rows = ((line, own, cells) for (line, _, cells), own in zip(body, labels, strict=True))
    return _Frame(start + 1, _cut(names, starts), tuple(name for name, _ in headers), tuple(columns), tuple(rows))


def _labels(line: str) -> tuple[str, list[tuple[int, str]]]:
    """The name of a level of columns, and its labels with their ends."""
    found = [(one.end(), one[0]) for one in _CELL.finditer(line)]
    return ("", found) if line[:1].isspace() or not found else (found[0][1], found[1:])


def _carried(labels: dict[int, str], ends: Sequence[int]) -> list[str]:
    """The label of each column, which is printed above the first column of its group."""
    result, last = [], ""
    for end in ends:
        last = labels.get(end, last)
        result.append(last)
    return result


def _row(line: str, ends: Sequence[int]) -> tuple[str, tuple[str, ...]] | None:
    """The labels of a row as they are printed, and the cells that end where the headers do."""
    found = [(one.start(), one.end(), one[0]) for one in _CELL.finditer(line)]
    cells = {end: cell for _, end, cell in found if end in ends}
    if not any(map(_NUMBER.match, cells.values())) and set(cells.values()) != {"..."}:
        return None
    first = next(begin for begin, end, _ in found if end in ends)
    if any(end > first and end not in ends for _, end, _ in found):
        return None
    return line[:first], tuple(cells.get(end, "") for end in ends)


def _starts(names: str, rows: Sequence[str]) -> list[int]:
    """Where the levels of an index start. A word of a name below which nothing starts is no level of its own."""
    found = [one.start() for one in re.finditer(r"\S+", names)]
    apart = [at for at in found if all(not line[at - 1 : at].strip() for line in rows)]
    return [0, *(at for at in apart if at and any(line[at : at + 1].strip() for line in rows))]


def _cut(line: str, starts: Sequence[int]) -> tuple[str, ...]:
    return tuple(line[begin:end].rstrip() for begin, end in pairwise([*starts, len(line) + 1]))


def _filled(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]] | None:
    """The labels of all rows, those of a group in each of its rows; None if one is not where its level starts."""
    result: list[tuple[str, ...]] = []
    for row in rows:
        empty = next((at for at, label in enumerate(row) if label), len(row))
        if empty == len(row) or not all(label[:1].strip() for label in row[empty:]) or (empty and not result):
            return None
        result.append((*(result[-1][:empty] if empty else ()), *row[empty:]))
    return result


def _table(frame: _Frame) -> RawTable:
    """The data frame with a column for each quantity. Other named levels of columns become labels of rows."""
    depth = range(len(frame.levels))
    quantities = [at for at in depth if any(_is_quantity(labels[at]) for labels in frame.columns)][:1]
    of_rows = [at for at in depth if frame.levels[at] and at not in quantities]
    names = [" ".join(filter(None, (labels[at] for at in depth if at not in of_rows))) for labels in frame.columns]
    groups = [tuple(labels[at] for at in of_rows) for labels in frame.columns]
    if not of_rows:
        body = tuple((line, (*index, *cells)) for line, index, cells in frame.rows)
        return RawTable(frame.line, (*frame.index, *names), body)
    measured = list(dict.fromkeys(names))
    rows = []
    for line, index, cells in frame.rows:
        for group in dict.fromkeys(groups):
            own = {name: cell for name, of, cell in zip(names, groups, cells, strict=True) if of == group}
            if not all(map(is_blank, own.values())):
                rows.append((line, (*index, *group, *(own.get(name, "") for name in measured))))
    labels = (*frame.index, *(frame.levels[at] for at in of_rows))
    return RawTable(frame.line, (*labels, *(name or UNSAID for name in measured)), tuple(rows))


def _is_quantity(label: str) -> bool:
    return known_role(label) in (*MEASURED, *STATED, "gpus", "nodes")


def _series(lines: Sequence[str], start: int, taken: set[int]) -> RawTable | None:
    """The series whose names of the index are in a line. Its own name is below it."""
    names = lines[start].rstrip()
    if not names[:1].strip() or re.search(r"\d", names):
        return None
    body: list[tuple[int, str, str]] = []
    for number in range(start + 1, len(lines)):
        line = lines[number] if number + 1 not in taken else ""
        if end := _OF_SERIES.fullmatch(line.strip()):
            starts = _starts(names, [index for _, index, _ in body])
            labels = _filled([_cut(index, starts) for _, index, _ in body])
            if len(body) < _FEWEST or labels is None:
                return None
            rows = tuple((at, (*own, value)) for (at, _, value), own in zip(body, labels, strict=True))
            return RawTable(start + 1, (*_cut(names, starts), end["name"]), rows)
        item = _ITEM.fullmatch(line) if len(line) <= LONGEST else None
        if item is None or not _NUMBER.match(item["value"]):
            return None
        body.append((number + 1, item["index"], item["value"]))
    return None


def _numbered(lines: Sequence[str], start: int, taken: set[int], header: list[str]) -> RawTable | None:
    """A data frame whose rows begin with their numbers, or with an index of one level whose name is below.

    Its headers end where the cells below them end, unless a copy has one space between all cells.
    """
    below, first = start + 1, lines[start]
    if not first[:1].isspace():
        if below == len(lines) or not re.match(r"0\s", lines[below]):
            return None
        if len(lines[below].split()) == len(first.split()) + 1:
            header = first.split()
        else:  # the first word is the name of the columns, above the index
            first = re.sub(r"^\S+", lambda name: " " * len(name[0]), first)
            header = []
    name = lines[below].strip() if below < len(lines) else ""
    named = bool(name) and lines[below][:1].strip() != "" and meaning_of(name).role != "ignore"
    rows: list[tuple[int, tuple[str, ...]]] = []
    first_index = 1 if re.match(r"\s*1\s", lines[min(below + named, len(lines) - 1)]) else 0  # as R counts
    for number in range(below + named, len(lines)):
        cells = re.sub(r"\s#.*", "", lines[number]).split() if len(lines[number]) <= LONGEST else []
        if number + 1 in taken or len(cells) < 2 or (rows and len(cells) != len(rows[0][1])):
            break
        if not named and cells[0] != str(len(rows) + first_index):
            break
        rows.append((number + 1, tuple(cells)))
    if len(rows) < _FEWEST:
        return None
    width = len(rows[0][1]) - 1
    single = next((one for one in (header, first.split()) if len(one) == width), None)
    names = single or _ending(first, lines[rows[0][0] - 1])
    whole = [name, *names] if named else names
    if len(names) != width or len(whole) < 2:
        return None
    return RawTable(start + 1, tuple(whole), tuple((line, row if named else row[1:]) for line, row in rows))


def _ending(line: str, row: str) -> list[str]:
    """Headers that end where the cells of a row end, without that of its index; none if one would be cut."""
    ends = [found.end() for found in re.finditer(r"\S+", row)]
    if len(line.rstrip()) > ends[-1] or any(line[end : end + 1].strip() for end in ends):
        return []
    names = [line[first:last].strip() for first, last in pairwise(ends)]
    return names if all(names) else []
