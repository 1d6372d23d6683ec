"""Cells with quantities of different units, 480 ms · 67k tok/s: each has a column."""

from __future__ import annotations

import re
from dataclasses import replace
from math import isclose

from scalestudy.importers.counts.headers import count_of_header
from scalestudy.importers.headers.meaning import meaning_of, never_a_label, normal
from scalestudy.importers.headers.terms import SECONDS
from scalestudy.importers.numbers.durations import read_duration
from scalestudy.importers.numbers.printed import plain, read_cell, share
from scalestudy.importers.published import MEASURED
from scalestudy.importers.quantities import quantity_of, unit_of_time
from scalestudy.importers.raw import RawTable

ACCURACY = re.compile(
    r"(?:[a-z]+ )?acc(?:uracy)?\.?(?: ?\(%\))?|精度|准确率|精確度|정확도|miou|map|top-?[15]|bleu|f1|auc",
    re.IGNORECASE,
)
"""What is in per cent behind a measurement and no ratio of it."""
OF_DATA = re.compile(
    r"(?:[a-z]+ )?(?:data ?)?(?:points|sets?|size|elements|cells|particles|rows|records|samples|share)"
)
"""Headers of how much is computed."""
MOST_OF = 0.6
"""Share of the cells of a column that have both. The baseline may have no ratio."""
_OTHER = "(another number)"
_QUANTITIES = re.compile(
    r"(?:\s*[\u00b7\u2022;|]\s*|\s/\s|\s@\s|(?<=\d[a-z]), (?=~?\d)|(?<=\d [mu]s), (?=~?\d)|"
    r"(?<=\d its), (?=~?\d)|(?<=\diters), (?=~?\d)|(?<=iterations), (?=~?\d)|"
    r"(?<=\d[a-z])/(?=~?\d[\d.]* ?%)|(?<=[a-z]/s) (?=~?\d)|(?<=/sec) (?=~?\d))(?![^()]*\))"
)
"""What separates the quantities of a cell, outside brackets."""
_RATIOS = ("speedup", "efficiency")
_COUNT = re.compile(
    r"\d[\d,.]* (?:its?|iters?|iterations?|[a-z][a-z ]{2,20} in \d[\d,.]* ?[a-z]{1,7})", re.IGNORECASE
)
"""How much was done, perhaps with its time."""
_DATA_RATE = re.compile(r"[kmgt]i?b(?:/s|ps)")
_OF_MEMORY = re.compile(r"\d+(?:\.\d+)? ?[GT]i?")
"""Memory in short: 20.1G."""
_SAME_TIME = 0.05
"""Relative difference of two times that are one in two units. Wider than rounding: 0.30 min beside 18.2 s."""
_BEHIND = re.compile(r"([^()]+?) ?\(([^()]+)\)")
"""A quantity with another one in brackets behind it."""


def with_quantities(table: RawTable) -> RawTable:
    """Return a table in which quantities of different units that share cells, 480 ms · 67k tok/s, have columns."""
    columns = {}
    for place in range(1, len(table.header)):
        if OF_DATA.fullmatch(normal(table.header[place])):
            continue
        parts = list(map(_parts, table.cells(place)))
        wide = max((len(one) for one in parts), default=1)
        if wide > 1 and sum(len(one) == wide for one in parts) >= MOST_OF * len(parts):
            columns[place] = [one for one in parts if len(one) == wide]
    rows_of_units = [_kinds(one) for parts in columns.values() for one in parts]
    units = next((one for one in rows_of_units if all(one) and len(set(one)) == len(one)), None)
    if units is None:
        return table
    split = [at for at, parts in columns.items() if any(len(one) == len(units) for one in parts)]
    across = [at for at, name in enumerate(table.header) if at and count_of_header(name)]
    for place in sorted({*split, *(across if {*split} & {*across} else ())}, reverse=True):
        table = _in_columns(table, place, units)  # a unit may be in the first row or column only
    return table


def _parts(cell: str) -> list[str]:
    """The quantities of a cell. The second may be in brackets, 390 s (0.5 GB/s), if it is no ratio."""
    text = plain(cell)
    if both := _BEHIND.fullmatch(text):
        behind = both[2].split(", ")
        known = [part for part in behind if quantity_of(part)]
        measured = [part for part in known if quantity_of(part) not in _RATIOS]
        behind = behind if len(behind) == 1 else measured or known
        kinds = [quantity_of(part) or _kind(part) or _count_of(part) for part in (both[1], *behind)]
        if len(behind) == 1 and _is_again(both[1], behind[0]):
            return [text]
        if len(kinds) > 1 and all(kinds) and len(set(kinds)) == len(kinds) and not {*_RATIOS} & {*kinds}:
            return [both[1], *behind]
    return _QUANTITIES.split(text)


def _is_again(first: str, second: str) -> bool:
    """Whether the second of two times is the first in another unit: 73.0 s (1.22 min), 491.85 min (8h 12m)."""
    times = [_seconds(part) for part in (first, second)]
    return all(times) and isclose(times[0], times[1], rel_tol=_SAME_TIME)


def _seconds(part: str) -> float:
    """A time in any form; 0 for anything else."""
    if duration := read_duration(part):
        return duration.value
    unit = unit_of_time(part)
    return read_cell(part).printed.value * SECONDS[unit] if unit else 0.0


def _kinds(parts: list[str]) -> list[str]:
    """Headers for the quantities of a cell. One of two may have no unit: 2.2s, 3.4K."""
    kinds = [_kind(part) or _count_of(part) for part in parts]
    return (
        [kind or _OTHER for kind in kinds]
        if len(kinds) == 2 and kinds[0] and share(parts, read_cell) == 1
        else kinds
    )


def _count_of(part: str) -> str:
    """A header for a count in front of another quantity: 44 its, 1,764 records in 12 ms; '' for anything else."""
    return _OTHER if _COUNT.fullmatch(part.strip()) else ""


def _kind(part: str) -> str:
    """A header for a quantity in a cell; of memory too, which is then left out."""
    try:
        unit = read_cell(part).unit.lower()
    except ValueError:
        unit = ""
    memory = re.fullmatch(r"[kmgt]i?b", unit) or _OF_MEMORY.fullmatch(part.strip())
    data = "memory" if memory else "data rate" if _DATA_RATE.fullmatch(unit) else ""
    return quantity_of(part) or (f"{data} ({unit or 'gb'})" if data else "")


def _in_columns(table: RawTable, place: int, units: list[str]) -> RawTable:
    own = [part.strip() for part in re.split(r"[/|;,](?![^()]*\))", plain(table.header[place]))]
    heads = own if len(own) == len(units) else [plain(table.header[place])] * len(units)
    names = [_named(head, name) for head, name in zip(heads, units, strict=True)]
    rows = []
    for line, cells in table.rows:
        own = _parts(cells[place]) if place < len(cells) else []
        own = own if len(own) == len(units) else [*own[:1], *[""] * (len(units) - 1)]
        rows.append((line, (*cells[:place], *own, *cells[place + 1 :])))
    return replace(table, header=(*table.header[:place], *names, *table.header[place + 1 :]), rows=tuple(rows))


def _named(head: str, quantity: str) -> str:
    """The header of a quantity that shares its cells with others; one that says what it is stays as it is."""
    if ACCURACY.fullmatch(head) and not never_a_label(head):
        return f"accuracy {head}"
    across = count_of_header(head)
    measured = across is not None and meaning_of(across[1]).role in MEASURED
    return head if never_a_label(head) or measured else f"{head} {quantity}".strip()
