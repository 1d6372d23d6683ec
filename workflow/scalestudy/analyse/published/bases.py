"""What the printed speedups and efficiencies of a series are relative to.

The smallest scale is tried first, then other rows, the row before and other measurements. One baseline has to
explain all printed ratios of a series; if none does, they are held against the smallest scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isnan

from scalestudy.analyse.published.held import (
    BEFORE,
    DEVICES,
    FEWEST,
    ONE,
    ROW,
    SERIAL,
    SMALLEST,
    STATED,
    TIME,
    UNIT,
    Held,
    overlap,
)
from scalestudy.analyse.published.missing_bases import common_unit
from scalestudy.analyse.published.table import Recomputed, Table, limits_of, rate_of, ratio
from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.importers.numbers.printed import Printed
from scalestudy.importers.published import PublishedRow

Expected = Callable[[Recomputed], Interval]
Way = tuple[str, PublishedRow | None, Expected]


def unit_of(table: Table) -> Printed | None:
    """Returns the printed speedup of the smallest scale, if it has several devices and its speedup is not 1."""
    if table.base is None or table.base.gpus == 1 or len(table.scales) < 2:
        return None
    stated = table.base.printed_speedup
    return stated if stated and not overlap(stated, ONE) else None


def speedups_held(table: Table, others: Sequence[PublishedRow]) -> Held:
    """Returns the printed speedups beside those of the best baseline. others: further rows of the table."""
    unit = unit_of(table)

    def first(scale: Recomputed) -> Interval:
        return NOTHING if isnan(scale.throughput.value) or table.base is None else scale.speedup

    def with_unit(scale: Recomputed) -> Interval:
        over = first(scale)
        return Interval(over.value * unit.value, over.low * unit.low, over.high * unit.high) if unit else over

    if all(scale.row.printed_speedup is None for scale in table.scales):
        return Held(UNIT if unit else SMALLEST, table.base, ())
    rows = list(_other_rows(table, others))
    if unit:
        fewer = [
            way
            for way in rows
            if way[1] is not None and table.base and way[1].gpus <= table.base.gpus and way[1] is not table.base
        ]
        ways = [(UNIT, table.base, with_unit), (SERIAL, None, _over_serial), *fewer]
        named = _best(table, "printed_speedup", ways, first_may_be_better=True)
        if named.kind in (ROW, SERIAL):
            return named
    ways = [(UNIT if unit else SMALLEST, table.base, with_unit), *rows, *_further(table)]
    return _best(table, "printed_speedup", ways)


def efficiencies_held(table: Table, others: Sequence[PublishedRow]) -> Held:
    """Returns the printed efficiencies beside those that the best baseline gives."""
    base = table.base
    if all(scale.row.printed_efficiency is None for scale in table.scales):
        return Held(SMALLEST, base, ())

    def per_device(expected: Expected, gpus: int) -> Expected:
        return lambda scale: expected(scale).scaled(gpus / scale.row.gpus)

    def stated(scale: Recomputed) -> Interval:
        own = scale.row.number("printed_speedup")
        gpus = table.base_gpus / scale.row.gpus
        return scale.efficiency if own is None else Interval(own, own, own).scaled(gpus)

    def devices(scale: Recomputed) -> Interval:
        own = scale.row.number("printed_speedup")
        return NOTHING if own is None else Interval(own, own, own).scaled(1 / scale.row.gpus)

    known = _measured(table)
    before = {id(scale): less.row.gpus for less, scale in pairwise(known)}

    def after(expected: Expected) -> Expected:
        return lambda scale: expected(scale).scaled(before.get(id(scale), scale.row.gpus) / scale.row.gpus)

    own = [scale for scale in known if scale.row.printed_efficiency is not None]
    if base and base.gpus > 1 and len(own) == 1 and own[0].row is base:
        return Held(SMALLEST, base, ())  # relative to a run that the table does not have
    ways: list[Way] = [(SMALLEST, base, lambda scale: scale.efficiency)]
    if unit_row := _whole_elsewhere(table, others):
        rate = rate_of(unit_row)
        over = per_device(lambda scale: ratio(scale.throughput, rate), unit_row.gpus)
        ways = [(ROW, unit_row, over), *ways]
    ways += [(STATED, base, stated), (DEVICES, None, devices)]
    ways += [
        (kind, row, per_device(way, max(row.gpus, 1)))  # a serial run is that of one device
        for kind, row, way in _other_rows(table, others)
        if row is not None
    ]
    for kind, _, way in _further(table):
        if kind == BEFORE:
            ways.append((kind, None, after(way)))
        elif kind == SERIAL:
            ways.append((kind, None, per_device(way, 1)))
        elif base:
            ways.append((kind, base, per_device(way, base.gpus)))
    held = _best(table, "printed_efficiency", ways)
    if unit_row and held.kind == ROW and held.row is unit_row:
        first = _best(table, "printed_efficiency", ways[1:])  # both may be within rounding
        held = first if first.kind == SMALLEST and not first.outside and _apart(first) < _apart(held) else held
    held = _by_printed_speedups(held, table)
    return held if common_unit(held) else _over_its_own(held, base)


def _apart(held: Held) -> float:
    """The mean distance of printed ratios to the expected ones."""
    return sum(abs(printed.value - value.value) for _, printed, value in held.pairs) / max(len(held.pairs), 1)


def _by_printed_speedups(held: Held, table: Table) -> Held:
    """Efficiencies that follow from the rounded speedup beside them, 92 % from 3.7x on 4, are not outside."""
    if held.kind not in (SMALLEST, SERIAL):
        return held
    base_gpus = 1 if held.kind == SERIAL else table.base_gpus
    pairs = []
    for scale, printed, computed in held.pairs:
        own, share = scale.row.printed_speedup, base_gpus / scale.row.gpus
        if own and (scale, printed, computed) in held.outside and overlap(own, computed.scaled(1 / share)):
            of_own = own.value * share
            if 0 <= of_own - printed.value < printed.last or abs(of_own - printed.value) <= printed.last / 2:
                computed = Interval(of_own, of_own, of_own)
        pairs.append((scale, printed, computed))
    return replace(held, pairs=tuple(pairs))


def _whole_elsewhere(table: Table, others: Sequence[PublishedRow]) -> PublishedRow | None:
    """The only row with an efficiency of 100 %, if the smallest scale has none or another: it is the baseline."""
    base = table.base
    unit = base.printed_efficiency if base else None
    own_rows = [scale.row for scale in table.scales]
    rows = {row.line: row for row in (own_rows if unit else [*own_rows, *others])}
    named = [row for row in rows.values() if (own := row.printed_efficiency) and own.value == 1]
    stated = [row for row in own_rows if row.printed_efficiency and row not in named]
    if base is None or (unit and overlap(unit, ONE)) or len(named) != 1 or not rate_of(named[0]).low > 0:
        return None
    if not stated:  # relative to itself, any row has 100 %
        return None
    return named[0] if named[0].gpus > base.gpus else None


def _over_its_own(held: Held, base: PublishedRow | None) -> Held:
    """Efficiencies over the printed one of the smallest scale, if it has several devices and is not 1 there."""
    unit = base.printed_efficiency if base else None
    if held.kind != SMALLEST or base is None or unit is None or base.gpus == 1 or overlap(unit, ONE):
        return held
    pairs = tuple(
        (scale, printed, Interval(one.value * unit.value, one.low * unit.low, one.high * unit.high))
        for scale, printed, one in held.pairs
    )
    return Held(UNIT, base, pairs)


WIDE = 0.1
"""Relative width from which a ratio to the row before says nothing: it agrees with most printed ratios."""


def _best(table: Table, role: str, ways: Sequence[Way], *, first_may_be_better: bool = False) -> Held:
    """The first way that explains all; else the first way, or serial times if they explain more.

    first_may_be_better: the others are tried before it.
    """
    found: list[Held] = []
    for kind, row, expected in ways:
        pairs = []
        for scale in table.scales:
            printed = scale.row.numbers.get(role)
            if printed is None or isnan((value := expected(scale)).value):
                continue
            if (
                kind == ROW
                and row
                and row is not scale.row
                and row.gpus == scale.row.gpus
                and overlap(printed, ONE)
            ):
                continue  # another baseline of as many devices has a speedup of 1 too
            pairs.append((scale, printed, value))
        held = Held(kind, row, tuple(pairs))
        telling = [
            (scale, printed, value)
            for scale, printed, value in held.pairs
            if scale.row is not row
            and value != ONE
            and (kind != BEFORE or value.high - value.low < WIDE * value.value)
        ]
        enough = bool(found) and len(telling) >= FEWEST and len(pairs) >= len(found[0].pairs) - 1
        enough = enough and _is_no_chance(telling, found[0])
        if not held.outside and (enough or not (found or first_may_be_better)):
            return held
        found.append(held)
    # a column of serial times is a baseline by its name, and a row by its printed speedup of 1
    whole = [held for held in found[1:] if len(held.pairs) == len(found[0].pairs)]
    stated = [held for held in whole if held.kind == SERIAL or _is_over_a_row_with_1x(held, table)]
    return min((found[0], *stated), key=lambda held: len(held.outside))


def _is_over_a_row_with_1x(held: Held, table: Table) -> bool:
    """Whether printed speedups are held against a row with 1x, which the smallest scale has not."""
    own = table.base.printed_speedup if table.base else None
    first = held.row.printed_speedup if held.kind == ROW and held.row else None
    return first is not None and first.value == 1 and own is not None and not overlap(own, ONE)


def _is_no_chance(telling: Sequence[tuple[Recomputed, Printed, Interval]], first: Held) -> bool:
    """Whether ratios that another way than the first explains are several, or one that is rounded exactly so.

    A ratio that both ways give in common says nothing, such as that of the second row to the row before.
    """
    usual = {id(scale): value for scale, _, value in first.pairs}
    own = [(printed, value) for scale, printed, value in telling if value != usual.get(id(scale))]
    return len(own) >= FEWEST or all(
        overlap(replace(printed, last=printed.last / 2), value) for printed, value in own
    )


def _other_rows(table: Table, others: Sequence[PublishedRow]) -> Iterator[Way]:
    """Every other row as the baseline, of this series and of the others.

    If the smallest scale has a printed ratio of exactly 1, a row of the series with another one is no baseline.
    """
    rows = [scale.row for scale in table.scales if scale.row is not table.base]
    for role in ("printed_speedup", "printed_efficiency"):
        if table.base and (own := table.base.numbers.get(role)) and own.value == 1:
            rows = [row for row in rows if (other := row.numbers.get(role)) is None or other.value == 1]
    for row in [*rows, *others]:
        rate = rate_of(row)
        if rate.value > 0 and rate.low > 0:
            yield ROW, row, lambda scale, rate=rate: ratio(scale.throughput, rate)  # type: ignore[misc]


def _further(table: Table) -> Iterator[Way]:
    """Serial times, the row before, and times beside a throughput."""
    known = _measured(table)
    yield SERIAL, None, _over_serial
    before = {id(scale): less for less, scale in pairwise(known)}
    yield (
        BEFORE,
        None,
        lambda scale: ratio(scale.throughput, before[id(scale)].throughput) if id(scale) in before else NOTHING,
    )
    base = table.base
    for role in ("total_time_s", "time_s", "step_time_s"):
        if base is None or base.number(role) is None or base.throughput is None:
            continue
        for grows in (False, True):
            yield TIME, base, _of_times(base, role, grows=grows)


def _over_serial(scale: Recomputed) -> Interval:
    """The speedup over the serial time in the same row."""
    serial, work = scale.row.numbers.get("serial_time_s"), scale.row.number("work")
    if serial is None or work is None or not serial.low > 0:
        return NOTHING
    return ratio(scale.throughput, limits_of(serial).inverse(work))


def _of_times(base: PublishedRow, role: str, *, grows: bool) -> Expected:
    """Speedups from times: of a fixed piece of work, or of work that grows with the devices."""

    def expected(scale: Recomputed) -> Interval:
        own, first = scale.row.numbers.get(role), base.numbers[role]
        if own is None or not (own.low > 0 and first.low > 0):
            return NOTHING
        return ratio(limits_of(first), limits_of(own)).scaled(scale.row.gpus / base.gpus if grows else 1.0)

    return expected


def _measured(table: Table) -> list[Recomputed]:
    return [scale for scale in table.scales if not isnan(scale.throughput.value)]
