"""What the units and signs in the cells of a column say of its numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scalestudy.importers.headers.meaning import Meaning
from scalestudy.importers.headers.ratios import says_percent
from scalestudy.importers.numbers.printed import plain, read_cell
from scalestudy.importers.numbers.repeats import repeats_in
from scalestudy.importers.published import STATED, UTILIZATION

_PREFIXED = re.compile(
    r"(?P<prefix>[kKMGTPE]i?)(?:bit/s|bps|b/s|B/s|[Hh](?:ash)?/s|ops(?:/s)?|[Ff][Ll][Oo][Pp]/?[Ss]|tok(?:ens)?/s)"
)
_FEWEST_BITS = 32
"""Smallest power of two that is no number of tens or so by chance."""
_PREFIXES = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_PREFIXES |= {"ki": 1024.0} | {f"{prefix}i": 1024.0**power for power, prefix in enumerate("KMGTPE", start=1)}
_DECIMALS = re.compile(r"\d+[.,](?P<decimals>\d{2,})")
_FEWEST_PADDED = 3
"""Ratios that end with 0 by no chance."""
_ROUNDED, _MOST_ABOVE_ONE = 0.005, 20
"""How close to 1 the efficiency of a baseline is, and what no efficiency is as a fraction."""
_OF_A_RATIO = re.compile(
    r"x(?!\w)|times|fold|faster|slower|speed|eff|scal|of |vs|over|compared|linear|ideal|rel|w\.?r\.?t|\W|"
    r"(?:sub|super)-?linear|base|ref|best|optimal|good|excellent|poor|peak|max|avg|mean|"
    r"on |with |at |for |from |to ",
    re.IGNORECASE,
)


def prefix_of(unit: str, cells: Sequence[str]) -> float:
    """Return the factor of a unit such as Gbps to that of the first cell if their prefixes differ; else 1."""
    own = _PREFIXED.match(unit)
    found = [_PREFIXED.search(plain(cell)) for cell in cells]
    prefixes = [one["prefix"] for one in found if one]
    return _PREFIXES[own["prefix"]] / _PREFIXES[prefixes[0]] if own and len(set(prefixes)) > 1 else 1.0


def is_binary(cells: Sequence[str]) -> bool:
    """Return whether all plain numbers of a column of batches are powers of two. Then 1K is 1024."""
    sizes = [int(cell) for cell in map(plain, cells) if re.fullmatch(r"\d{1,9}", cell)]
    return bool(sizes) and all(size >= _FEWEST_BITS and size & (size - 1) == 0 for size in sizes)


def of_another_quantity(unit: str) -> bool:
    """Return whether the words behind the number of a ratio are the unit of something else: 15 PFLOP/s."""
    return bool(unit) and not _OF_A_RATIO.match(unit)


def in_percent(cells: Sequence[str], meaning: Meaning, comma: bool) -> bool:
    """Return whether a column of ratios is in per cent: it says so, or its efficiencies are above 2.

    They may be fractions above 2 beside that of the baseline, 1.00: 1.41, 2.78 and 6.25 of a search.
    """
    if meaning.role not in (*STATED, UTILIZATION, "precision_ratio"):
        return False
    values = []
    for cell in cells:
        try:
            values.append(read_cell(cell, comma=comma))
        except ValueError:
            if repeats_in(cell, comma=comma) and "%" in cell:
                return True
    if any(value.percent for value in values) or says_percent(meaning.header):
        return True
    if meaning.role not in ("printed_efficiency", UTILIZATION):
        return False
    numbers = [value.printed.value for value in values]
    above_one = any(abs(number - 1) < _ROUNDED for number in numbers) and max(numbers) < _MOST_ABOVE_ONE
    return any(number > 2 for number in numbers) and not above_one


def padded(cells: Sequence[str]) -> int:
    """Return how many last decimals are 0 in all of several ratios, which are rounded before: 74.70, 49.90."""
    found = [number for cell in cells if (number := _DECIMALS.search(plain(cell)))]
    telling = [one["decimals"] for one in found if float(one[0].replace(",", ".")) not in (1, 100)]
    if len(telling) < _FEWEST_PADDED or len({len(one["decimals"]) for one in found}) > 1:
        return 0
    return min(len(decimals) - len(decimals.rstrip("0")) for decimals in telling)


def is_in_percent(cells: Sequence[str]) -> bool:
    """Return whether efficiencies that are printed with an x are in per cent: x100.0, x103.4, x89.6."""
    return any(re.fullmatch(r"x ?100(?:\.0*)?|100(?:\.0*)? ?x", plain(cell).lower()) for cell in cells)
