"""Says what the unit of a cell or of a header measures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from scalestudy.importers.headers.meaning import Meaning, meaning_of, normal
from scalestudy.importers.headers.terms import SECOND, UNIT_OF_TIME
from scalestudy.importers.numbers.durations import read_duration
from scalestudy.importers.numbers.printed import plain, read_cell, share
from scalestudy.importers.published import OF_STEPS, RATES

_RANGE = re.compile(r"~?\d[\d.]* ?(?:-|\u2013|to|~) ?(?P<last>\d[\d.]* ?[a-z]+(?:/[a-z]+)?)(?: ?\([^()]*\))?")
"""A range of times, such as 4-5 h."""


_OF_ANY_WORK = re.compile(r"[A-Za-z]{1,16}/(?:s|sec|min|h|hr|hour|day)")
"""A rate of something, known or not: MB/s."""
_OF_NO_WORK = re.compile(r"/(?:s|sec|min|h|hr|hour|day)")
"""A rate of what only the text may name: 15.2/hr."""


def in_brackets(meaning: Meaning) -> Meaning:
    """Return a column as a time if its header ends in a unit of time: NCCL (ms), solve_s, halo ms."""
    units = r"(ns|us|ms|s|secs?|seconds?|min(?:utes)?|h|hrs?|hours?)"
    unit = (
        re.search(rf"[(\[] ?{units} ?[)\]]$", normal(meaning.header))
        or re.search(rf"[a-z\d]_{units}$", plain(meaning.header).lower())
        or re.search(r"[a-z\d] (ms|secs?|seconds)$", normal(meaning.header))
        or re.search(r"[A-Za-z\d)] (s)$", plain(meaning.header))
        or re.search(rf"(?:^|[a-z\d] )in {units}$", normal(meaning.header))
        or re.fullmatch(r"(s|secs?|ms|us|ns)", plain(meaning.header))  # not `S`, a speedup
    )
    if unit is None:
        return meaning
    name = next(name for name, pattern in UNIT_OF_TIME.items() if re.search(pattern, unit[1]))
    return replace(meaning, role="time_s", unit=name)


def of_a_step(meaning: Meaning, cells: Sequence[str]) -> Meaning:
    """Return a column as the time of a step if it is called `step` and no more, and if it has fractions."""
    named = re.fullmatch(r"(?:training )?(?:step|iter(?:ation)?)", normal(meaning.header))
    fractions = all(re.fullmatch(r"\d+\.\d+", plain(cell)) for cell in cells)
    return replace(meaning, role="step_time_s") if named and fractions else in_brackets(meaning)


def known_role(header: str) -> str:
    """Return the role of a header, or that of a time if it ends in a unit of time: Total (s)."""
    meaning = meaning_of(header)
    named = not re.match(r"\W*\d", plain(header))
    return in_brackets(meaning).role if meaning.role == "ignore" and named else meaning.role


@lru_cache(maxsize=8192)
def quantity_of(cell: str) -> str:
    """Return a header for what a cell's own unit says: '12.0x', '96%', '410 img/s', '36 min'; else ''."""
    if read_duration(cell):
        return "time (s)"
    try:
        read = read_cell(cell)
    except ValueError:
        range_of = _RANGE.fullmatch(plain(cell))
        last = quantity_of(range_of["last"]) if range_of else ""
        return last if last.startswith(("time", "speedup")) or meaning_of(last).role == "step_time_s" else ""
    if read.percent:
        return "efficiency"
    if read.unit.lower() == "x":
        return "speedup"
    if re.match(r"(?:/|per ) ?[a-z]", read.unit.lower()):  # of work without a name: 122/s
        return f"throughput ({read.unit})" if re.search(f"{SECOND}$", read.unit.lower()) else ""
    if read.unit and _measured(read.unit):
        return read.unit
    time = f"time ({read.unit})"
    alone = read.unit and not re.search(r"\d", read.unit)  # not `44 records in 12 ms`
    return time if alone and meaning_of(time).unit and _measured(time) else ""  # 7.4 steps are not a time


