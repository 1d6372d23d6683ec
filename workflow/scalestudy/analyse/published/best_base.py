"""Chooses the baseline of printed ratios: the first that explains all of them, or the one that explains most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isnan

from scalestudy.analyse.published.held import BEFORE, FEWEST, ONE, ROW, SERIAL, Held, Pair, overlap
from scalestudy.analyse.published.table import Recomputed, Table
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.importers.published import PublishedRow

Expected = Callable[[Recomputed], Interval]
Way = tuple[str, PublishedRow | None, Expected]
"""A possible baseline: its kind, its row if it is one, and the ratio that a scale has to it."""
_WIDE = 0.1
"""Relative width from which a recomputed ratio says nothing: it agrees with most printed ratios."""
_ENOUGH = 3
"""Printed ratios that a baseline has to explain which the table does not name, if it does not explain all."""


def best_base(table: Table, role: str, ways: Sequence[Way], *, first_may_be_better: bool = False) -> Held:
    """Return the first way that explains all printed ratios, else the one that clearly explains most of them.

    If there is none, it is the first way. first_may_be_better: the others are tried before it.
    """
    found: list[Held] = []
    for way in ways:
        held = _held(table, role, way)
        telling = _telling(held, of_any=held.kind != BEFORE)
        enough = bool(found) and len(telling) >= FEWEST and len(held.pairs) >= len(found[0].pairs) - 1
        enough = enough and _is_no_chance(telling, found[0])
        if not held.outside and (enough or not (found or first_may_be_better)):
            return held
        found.append(held)
    return _explaining_most(found, table)


def _held(table: Table, role: str, way: Way) -> Held:
    """The printed ratios beside those that a way gives, as far as there are both."""
    kind, row, expected = way
    pairs = []
    for scale in table.scales:
        printed = scale.row.numbers.get(role)
        if printed is None or isnan((value := expected(scale)).value):
            continue
        of_as_many = kind == ROW and row is not None and row is not scale.row and row.gpus == scale.row.gpus
        if of_as_many and overlap(printed, ONE):
            continue  # another baseline of as many devices has a speedup of 1 too
        pairs.append((scale, printed, value))
    return Held(kind, row, tuple(pairs))


def _telling(held: Held, *, of_any: bool = False) -> list[Pair]:
    """The pairs whose agreement says something: not those of the baseline itself, nor of wide ranges.

    of_any: also of wide ranges.
    """
    return [
        (scale, printed, value)
        for scale, printed, value in held.pairs
        if scale.row is not held.row and value != ONE and (of_any or value.high - value.low < _WIDE * value.value)
    ]


def _is_no_chance(telling: Sequence[Pair], first: Held) -> bool:
    """Whether ratios that another way than the first explains are several, or one that is rounded exactly so.

    A ratio that both ways give in common says nothing, such as that of the second row to the row before.
    """
    usual = {id(scale): value for scale, _, value in first.pairs}
    own = [(printed, value) for scale, printed, value in telling if value != usual.get(id(scale))]
    return len(own) >= FEWEST or all(
        overlap(replace(printed, last=printed.last / 2), value) for printed, value in own
    )


def _explaining_most(found: Sequence[Held], table: Table) -> Held:
    """The way that clearly explains the most printed ratios; the first way if there is none, or several."""
    first = found[0]
    clear = [held for held in found[1:] if _is_clear(held, first, table)]
    most = max((len(_explained(held)) for held in clear), default=0)
    best = [held for held in clear if len(_explained(held)) == most]
    named = [held for held in best if _is_named(held, table)]
    if named or len({tuple(id(scale) for scale, _, _ in _explained(held)) for held in best}) == 1:
        return (named or best)[0]
    return first


def _is_clear(held: Held, first: Held, table: Table) -> bool:
    """Whether a way explains more than the first way, and most of all ratios unless the table names it."""
    explained, usual = len(_explained(held)), len(_explained(first))
    if _is_named(held, table) and len(held.pairs) == len(first.pairs):
        fewer = len(held.outside) < len(first.outside)
        return fewer or (len(held.outside) == len(first.outside) and explained > usual)
    whole = len(held.pairs) >= len(first.pairs) - 1
    return whole and explained >= max(_ENOUGH, usual + FEWEST) and explained > 2 * len(held.outside)


def _explained(held: Held) -> list[Pair]:
    """The pairs whose agreement says something and that rounding explains."""
    return [pair for pair in _telling(held) if pair not in held.outside]


def _is_named(held: Held, table: Table) -> bool:
    """Whether the table names a baseline.

    It names serial times by their column. If the smallest scale has another speedup than 1, a row with 1x is named
    too, and so is a serial run.
    """
    own = table.base.printed_speedup if table.base else None
    if held.kind != ROW or held.row is None:
        return held.kind == SERIAL
    unit = held.row.printed_speedup
    of_all = held.row.gpus == 0 if unit is None else unit.value == 1
    return own is not None and own.value != 1 and of_all
