"""Finds tables without markup in a text: columns aligned with spaces, or separated by tabs, commas or bars.

Programs print such tables, and people paste them into READMEs and issues. A table begins with a line of headers,
one of them of devices. It ends with the first line that has other columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.counts.headers import count_of_header
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.markup.data_frames import data_frame
from scalestudy.importers.markup.splits import SPLITS, Split, spaced, words
from scalestudy.importers.numbers.printed import is_blank, plain
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.raw import RawTable

LONGEST = 2000
"""Characters of a line that may be one of a table."""
_RULE = re.compile(r"(?=.*[=_-]{3})[\s|+=:_.-]*|\s*[`~]{3,}\w*\s*")
_CELL = re.compile(r"\S+(?: \S+)*")
"""Words with one space between them."""
_NUMBER = re.compile(r"[~(<>$+-]?\.?\d")
_REMARK = re.compile(
    r"\s{2,}(?:\u2190|<-+|<=|#|//|--|\*|\(|!|\? |\u26a0|"
    r"[\u2190-\u21ff\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]).*$"
)
"""A remark behind the cells of a line."""
_NUMBERS = re.compile(r"(?<!\S)[~$]?\d[\d.,]*")
_GROUPED = re.compile(r"\d{1,3}(?: \d{3})+(?:\.\d+)?")
"""A number with spaces between its thousands: 41 000."""
_LABELS = ("label", "hardware", "strategy", "case")
_FIRST = 2
"""Columns at the left that labels may be in."""


def aligned_tables(lines: list[str], taken: set[int], *, only: bool) -> Iterator[RawTable]:
    """Yield the tables of lines that no other reader takes.

    only: whether the text has no other table; else a header of a measurement is needed beside that of devices.
    """
    number, above = 0, ""
    while number < len(lines):
        line = lines[number]
        if number + 1 in taken or not line.strip() or len(line) > LONGEST or _RULE.fullmatch(line):
            number += 1
            continue
        table, end = _at(lines, number, taken, above, only=only)
        if table is not None:
            yield table
            number = end
        else:
            above = line.strip() if number + 1 not in taken else ""
            number += 1


def _at(lines: list[str], start: int, taken: set[int], above: str, *, only: bool) -> tuple[RawTable | None, int]:
    """The table whose headers are in a line, and the line after it."""
    for split in SPLITS:
        header = _header(lines, start, split)
        framed = data_frame(lines, start, taken, header) if split is spaced else None
        if framed and _is_header(framed.header, only=only):
            return replace(framed, caption=_title(above)), framed.rows[-1][0]
        if len(header) < 2 or not (_is_header(header, only=only) or _may_have_labels(header, split)):
            continue
        rows, end = _rows(lines, start, taken, header, split)
        if not _is_header(header, only=only) and not label_devices(rows):
            continue
        if rows and (split is not words or len(rows) > 1):
            header = _with_names_above(lines, start, [name.strip(" :") for name in header])
            return RawTable(start + 1, tuple(header), tuple(rows), (), _title(above)), end
    return None, start


def _title(line: str) -> str:
    return line.strip("#*:> ") if len(line) <= LONGEST else ""


def _with_names_above(lines: list[str], start: int, header: list[str]) -> list[str]:
    """Return the headers. If two are equal, the words of the line above come first: Init, Train above time(s)."""
    above = lines[start - 1] if start else ""
    if len(set(header)) == len(header) or not above.strip() or _RULE.fullmatch(above) or re.search(r"\d", above):
        return header
    placed = _placed(above, lines[start], header)
    if placed is None or len(_CELL.findall(above)) < 2:
        return header
    joined = [f"{name} {own}".strip() for name, own in zip(placed, header, strict=True)]
    return joined if len(set(joined)) > len(set(header)) else header


def _header(lines: list[str], start: int, split: Split) -> list[str]:
    """The headers of a line. Where rows have more columns, names with one space between them are separated."""
    header = split(lines[start])
    if split is words:
        row = next((line for line in lines[start + 1 : start + 3] if not _RULE.fullmatch(line)), "")
        return _with_a_pair(header) if len(header) == len(row.split()) + 1 else header
    if split is not spaced or len(header) < 2:
        return header
    near = [line for line in lines[start + 1 : start + 4] if line.strip() and len(line) <= LONGEST]
    below = [line for line in near if not _RULE.fullmatch(line)]
    starts = [[found.start() for found in _CELL.finditer(line)] for line in below[:2]]
    indent = len(lines[start]) - len(lines[start].lstrip())
    if starts and all(len(one) == len(header) + 1 and one[0] < indent for one in starts):
        return ["", *header]  # names of rows, without a header
    if not starts or len(starts[0]) <= len(header) or any(len(one) != len(starts[0]) for one in starts):
        return header
    line = lines[start]
    ends = [*starts[0][1:], max(len(line), starts[0][-1] + 1)]
    names = [line[begin:end].strip() for begin, end in zip(starts[0], ends, strict=True)]
    whole = all(begin == 0 or line[begin - 1 : begin].isspace() for begin in starts[0])
    return names if whole and all(names) else header


def _with_a_pair(header: list[str]) -> list[str]:
    """Headers of which two words are one, such as `batch size`, that one of them alone is not."""
    for at, both in enumerate(map(" ".join, pairwise(header))):
        role = meaning_of(both).role
        if role != "ignore" and role != meaning_of(header[at + 1]).role and not re.search(r"[(\[]", both):
            return [*header[:at], both, *header[at + 2 :]]
    return header


def _rows(
    lines: list[str], start: int, taken: set[int], header: Sequence[str], split: Split
) -> tuple[list[tuple[int, tuple[str, ...]]], int]:
    rows: list[tuple[int, tuple[str, ...]]] = []
    blank = 0
    number = start + 1
    while number < len(lines) and number + 1 not in taken and len(lines[number]) <= LONGEST:
        line = lines[number]
        if _RULE.fullmatch(line) and not re.match(r"\s*[`~]", line):
            number += 1
            continue
        if not line.strip() and not rows and not blank:
            blank, number = 1, number + 1
            continue
        cells = _fitted(line, lines[start], header, split)
        if cells is None and rows and (kept := _REMARK.sub("", line)) != line:
            cells = _fitted(kept, lines[start], header, split)
        if cells is None and rows and len(_NUMBERS.findall(line)) >= len(header) and _NUMBER.match(line.strip()):
            cells = [line.strip()]  # a row in another form: the reader of rows names it
        if cells is None or not any(_NUMBER.match(plain(cell)) for cell in cells):
            if rows and line.strip() and _continues(lines, number + 1, lines[start], header, split):
                number += 1  # a remark between rows
                continue
            break
        rows.append((number + 1, tuple(cells)))
        number += 1
    return rows, number


def _continues(lines: list[str], number: int, first: str, header: Sequence[str], split: Split) -> bool:
    """Whether a line is a row of the table, as it is behind a remark between rows."""
    cells = _fitted(lines[number], first, header, split) if number < len(lines) else None
    return cells is not None and bool(_NUMBER.match(plain(cells[0])))


def _fitted(line: str, first: str, header: Sequence[str], split: Split) -> list[str] | None:
    """The cells of a line, one per header; None if it has others."""
    cells = split(line)
    if len(cells) == len(header):
        return cells
    if split is not spaced:
        return None
    single = re.split(r"\s+", line.strip())
    if any(_GROUPED.fullmatch(cell) for cell in cells) and (placed := _placed(line, first, header)):
        return placed
    if len(single) == len(header) and all(_NUMBER.match(word) or is_blank(word) for word in single[1:]):
        return single
    if 1 < len(cells) < len(header) and (placed := _placed(line, first, header)):
        return placed
    if len(single) == len(header):
        return single
    named = re.match(r"\s*(?P<name>[A-Za-z][\w ()/%.-]*?:)\s*(?P<rest>.*)", line)
    if named and len(rest := named["rest"].split()) == len(header) - 1:
        return [named["name"], *rest]
    return None


def _placed(line: str, first: str, header: Sequence[str]) -> list[str] | None:
    """The cells of a line below the headers that they overlap; None if two are below one, or one below two."""
    spans, at = [], 0
    for name in header:
        at = first.find(name, at)
        if at < 0:
            return None
        spans.append((at, at + len(name)))
        at += len(name)
    result = [""] * len(header)
    for found in _CELL.finditer(line.expandtabs()):
        over = [min(found.end(), end) - max(found.start(), start) for start, end in spans]
        best = max(range(len(over)), key=lambda place: over[place])
        several = " " in found.group() and sum(one > 0 for one in over) > 1
        if over[best] <= 0 or result[best] or several:
            return None
        result[best] = found.group()
    return result


def _is_header(cells: Sequence[str], *, only: bool) -> bool:
    """Whether cells are headers of a table with devices."""
    if any(len(cell) > 60 for cell in cells) or _NUMBER.match(plain(cells[0])):
        return False
    whole = len(cells) > 2 and all(re.fullmatch(r"\d{1,7}", cell.strip()) for cell in cells[1:])
    if whole and meaning_of(cells[0].strip(" :")).role in ("gpus", "nodes"):
        return True  # devices across
    if only and sum(count_of_header(cell) is not None for cell in cells[1:]) > 1:
        return True
    if any(_NUMBER.match(plain(cell)) for cell in cells):
        return False
    roles = set(_roles(cells))
    if not {"gpus", "nodes"} & roles:
        return False
    return only or bool({*MEASURED, *STATED} & roles)


def _may_have_labels(cells: Sequence[str], split: Split) -> bool:
    """Whether cells are headers of labels and of measurements."""
    if split is words or any(len(cell) > 60 or _NUMBER.match(plain(cell)) for cell in cells):
        return False
    if not any(meaning_of(cell.strip(" :")).role in _LABELS for cell in cells[:_FIRST]):
        return False
    return any(role in (*MEASURED, *STATED) for role in _roles(cells))


def _roles(cells: Sequence[str]) -> Iterator[str]:
    """The roles of headers with letters."""
    return (meaning_of(cell.strip(" :")).role for cell in cells if any(map(str.isalpha, cell)))


def table_names_devices(table: RawTable) -> bool:
    """Return whether a header of a table, or the labels of its rows, name devices."""
    return any(meaning_of(name).role in ("gpus", "nodes") for name in table.header) or label_devices(table.rows)


def label_devices(rows: Sequence[tuple[int, tuple[str, ...]]]) -> bool:
    """Return whether the labels of all rows name numbers of devices, not all the same: 1x A100, 2x A100."""
    for place in range(_FIRST):
        names = [plain(cells[place]) for _, cells in rows if place < len(cells)]
        counts = [count for name in names if (count := _devices(name))]
        if len(counts) == len(names) and len(set(counts)) > 1:
            return True
    return False


def _devices(name: str) -> int:
    try:
        return read_count(name).gpus if not re.fullmatch(r"[\d.,]+", name) else 0
    except ValueError:
        return 0
