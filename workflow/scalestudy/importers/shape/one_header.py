"""Gives a table one line of headers, with titles between its rows as a column, and one block of columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from scalestudy.importers.counts.headers import count_of_header
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.headers.terms import DEVICE, KIND, MAKER, NODE
from scalestudy.importers.numbers.printed import is_blank, plain
from scalestudy.importers.published import MEASURED, OF_STEPS, RATES, STATED
from scalestudy.importers.quantities import quantity_of
from scalestudy.importers.raw import PERFORMANCE, RawTable, words_of
from scalestudy.importers.shape.second_lines import LIKE_A_NUMBER, noun_of, with_second_line

SECTION = "section"
"""Header of the column that holds the titles of sections within a table."""
_UNIT_ALONE = re.compile(r"[(\[].*[)\]]|(?!\d)[\w/%]{1,4}/[\w]+")
_DEVICES = re.compile(rf"\d{{1,6}}(?: ?x ?|[ -]){MAKER}*(?:{DEVICE}|{NODE}|{KIND}s?)(?!\w)", re.IGNORECASE)
"""Devices at the beginning of a title between rows: `8 GPUs`, `2x A100`."""
_TITLE = re.compile(rf"{_DEVICES.pattern}|[1-9]-?D\b", re.IGNORECASE)
"""A title that begins with a number: of devices, or of dimensions."""


def tidied(table: RawTable) -> RawTable:
    """Return a table with one line of headers, and with titles between its rows as a column.

    Tables beside each other with equal headers become one.
    """
    for step in (
        _with_names,
        _with_header_below_its_cells,
        with_second_line,
        _with_one_header,
        _below_each_other,
        _with_blocks_below,
        _with_sections,
    ):
        table = step(table)
    return table


def _with_header_below_its_cells(table: RawTable) -> RawTable:
    """The table with its headers moved by one, if they are of devices and end with an empty one above numbers."""
    table = _without_empty_ends(table)
    if len(table.header) < 3 or plain(table.header[-1]) or not count_of_header(table.header[0]):
        return table
    rows = [cells for _, cells in table.rows if len(cells) == len(table.header)]
    named = all(re.match(r"\W*[^\W\d_]{2}", plain(cells[0])) for cells in rows)
    filled = all(LIKE_A_NUMBER.match(plain(cells[-1])) for cells in rows)
    if not rows or len(rows) < len(table.rows) or not named or not filled:
        return table
    return replace(table, header=("", *table.header[:-1])).noted(
        "the headers were moved by one column to the right"
    )


def _without_empty_ends(table: RawTable) -> RawTable:
    """The table without a first and a last column that are empty, as between the outer bars of lines."""
    lines = [table.header, *(cells for _, cells in table.rows)]
    alike = len(table.rows) > 0 and len({len(cells) for cells in lines}) == 1 and len(table.header) > 3
    if not alike or any(cells[0].strip() or cells[-1].strip() for cells in lines):
        return table
    return replace(table, header=table.header[1:-1], rows=tuple((line, cells[1:-1]) for line, cells in table.rows))


def _with_names(table: RawTable) -> RawTable:
    """The table with headers by the units of its cells, if its first row stands where headers do."""
    first = table.rows[0][1] if table.rows else ()
    units = [quantity_of(cell) for cell in table.header]
    if len(first) != len(table.header) or not any(units) or units != [quantity_of(cell) for cell in first]:
        return table
    if words_of(table.header) != words_of(first):
        return table
    names = ("setup", *units[1:])
    return replace(table, header=names, rows=((table.line, table.header), *table.rows))


def _below_each_other(table: RawTable) -> RawTable:
    """Puts tables beside each other, with the headers GPUs | img/s | GPUs | img/s, below each other."""
    names = [plain(name) for name in table.header]
    for width in range(2, len(names) // 2 + 1):
        parts = len(names) // width
        if len(names) % width or names != names[:width] * parts or not all(names[:width]):
            continue
        if not {"gpus", "nodes"} & {meaning_of(name).role for name in names[:width]}:
            continue
        rows = [
            (line, cells[start : start + width])
            for start in range(0, len(names), width)
            for line, cells in table.rows
            if any(not is_blank(cell) for cell in cells[start : start + width])
        ]
        return replace(table, header=table.header[:width], rows=tuple(rows))
    return table


def _with_blocks_below(table: RawTable) -> RawTable:
    """Puts pairs of a label and measurements beside each other, behind common columns, below each other."""
    names = [plain(name) for name in table.header]
    if len(set(names)) == len(names):
        return table
    for first in range(1, len(names) - 3):
        width = next((at - first for at in range(first + 2, len(names)) if names[at] == names[first]), 0)
        blocks = range(first, len(names), width) if width else range(0)
        whole = (
            width
            and (len(names) - first) % width == 0
            and all(names[at : at + width] == names[first : first + width] for at in blocks)
        )
        if not whole or meaning_of(names[first]).role in (*MEASURED, *STATED):
            continue
        labels = [{plain(cells[at]) for _, cells in table.rows if at < len(cells)} for at in blocks]
        measured = any(meaning_of(name).role in MEASURED for name in names[first : first + width])
        if measured and all(len(own) == 1 for own in labels) and len(set().union(*labels)) == len(labels):
            rows = [
                (line, (*cells[:first], *cells[at : at + width])) for at in blocks for line, cells in table.rows
            ]
            return replace(table, header=table.header[: first + width], rows=tuple(rows))
    return table


def _with_one_header(table: RawTable) -> RawTable:
    """Joins a second line of headers: methods below a column group, or units in brackets."""
    while table.rows:
        _, second = table.rows[0]
        cells = [plain(cell) for cell in second]
        first = [plain(cell) for cell in table.header]
        filled = [cell for cell in cells if cell]
        named = [cell for cell in cells if not is_blank(cell) and cell.strip("()[]") != "#"]
        known = bool(named) and cells[0] not in named and all(map(_is_unit, named))
        units = known or (bool(filled) and all(_UNIT_ALONE.fullmatch(cell) for cell in filled))
        grouped = len([name for name in first if name]) > len({name for name in first if name}) or any(
            not above and below for above, below in zip(first, cells, strict=False)
        )
        numbers = any(LIKE_A_NUMBER.match(cell) and not count_of_header(cell) for cell in filled if not units)
        if len(cells) != len(first) or (len(filled) < 2 and not known) or numbers or not (units or grouped):
            return table
        if len(set(filled)) == 1 and len(filled) == len(cells):
            return table  # a title over all columns
        above = table.header if units else _over_groups(table.header, second)
        if title := "" if units else _title_of_group(above, second):
            above = ["" if name == title else name for name in above]
            table = replace(table, headings=(*table.headings, title))
        below = [_in_brackets(cell) for cell in cells] if known else second
        header = tuple(" ".join(dict.fromkeys(filter(None, pair))) for pair in zip(above, below, strict=True))
        table = replace(table, header=header, rows=table.rows[1:])
        if not units and not _names_devices_below(table):
            return table
    return table


def _names_devices_below(table: RawTable) -> bool:
    """Whether the first row is a further line of headers, since it names the devices and the header does not."""
    first = table.rows[0][1] if table.rows else ()
    if any(LIKE_A_NUMBER.match(plain(cell)) for cell in first):
        return False
    above, below = ({meaning_of(cell).role for cell in cells if plain(cell)} for cells in (table.header, first))
    return "gpus" in below - above


def _is_unit(cell: str) -> bool:
    """Whether a cell is the unit of a measurement: ms, (img/s), [%]."""
    unit = cell.strip("()[] ")
    if re.search(r"\s", unit):
        return False
    return unit == "%" or bool(meaning_of(f"time ({unit})").unit) or meaning_of(unit).role in (*RATES, *OF_STEPS)


def _in_brackets(cell: str) -> str:
    unit = "" if is_blank(cell) else cell.strip("()[]# ")
    return f"({unit})" if unit else ""


def _over_groups(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """The first line of headers with the name of a group over all of its columns, if it is over the first only."""
    found: list[str] = []
    for above, below in zip(first, second, strict=True):
        group = found[-1] if found and below and not above and second[len(found) - 1] else ""
        found.append(above or group)
    return found


def _title_of_group(first: Sequence[str], second: Sequence[str]) -> str:
    """The name of the only group of headers, if the headers below it say by themselves what is measured."""
    groups = {above for above, below in zip(first, second, strict=True) if above and below}
    below = [meaning_of(name).role for above, name in zip(first, second, strict=True) if above in groups and name]
    known = [role in (*MEASURED, *STATED) for role in below]
    title = next(iter(groups), "")
    of_no_kind = meaning_of(title).role not in (*MEASURED, *STATED) or PERFORMANCE.search(title)
    whole = all(known) and len(set(below)) == len(below)
    return title if len(groups) == 1 and len(below) > 1 and (whole or (any(known) and of_no_kind)) else ""


def _with_sections(table: RawTable) -> RawTable:
    """Turns rows that have only a title, such as the name of a model, into a column of labels."""
    titles = [title_of(cells) for _, cells in table.rows]
    if len(table.header) < 2 or not any(titles) or all(titles) or not titles[0]:
        return table
    numbered = [bool(_DEVICES.match(plain(cells[0]))) for _, cells in table.rows if cells]
    if any(numbered) and [bool(title) for title in titles] != numbered:
        return table  # rows of devices, some of them without a measurement
    rows, title = [], ""
    for (line, cells), own in zip(table.rows, titles, strict=True):
        title = own or title
        if not own:
            rows.append((line, (title, *cells)))
    return replace(table, header=(SECTION, *_with_nouns(table.header)), rows=tuple(rows))


def _with_nouns(header: Sequence[str]) -> Sequence[str]:
    """`name | 1 nodes | 2 nodes` for `Nodes | 1 | 2`, since the noun of numbers is no longer left of them."""
    first, *others = map(plain, header)
    if meaning_of(first).role not in ("gpus", "nodes") or not all(
        re.fullmatch(r"\d{1,6}", name) for name in others
    ):
        return header
    return ("name", *(f"{name} {noun_of(first)}" for name in others))


def title_of(cells: Sequence[str]) -> str:
    """Return the text of a row that has one text in its first cell only, or in all of its cells; else ''."""
    texts = [plain(cell) for cell in cells]
    if len(texts) < 2 or not texts[0] or (LIKE_A_NUMBER.match(texts[0]) and not _TITLE.match(texts[0])):
        return ""
    alone = not any(texts[1:]) or len(set(texts)) == 1
    return texts[0] if alone else ""
