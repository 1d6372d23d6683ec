"""Takes cells with several measurements apart: 410 -> 1435 below `1 -> 4 GPUs`, 410 / 779 below `1 / 2 GPUs`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.headers.terms import DEVICE, NODE
from scalestudy.importers.numbers.printed import is_blank, plain, read_cell, share
from scalestudy.importers.published import MEASURED
from scalestudy.importers.quantities import quantity_of
from scalestudy.importers.raw import RawTable

_SIGN = r"(?:-+>|=+>|\u2192|\u27f6|\u279c|\u2794|\u27a1\ufe0f?)"
_ARROW = re.compile(rf"\s*{_SIGN}\s*")
_NAMES = r"\b(?:n|np|p|n?gpus?|ranks?|workers?|threads?|procs?|nodes?|world_size)"
_HEADER = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?P<before>(?:.*?[ (:])??)(?P<few>\d{{1,6}})(?: ?{DEVICE})? ?(?:{_SIGN}|\bto\b) ?"
        rf"(?P<many>\d{{1,6}}) ?(?P<kind>{DEVICE}|{NODE})\)?(?P<after>.*)",
        rf"(?P<before>.*?)(?P<name>{_NAMES}) ?[=:] ?"
        rf"(?P<few>\d{{1,6}}) ?{_SIGN} ?(?P<many>\d{{1,6}})\)?(?P<after>.*)",
    )
)
_LIST = re.compile(
    r"(?P<before>.*?)[ (\[]*(?P<sizes>\d{1,6}(?: ?[/|] ?\d{1,6})+) ?"
    rf"(?P<kind>{DEVICE}|{NODE})[)\]]?(?P<after>.*)",
    re.IGNORECASE,
)
"""Header of cells with a measurement for each of several numbers of devices."""
_MOST_OF = 0.6
"""Share of the cells of a column that have an arrow."""


def with_steps(table: RawTable) -> RawTable:
    """Return a table in which cells with arrows between two numbers of devices are two cells or two rows.

    Other arrows are from before to after a change, which are two measurements.
    """
    table = _with_lists(table)
    for place in range(len(table.header) - 1, 0, -1):
        named = next((one for form in _HEADER if (one := form.fullmatch(plain(table.header[place])))), None)
        if named and _have_arrows(table, place):
            kind = named.groupdict().get("kind") or "gpus"
            names = [
                f"{named[size]} {kind} {named['before'].strip(' (:')}{named['after']}".strip()
                for size in ("few", "many")
            ]
            table = _in_columns(table, place, names, _ends)
    return _before_and_after(_in_two_rows(table))


def _with_lists(table: RawTable) -> RawTable:
    """A table in which cells with a measurement for each number of devices of their header are columns."""
    for place in range(len(table.header) - 1, 0, -1):
        named = _LIST.fullmatch(plain(table.header[place]))
        sizes = _parts(named["sizes"]) if named else ()
        lists = [_parts(plain(cell)) for cell in table.cells(place)]
        if named and lists and all(len(one) == len(sizes) and all(map(_is_number, one)) for one in lists):
            rest = f"{named['before'].strip()} {named['after'].strip()}".strip()
            names = [f"{size} {named['kind']} {rest}".strip() for size in sizes]
            table = _in_columns(table, place, names, partial(_listed, count=len(sizes)))
    return table


def _listed(cell: str, *, count: int) -> tuple[str, ...]:
    """The numbers of a cell with a list; as many empty cells for one without."""
    return ("",) * count if is_blank(cell) else _parts(plain(cell))


def _parts(words: str) -> tuple[str, ...]:
    return tuple(re.split(r" ?[/|] ?", words))


def _in_columns(
    table: RawTable, place: int, names: list[str], split: Callable[[str], tuple[str, ...]]
) -> RawTable:
    rows = tuple(
        (line, (*cells[:place], *split(cells[place]), *cells[place + 1 :]))
        if place < len(cells)
        else (line, cells)
        for line, cells in table.rows
    )
    return replace(table, header=(*table.header[:place], *names, *table.header[place + 1 :]), rows=rows)


def _before_and_after(table: RawTable) -> RawTable:
    """A table with two columns for a measurement before and after a change."""
    for place in range(len(table.header) - 1, 0, -1):
        if _have_arrows(table, place):
            name = re.sub(
                rf"\bbefore\b ?(?:{_ARROW.pattern}) ?\bafter\b",
                "",
                plain(table.header[place]),
                flags=re.IGNORECASE,
            )
            table = _in_columns(table, place, [f"{when} {name}".strip() for when in ("before", "after")], _ends)
    return table


def _in_two_rows(table: RawTable) -> RawTable:
    """A table whose devices are `1 -> 4` with a row for each of the two numbers.

    A speedup without measurements, 21.7x below `64 -> 2048 GPUs`, is over the first, whose speedup is 1.
    """
    arrows = [place for place in range(len(table.header)) if _have_arrows(table, place)]
    devices = [
        place
        for place in arrows
        if meaning_of(table.header[place]).role in ("gpus", "nodes", "hardware", "label")
        and all(map(_is_count, (end for cell in table.cells(place) for end in _ends(cell))))
    ]
    stated = [place for place, name in enumerate(table.header) if _is_stated(name)]
    measured = any(meaning_of(name).role in MEASURED for name in table.header)
    speedups = [place for place in stated if meaning_of(table.header[place]).role == "printed_speedup"]
    over_few = speedups if len(arrows) == 1 and not measured else []
    if len(devices) != 1 or (len(arrows) < 2 and not over_few):
        return table
    rows: list[tuple[int, tuple[str, ...]]] = []
    known: set[tuple[str, ...]] = set()
    for line, cells in table.rows:
        ends = [_ends(cell) if place in arrows else (cell, cell) for place, cell in enumerate(cells)]
        few = ["1" if at in over_few else "" if at in stated else one for at, (one, _) in enumerate(ends)]
        rows += [(line, row) for row in (tuple(few), tuple(many for _, many in ends)) if row not in known]
        known |= {row for _, row in rows}
    return replace(table, rows=tuple(rows))


def _is_stated(name: str) -> bool:
    return meaning_of(name).role in ("printed_speedup", "printed_efficiency", "scaling_ratio")


def _have_arrows(table: RawTable, place: int) -> bool:
    """Whether most cells of a column are two numbers with an arrow."""
    cells = table.cells(place)
    both = [cell for cell in cells if len(ends := _ARROW.split(plain(cell))) == 2 and all(map(_is_number, ends))]
    if all(_is_ratio(end) and not _is_ratio(start) for start, end in map(_ARROW.split, map(plain, both))):
        return False  # a measurement and its ratio
    return len(cells) > 0 and len(both) >= _MOST_OF * len(cells)


def _ends(cell: str) -> tuple[str, str]:
    """The two ends of a cell with an arrow; a unit behind the second is that of both."""
    ends = _ARROW.split(plain(cell))
    if len(ends) != 2:
        return "", "" if is_blank(cell) else cell
    try:
        first, second = (read_cell(end) for end in ends)
    except ValueError:
        return ends[0], ends[1]
    unit = "%" if second.percent else second.unit
    return ends[0] if first.unit or first.percent else f"{ends[0]} {unit}".strip(), ends[1]


def _is_number(text: str) -> bool:
    return share([text], read_cell) > 0 or _is_count(text)


def _is_ratio(text: str) -> bool:
    return quantity_of(text) == "speedup"


def _is_count(text: str) -> bool:
    return share([text], read_count) > 0
