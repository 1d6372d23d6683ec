"""Cells with a measurement and its ratio, 23.3 (6.6x): each has a column."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from itertools import product
from math import isclose

from scalestudy.importers.cells.brackets_said import ANOTHER, are_in_brackets, measured_beside, ratio_in_brackets
from scalestudy.importers.cells.ratio_headers import header_of_ratio
from scalestudy.importers.cells.second_ratios import with_second_ratios
from scalestudy.importers.cells.several_quantities import ACCURACY, MOST_OF, OF_DATA, with_quantities
from scalestudy.importers.counts.headers import count_of_header
from scalestudy.importers.counts.phrases import is_of_devices
from scalestudy.importers.headers.meaning import is_utilization, meaning_of, never_a_label, normal
from scalestudy.importers.headers.terms import DEVICE, IDEAL
from scalestudy.importers.numbers.durations import read_duration
from scalestudy.importers.numbers.printed import plain, read_cell, share
from scalestudy.importers.numbers.ratios_behind import with_ratios_in_one_spelling
from scalestudy.importers.published import MEASURED, STATED
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
_IDEAL = re.compile(IDEAL, re.IGNORECASE)
_WITHOUT_SECOND = re.compile(r"(?P<number>~?\d[^/]*?) ?/ ?(?:[-\u2013\u2014]|n/?a)", re.IGNORECASE)
"""A measurement with a dash instead of what is behind it: 301h/-."""
ACROSS = 0.25
"""Share of the cells of a column of devices across that have both: most may be baselines."""
_OF_THE_PEAK = re.compile(r"\bmfu\b|\bmodel flops? util", re.IGNORECASE)


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
    of_accuracy = named is not None and ACCURACY.fullmatch(named["second"].strip())
    if cells and named and of_accuracy and len(both) + len(without) >= MOST_OF * len(cells):
        return [named["first"].replace("(", ""), f"accuracy ({plain(header)})"]
    of_two = len(cells) == 2 and [one["sign"].lower() for one in both] == ["x"]  # the first row is the baseline
    few = ACROSS if signed or count_of_header(header) or of_two else MOST_OF
    if (
        _is_a_result(header)
        or 2 * sum(map(is_of_devices, cells)) > len(cells)
        or OF_DATA.fullmatch(normal(header))
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
