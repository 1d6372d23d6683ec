"""What the printed speedups and efficiencies of a series are relative to.

The smallest scale is tried first, then other rows, the row before and other measurements. One baseline has to
explain all printed ratios of a series, or clearly the most of them; if none does, they are held against the
smallest scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isnan

from scalestudy.analyse.published.best_base import Expected, Way, best_base
from scalestudy.analyse.published.held import (
    BEFORE,
    DEVICES,
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
from scalestudy.importers.published import PublishedRow, PublishedTable


def unit_of(table: Table) -> Printed | None:
    """Returns the printed speedup of the smallest scale, if it has several devices and its speedup is not 1."""
    if table.base is None or table.base.gpus == 1 or len(table.scales) < 2:
        return None
    stated = table.base.printed_speedup
    return stated if stated and not overlap(stated, ONE) else None


def speedups_held(table: Table, others: Sequence[PublishedRow], source: PublishedTable) -> Held:
    """Returns the printed speedups beside those of the best baseline.

    others: further rows of the table. source: the table, whose header may say that each is over the row before.
    """
    unit = unit_of(table)

    def first(scale: Recomputed) -> Interval:
        return NOTHING if isnan(scale.throughput.value) or table.base is None else scale.speedup

    def with_unit(scale: Recomputed) -> Interval:
        over = first(scale)
        return Interval(over.value * unit.value, over.low * unit.low, over.high * unit.high) if unit else over

    if all(scale.row.printed_speedup is None for scale in table.scales):
        return Held(UNIT if unit else SMALLEST, table.base, ())
    further = list(_further(table))
    if source.says_row_before("printed_speedup"):
        ways = [way for way in further if way[0] == BEFORE]
        return _over_row_before(table, "printed_speedup", ways, source)
    rows = list(_other_rows(table, others, "printed_speedup"))
    if unit and table.base:
        whole = [row for _, row, _ in rows if row and row.number("printed_speedup") == 1]
        fewer = [
            way
            for way in rows
            if (row := way[1]) and row is not table.base and (row.gpus <= table.base.gpus or whole == [row])
        ]
        ways = [(UNIT, table.base, with_unit), (SERIAL, None, _over_serial), *fewer]
        named = best_base(table, "printed_speedup", ways, first_may_be_better=True)
        if named.kind in (ROW, SERIAL):
            return named
    ways = [(UNIT if unit else SMALLEST, table.base, with_unit), *rows, *further]
    return best_base(table, "printed_speedup", ways)


def efficiencies_held(table: Table, others: Sequence[PublishedRow], source: PublishedTable) -> Held:
    """Returns the printed efficiencies beside those that the best baseline gives. source: as of speedups_held."""
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

    if source.says_row_before("printed_efficiency"):
        ways: list[Way] = [(kind, None, after(way)) for kind, _, way in _further(table) if kind == BEFORE]
        return _over_row_before(table, "printed_efficiency", ways, source)
    own = [scale for scale in known if scale.row.printed_efficiency is not None]
    if base and base.gpus > 1 and len(own) == 1 and own[0].row is base:
        return Held(SMALLEST, base, ())  # relative to a run that the table does not have
    ways = [(SMALLEST, base, lambda scale: scale.efficiency)]
    if unit_row := _whole_elsewhere(table, others):
        rate = rate_of(unit_row)
        over = per_device(lambda scale: ratio(scale.throughput, rate), unit_row.gpus)
        ways = [(ROW, unit_row, over), *ways]
    ways += [(STATED, base, stated), (DEVICES, None, devices)]
    ways += [
        (kind, row, per_device(way, max(row.gpus, 1)))  # a serial run is that of one device
        for kind, row, way in _other_rows(table, others, "printed_efficiency")
        if row is not None
    ]
    for kind, _, way in _further(table):
        if kind == BEFORE:
            ways.append((kind, None, after(way)))
        elif kind == SERIAL:
            ways.append((kind, None, per_device(way, 1)))
        elif base:
            ways.append((kind, base, per_device(way, base.gpus)))
    held = best_base(table, "printed_efficiency", ways)
    if unit_row and held.kind == ROW and held.row is unit_row:
        first = best_base(table, "printed_efficiency", ways[1:])  # both may be within rounding
        held = first if first.kind == SMALLEST and not first.outside and _apart(first) < _apart(held) else held
    held = _by_printed_speedups(held, table)
    return held if common_unit(held) else _over_its_own(held, base)


def _over_row_before(table: Table, role: str, ways: Sequence[Way], source: PublishedTable) -> Held:
    """Ratios over the row before; none are held in a ladder of changes, whose rows are no series."""
    return Held(BEFORE, None, ()) if source.is_ladder(role) else best_base(table, role, ways)


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


def _other_rows(table: Table, others: Sequence[PublishedRow], role: str) -> Iterator[Way]:
    """Every other row as the baseline, of this series and of the others.

    If the smallest scale has a printed ratio of exactly 1, a row of the series with another one is no baseline.
    role: of the ratios. Where the smallest scale has none of them, its other ratio says it.
    """
    rows = [scale.row for scale in table.scales if scale.row is not table.base]
    printed = [role, *({"printed_speedup", "printed_efficiency"} - {role})]
    said = next((one for one in printed if table.base and one in table.base.numbers), "")
    if table.base and table.base.number(said) == 1:
        rows = [row for row in rows if row.number(said) in (None, 1)]
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
