"""Cells with two things in them: a measurement with its ratio, or quantities of different units."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from itertools import product
from math import isclose

from scalestudy.importers.cells.brackets_said import ANOTHER, are_in_brackets, measured_beside, ratio_in_brackets
from scalestudy.importers.cells.ratio_headers import header_of_ratio
from scalestudy.importers.cells.second_ratios import with_second_ratios
from scalestudy.importers.cells.units import unit_of_time
from scalestudy.importers.counts.headers import count_of_header
from scalestudy.importers.counts.phrases import is_of_devices
from scalestudy.importers.headers.meaning import is_utilization, meaning_of, never_a_label, normal
from scalestudy.importers.headers.terms import DEVICE, IDEAL, SECONDS
from scalestudy.importers.numbers.durations import read_duration
from scalestudy.importers.numbers.printed import plain, read_cell, share
from scalestudy.importers.numbers.ratios_behind import with_ratios_in_one_spelling
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.quantities import quantity_of
from scalestudy.importers.ratios.columns import CLOSE
from scalestudy.importers.ratios.kinds import kind_by_ratios
from scalestudy.importers.raw import RawTable

_BOTH = re.compile(
    r"(?P<number>[~(]?\d.*?)\s*(?P<open>[(\[]|[/;|]|,\s|\s-\s|\s(?:->|\u2192)\s|\s)\s*(?P<ratio>~?(?:\d+\.?\d*|\.\d+)\s*(?P<sign>x|%|))"
    r"(?:\s*(?:speed-?up|faster|eff(?:iciency|\.)?|of (?:linear|ideal)|scaling))?\s*[)\]]?",
    re.IGNORECASE,
)
_HEADER = re.compile(r"(?P<first>.*?)\s*(?:[(\[/&,+]|\band\b)\s*(?P<second>[^()\[\]/&,+]+?)\s*[)\]]?")
_OF_A_SIZE = re.compile(rf"\S*\d\S* ?(?:per|/) ?{DEVICE}\b", re.IGNORECASE)
"""The size of the work of each device. It is no rate."""
_ACCURACY = re.compile(
    r"(?:[a-z]+ )?acc(?:uracy)?\.?(?: ?\(%\))?|精度|准确率|精確度|정확도|miou|map|top-?[15]|bleu|f1|auc",
    re.IGNORECASE,
)
"""What is in per cent behind a measurement and no ratio of it."""
_IDEAL = re.compile(IDEAL, re.IGNORECASE)
_OF_DATA = re.compile(
    r"(?:[a-z]+ )?(?:data ?)?(?:points|sets?|size|elements|cells|particles|rows|records|samples|share)"
)
"""Headers of how much is computed."""
_WITHOUT_SECOND = re.compile(r"(?P<number>~?\d[^/]*?) ?/ ?(?:[-\u2013\u2014]|n/?a)", re.IGNORECASE)
"""A measurement with a dash instead of what is behind it: 301h/-."""
_OTHER = "(another number)"
ACROSS = 0.25
"""The same for a column of devices across, where most baselines may stand."""
MOST_OF = 0.6
"""Share of the cells of a column that have both. The baseline may have no ratio."""
_QUANTITIES = re.compile(
    r"(?:\s*[\u00b7\u2022;|]\s*|\s/\s|\s@\s|(?<=\d[a-z]), (?=~?\d)|(?<=\d [mu]s), (?=~?\d)|"
    r"(?<=\d its), (?=~?\d)|(?<=\diters), (?=~?\d)|(?<=iterations), (?=~?\d)|"
    r"(?<=\d[a-z])/(?=~?\d[\d.]* ?%)|(?<=[a-z]/s) (?=~?\d)|(?<=/sec) (?=~?\d))(?![^()]*\))"
)
"""What separates the quantities of a cell, outside brackets."""


_OF_THE_PEAK = re.compile(r"\bmfu\b|\bmodel flops? util", re.IGNORECASE)
RATIOS = ("speedup", "efficiency")
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


def with_ratios(table: RawTable) -> RawTable:
    """Return a table in which speedups and efficiencies that share cells with measurements have columns."""
    table = with_second_ratios(with_quantities(_with_one_spelling(table)))
    first = [row[0] for _, row in table.rows if row]
    if any(meaning_of(name).role in MEASURED for name in first):
        return table  # a row per quantity
    header: list[str] = []
    added: dict[int, str] = {}
    for place, name in enumerate(table.header):
        found = _split_header(table, place, name)
        header += found if found else [name]
        if found:
            added[place] = found[1]
    if not added:
        return table
    rows = []
    for line, cells in table.rows:
        row: list[str] = []
        for place, cell in enumerate(cells):
            row += _split_cell(cell) if place in added else [cell]
        rows.append((line, tuple(row)))
    return replace(table, header=tuple(header), rows=tuple(rows))


def _with_one_spelling(table: RawTable) -> RawTable:
    """A table whose cells behind the first have their ratios as 23.3 (6.6x, 83 %)."""
    rows = [(line, (*row[:1], *map(with_ratios_in_one_spelling, row[1:]))) for line, row in table.rows]
    return replace(table, rows=tuple(rows))


def with_quantities(table: RawTable) -> RawTable:
    """Return a table in which quantities of different units that share cells, 480 ms · 67k tok/s, have columns."""
    columns = {}
    for place in range(1, len(table.header)):
        if _OF_DATA.fullmatch(normal(table.header[place])):
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
        measured = [part for part in known if quantity_of(part) not in RATIOS]
        behind = behind if len(behind) == 1 else measured or known
        kinds = [quantity_of(part) or _kind(part) or _count_of(part) for part in (both[1], *behind)]
        if len(behind) == 1 and _is_again(both[1], behind[0]):
            return [text]
        if len(kinds) > 1 and all(kinds) and len(set(kinds)) == len(kinds) and not {*RATIOS} & {*kinds}:
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
    """A header for a number of things in front of another quantity: 44 its, 1,764 records in 12 ms; or ''."""
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
    if _ACCURACY.fullmatch(head) and not never_a_label(head):
        return f"accuracy {head}"
    across = count_of_header(head)
    measured = across is not None and meaning_of(across[1]).role in MEASURED
    return head if never_a_label(head) or measured else f"{head} {quantity}".strip()


def _split_header(table: RawTable, place: int, header: str) -> list[str]:
    """The headers of a measurement and of the ratio in the same cells; empty if a column has one thing only."""
    cells = list(map(_sign_last, table.cells(place)))
    found = [_both(cell) for cell in cells]
    both = [one for one in found if one]
    named = _HEADER.fullmatch(plain(header))
    second = named["second"] if named and meaning_of(named["second"]).role in STATED else ""
    signed = are_in_brackets(both) and all(one["sign"] for one in both)
    of_scaling = named is not None and signed and normal(named["second"]) == "scaling"
    of_ideal = (
        named is not None and meaning_of(named["first"]).role in STATED and _IDEAL.fullmatch(named["second"])
    )
    if named and of_ideal and len(both) >= MOST_OF * len(cells):
        return [named["first"], f"{named['second']} {named['first']}"]
    without = [cell for cell in cells if _WITHOUT_SECOND.fullmatch(cell)]
    of_accuracy = named is not None and _ACCURACY.fullmatch(named["second"].strip())
    if cells and named and of_accuracy and len(both) + len(without) >= MOST_OF * len(cells):
        return [named["first"].replace("(", ""), f"accuracy ({plain(header)})"]
    of_two = len(cells) == 2 and [one["sign"].lower() for one in both] == ["x"]  # the first row is the baseline
    few = ACROSS if signed or count_of_header(header) or of_two else MOST_OF
    if (
        _is_a_result(header)
        or 2 * sum(map(is_of_devices, cells)) > len(cells)
        or _OF_DATA.fullmatch(normal(header))
        or place == 0
        or len(both) < max(1 if few == ACROSS else 2, few * len(cells))
        or (meaning_of(header).role in ("gpus", "nodes", "batch", *STATED) and not second and not of_scaling)
    ):
        return []
    signs = {one["sign"].lower() for one in both}
    of_text = "" if second or not are_in_brackets(both) else ratio_in_brackets(table)
    alone = signs == {""} and not second and not of_text and not _are_of_the_fewest(table, place)
    if of_text == ANOTHER or len(signs) > 1 or alone or (_is_duration(cells) and not signed):
        return []
    if signs == {"%"} and not second and any(one["open"].strip() not in ("(", "[", "/") for one in both):
        return []
    first = named["first"] if named and (second or of_scaling) else header
    if not second and of_text:
        second = of_text
    elif not second:
        ratios = [read_cell(one["ratio"]).printed.value for one in both]
        percent = signs == {"%"}
        called = 100 in ratios or any("% eff" in cell for cell in cells)
        if percent and max(ratios) > 110 and not called:
            return []
        called |= any(re.search("effic|speed", words, re.IGNORECASE) for words in table.captions)
        near = (*table.header, *table.cells(0), *(() if called else table.captions))
        of_the_peak = percent and any(map(_OF_THE_PEAK.search, near))
        second = "MFU" if of_the_peak else "efficiency" if percent else "speedup"
    unknown = (signed or of_text) and meaning_of(first).role == "ignore" and count_of_header(header) is None
    if unknown and (read_as := kind_by_ratios(cells, found)):
        bare = _OF_A_SIZE.sub("", plain(first)).strip(" ,")
        return [f"{bare} {read_as}", f"{bare} {second}"]
    if unknown and any(meaning_of(name).role in MEASURED for name in table.header):
        return []  # the share of another number, such as that of the trained parameters
    if unknown and (measured := measured_beside(table)):
        return [f"{plain(first)} {measured}", f"{plain(first)} {second}"]
    whole = header_of_ratio(table, header, first, second)
    return [first, whole] if whole else []


def _both(cell: str) -> re.Match[str] | None:
    """A number and its ratio; None if the first is no number, such as 8/8 (100%)."""
    found = _BOTH.fullmatch(cell)
    number = found["number"] if found else ""
    return found if found and (read_duration(number) or share([number], read_cell)) else None


def _is_a_result(header: str) -> bool:
    """Whether a header is of something beside the scaling, such as memory or accuracy: no s/epoch and no MFU."""
    measured = meaning_of(header).role in MEASURED or is_utilization(header)
    return never_a_label(header) and not measured


def _are_of_the_fewest(table: RawTable, place: int) -> bool:
    """Whether a column is of devices, and plain numbers in brackets are mostly ratios to the fewest: 95 (1.9)."""
    counts = {at: found[0].gpus for at, name in enumerate(table.header) if (found := count_of_header(name))}
    base = min(counts, key=lambda at: counts[at], default=place)
    if place not in counts or base == place:
        return False
    close = known = 0
    for (_, row), at in product(table.rows, counts.keys() - {base}):
        both = _BOTH.fullmatch(plain(row[at])) if max(at, base) < len(row) else None
        if not both or both["open"].strip() not in ("(", "["):
            continue
        with suppress(ValueError, ZeroDivisionError):
            known += 1
            whole = read_cell(both["number"]).printed.value / read_cell(row[base]).printed.value
            close += isclose(whole, read_cell(both["ratio"]).printed.value, rel_tol=CLOSE)
    return 2 * close > known


def _split_cell(cell: str) -> list[str]:
    if without := _WITHOUT_SECOND.fullmatch(plain(cell)):
        return [without["number"], ""]
    found = _BOTH.fullmatch(_sign_last(cell))
    return [found["number"], found["ratio"]] if found and found["ratio"] else [cell, ""]


def _sign_last(cell: str) -> str:
    """The text of a cell whose ratios have their sign behind the number: x1.9 (x2) is 1.9x (2x)."""
    return re.sub(r"(?:^|(?<=[(\[]))x ?(\d+\.?\d*)(?=[)\]\s])", r"\1x", plain(cell))


def _is_duration(cells: list[str]) -> bool:
    return any(re.search(r"\d ?[hm]\w* ?\d", cell) for cell in cells)