def _measured(words: str) -> bool:
    meaning = meaning_of(words)
    return meaning.role in ("throughput", "throughput_per_gpu", "steps_per_s", "step_time_s") or bool(
        meaning.role in ("time_s", "total_time_s") and meaning.unit
    )


def most_are(quantity: str, cells: Sequence[str]) -> bool:
    """Return whether most cells have the unit of a quantity, such as the per cent of an `efficiency`."""
    return [quantity_of(cell) for cell in cells].count(quantity) > len(cells) / 2


def are_times(cells: Sequence[str]) -> bool:
    """Return whether most cells have a unit of time, which 40/s has not."""
    return sum(bool(re.fullmatch(r"time \([a-z]+\)", quantity_of(cell))) for cell in cells) > len(cells) / 2


def name_of(cell: str) -> str:
    """Return a name for what a cell's own unit says, which is `time` for a time in any unit."""
    words = quantity_of(cell)
    return (
        "time" if re.fullmatch(r"time \([a-z]+\)|[a-z]+", words) and meaning_of(words).role == "time_s" else words
    )


def in_one_spelling(name: str, seen: dict[tuple[str, str, str], str]) -> str:
    """Return the first name with the same unit: img/sec for imgs/sec. seen: the first names; it is extended."""
    meaning = meaning_of(name)
    if meaning.role not in RATES or "/" not in meaning.unit:
        return name
    return seen.setdefault((meaning.role, meaning.per, meaning.unit.replace("s/", "/")), name)


def of_steps(cells: Sequence[str]) -> Meaning | None:
    """Return what cells below `Speed` or `Time` are if most of them have a unit of steps: 1.2 it/s, 0.8 s/it."""
    named = [meaning for cell in cells if (meaning := meaning_of(quantity_of(cell))).role in OF_STEPS]
    return named[0] if len(named) > len(cells) / 2 else None


def rate_of(cells: Sequence[str]) -> Meaning | None:
    """Return what cells are if most of them have a unit of a throughput: 450 ns/day."""
    named = [meaning for cell in cells if (meaning := meaning_of(quantity_of(cell))).role in RATES]
    return named[0] if len(named) > len(cells) / 2 else None


def unit_of_cells(cells: Sequence[str]) -> tuple[str, str]:
    """Return the unit of work that most cells of a throughput have, and the same as it is shown; '' for none.

    Cells without a number, such as OOM, do not count. A unit that all numbers share is shown as it is: 599 MB/s.
    """
    cells = [cell for cell in cells if share([cell], read_cell)]
    rates = _rates_of(cells)
    named, shown = [one.unit for one in rates if one.unit or one.shown], {one.shown for one in rates}
    if has_several_units(cells):
        return "", ""
    if len(named) <= len(cells) / 2:
        units = {read_cell(cell).unit for cell in cells}
        unit = units.pop() if len(units) == 1 else ""
        unit = f"work{unit}" if _OF_NO_WORK.fullmatch(unit) else unit
        return "", unit if _OF_ANY_WORK.fullmatch(unit) else ""
    return max(named, key=named.count), shown.pop() if len(shown) == 1 else ""


def has_several_units(cells: Sequence[str]) -> bool:
    """Return whether the cells of a throughput have more than one unit of work."""
    return len({one.unit.replace("s/", "/") for one in _rates_of(cells)}) > 1


def _rates_of(cells: Sequence[str]) -> list[Meaning]:
    """What the units of cells say, of those that have the unit of a rate."""
    return [meaning for cell in cells if (meaning := meaning_of(quantity_of(cell))).role in RATES]


def unit_of_time(text: str) -> str:
    """Return the unit of time in a cell; empty if it has none."""
    try:
        unit = read_cell(text).unit
    except ValueError:
        return ""
    return meaning_of(f"time ({unit})").unit if unit else ""
