"""Whether numbers without a unit are throughputs or times, by the ratios in brackets behind some of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import isclose

from scalestudy.importers.numbers.printed import read_cell
from scalestudy.importers.ratios.columns import CLOSE
from scalestudy.importers.raw import UNSAID, RawTable

_MOST_TIMES = 10
"""Doublings of the devices that an efficiency may be of."""


def kind_by_ratios(cells: Sequence[str], found: Sequence[re.Match[str] | None]) -> str:
    """Return `throughput` or `time` if each ratio follows as such from a number in front of it; else ''.

    cells: of a column, in order. found: the number, the ratio and its sign in each of those that have both.
    """
    kinds = [_kinds(cells[:place], one) for place, one in enumerate(found) if one]
    both = set.intersection(*kinds) if kinds else set()
    return both.pop() if len(both) == 1 else ""


def _kinds(above: Sequence[str], one: re.Match[str]) -> set[str]:
    """What a number may be by its ratio to one of the numbers above it."""
    number, stated = read_cell(one["number"]).printed.value, read_cell(one["ratio"]).printed
    ratio = stated.value
    if ratio <= 0:
        return set()
    close = max(CLOSE, stated.last / 2 / ratio)
    percent = one["sign"] == "%"
    result = set()
    for base in _numbers(above):
        if not percent:
            result |= {"throughput"} if isclose(number / base, ratio, rel_tol=close) else set()
            result |= {"time"} if isclose(base / number, ratio, rel_tol=close) else set()
            continue
        for power in range(1, _MOST_TIMES + 1):
            rate = isclose(number / base / 2**power, ratio / 100, rel_tol=close)
            result |= {"throughput"} if rate else set()
            time = isclose(base / number / 2**power, ratio / 100, rel_tol=close)
            result |= {"time"} if time else set()
    return result


def _numbers(cells: Sequence[str]) -> Iterator[float]:
    for cell in cells:
        try:
            value = read_cell(cell).printed.value
        except ValueError:
            continue
        if value > 0:
            yield value


def by_ratio(table: RawTable, places: tuple[int, int], ratio: int, factor: float) -> str:
    """Return whether numbers below devices are throughputs or times, by the ratios in most of the rows.

    factor: how many times more devices the last of the two columns has.
    """
    rates = times = 0
    for _, cells in table.rows:
        try:
            first, last = (read_cell(cells[place]).printed.value for place in places)
            said = read_cell(cells[ratio])
        except (ValueError, IndexError):
            continue
        stated = said.printed.value / (100 if said.percent else 1)
        if min(first, last, stated) > 0:
            of_all = stated > 1 or not said.percent  # 80 % may be what each of more devices does, or all of them
            speedups = [stated] * of_all + [stated * factor] * said.percent
            about = max(CLOSE, said.printed.last / said.printed.value)
            rates += any(abs(last / first / speedup - 1) < about for speedup in speedups)
            times += any(abs(first / last / speedup - 1) < about for speedup in speedups)
    known = len(table.rows) / 2
    return "throughput" if rates > known else "time" if times > known else UNSAID
