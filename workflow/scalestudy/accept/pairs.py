"""A pairwise covering array: a few rows in which every possible pair of options occurs.

The algorithm is greedy: of all allowed rows, it takes the one with the most missing pairs. With equal counts it
takes the cheaper row, then the earlier one, so that the same options always give the same rows.
Source: Cohen, Dalal, Fredman and Patton (1997), The AETG system, IEEE Trans. Software Engineering 23.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Row = dict[str, str]
Pair = tuple[tuple[str, str], tuple[str, str]]
"""Two options, each with its name and its value, in the order of the options."""


@dataclass(frozen=True)
class Covering:
    """Rows that cover every possible pair, and the pairs that no row can have."""

    rows: tuple[Row, ...]
    impossible: Mapping[Pair, str]
    """Pair -> why it is impossible, as a sentence without a full stop."""


def pairs_of(row: Row) -> list[Pair]:
    """Return all pairs of options of a row."""
    return list(itertools.combinations(row.items(), 2))


def cover(
    options: Mapping[str, Sequence[str]],
    refusals: Callable[[Row], Sequence[str]],
    cost: Callable[[Row], float] = lambda row: 0.0,
) -> Covering:
    """Return a covering array. refusals: reasons why a row is impossible, or none. cost: of a row, in any unit.

    All combinations are examined; a few thousand take some tenths of a second.
    """
    rows = [dict(zip(options, values, strict=True)) for values in itertools.product(*options.values())]
    why = [frozenset(refusals(row)) for row in rows]
    possible = [row for row, reasons in zip(rows, why, strict=True) if not reasons]
    wanted = {pair for row in possible for pair in pairs_of(row)}
    hindered: dict[Pair, list[frozenset[str]]] = {}
    for row, reasons in zip(rows, why, strict=True):
        for pair in pairs_of(row):
            if pair not in wanted:
                hindered.setdefault(pair, []).append(reasons)
    chosen: list[Row] = []
    left = sorted(possible, key=cost)
    while wanted:
        best = max(left, key=lambda row: len(wanted.intersection(pairs_of(row))))
        chosen.append(best)
        wanted.difference_update(pairs_of(best))
    return Covering(tuple(chosen), {pair: "; ".join(few(reasons)) for pair, reasons in hindered.items()})


def few(reasons: list[frozenset[str]]) -> list[str]:
    """Return a few reasons such that every row has at least one: greedy by frequency, then alphabetical."""
    said: list[str] = []
    while reasons:
        counts = Counter(reason for row in reasons for reason in row)
        said.append(min(counts, key=lambda reason: (-counts[reason], reason)))
        reasons = [row for row in reasons if said[-1] not in row]
    return said
