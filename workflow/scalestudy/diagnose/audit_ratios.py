"""Checks the speedups and efficiencies that a published table prints against its own measurements."""

from collections.abc import Iterator
from math import log10

from scalestudy.analyse.published.bases import unit_of
from scalestudy.analyse.published.held import ROW, SERIAL, SMALLEST, UNIT, Held
from scalestudy.analyse.published.missing_bases import common_baseline, common_unit, of_another
from scalestudy.analyse.published.settle import WEAK, Settled
from scalestudy.analyse.published.table import Table, rate_of
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.audit_course import relative_to_another
from scalestudy.diagnose.remark import Remark, apart
from scalestudy.importers.published import PublishedRow, PublishedTable
from scalestudy.importers.ratios.serial import is_serial


def ratio_remarks(
    table: Table, speedups: Held, efficiencies: Held, settled: Settled, source: PublishedTable
) -> Iterator[Remark]:
    """Return remarks on printed speedups and efficiencies that contradict the throughputs or times of a table."""
    unit = unit_of(table) if speedups.kind not in (ROW, SERIAL) else None
    if unit and table.base:
        text = (
            f"printed as {unit.value:g}x, but no smaller scale has a {settled.each}, so the table lacks the"
            f" baseline of its speedups; recomputed speedups are relative to {table.base.gpus} devices"
        )
        yield Remark("no base case", table.base.gpus, text)
    agreed = len(efficiencies.pairs) > 1 and efficiencies.kind == SMALLEST and not efficiencies.outside
    common = None if agreed else common_baseline(speedups)  # the efficiencies show that the baseline is right
    if common is not None and table.base is not None:
        named, own = source.column("printed_speedup"), table.base.printed_speedup
        serial = named is not None and is_serial(named.header)
        elsewhere = serial or (own is not None and not own.low <= 1 <= own.high)  # the table does not say its row
        kind = "no base case" if elsewhere or table.base.gpus > 1 else "speedup"
        what, shared, has = _shared_base(common, table.base, settled)
        of = ", that of a serial run" if serial else ""
        text = f"all printed speedups are relative to a {what} of {shared:.4g}{of}, "
        text += "which the table does not have; " if elsewhere else "but the table prints "
        where = f"line {table.base.line}"
        text += f"{where} has {has:.4g}" if elsewhere else f"{has:.4g} in {where}"
        yield Remark(kind, table.base.gpus, text)
    elif (other := of_another(speedups, table)) is not None:
        text = (
            f"printed as {other:g}x on one device, so the printed speedups are relative to something that the"
            " table does not have; they were not checked"
        )
        yield Remark("no base case", 1, text)
    else:
        for scale, printed, over in speedups.outside:
            whose = f" with {unit.value:g} for the baseline" if unit else ""
            given = apart(over.value, printed.value, 2)
            text = f"the {settled.given} give {given}{whose}, which rounding does not explain"
            yield Remark("speedup", scale.row.gpus, f"printed {printed.value:g}, but {text}")
    if relative_to_another(table) is None:  # else efficiencies are of what the table does not have
        yield from _efficiencies(table, efficiencies, settled)


def _efficiencies(table: Table, held: Held, settled: Settled) -> Iterator[Remark]:
    """Printed efficiencies that contradict the table's own throughputs or times."""
    if (each := common_unit(held)) is not None:
        text = (
            f"all printed efficiencies are relative to a throughput of {each.value:.4g} for each device, which the"
            " table does not have"
        )
        yield Remark("no base case", table.base_gpus, text)
        return
    first = table.base.printed_efficiency if table.base and held.kind == UNIT else None
    if first:
        text = (
            f"the printed efficiency is {100 * first.value:.3g} %, but no smaller scale has a {settled.each}, so"
            " the table lacks the baseline of its efficiencies"
        )
        yield Remark("no base case", table.base_gpus, text)
    if factors := _as_of_constant_work(table, held, settled):
        text = (
            f"all {len(factors)} printed efficiencies are ratios of times divided by those of the devices, as for"
            f" constant work; the work grows with the devices here, so they are {min(factors):g} to"
            f" {max(factors):g} times too low"
        )
        yield Remark("efficiency", None, text)
        return
    for scale, printed, computed in held.outside:
        whose = f" with {100 * first.value:.3g} % for the baseline" if first else ""
        devices = "one device" if scale.row.gpus == 1 else f"{scale.row.gpus} devices"
        decimals = max(1, round(-log10(100 * printed.last)) if printed.last > 0 else 1)
        given = apart(100 * computed.value, 100 * printed.value, decimals)
        text = f"the speedup on {devices}{whose} gives {given} %, which rounding does not explain"
        yield Remark("efficiency", scale.row.gpus, f"printed {100 * printed.value:.5g} %, but {text}")


def _as_of_constant_work(table: Table, held: Held, settled: Settled) -> list[float]:
    """How much too low the efficiencies of a series of weak scaling are, if all are those of constant work."""
    factors = []
    for scale, printed, computed in held.outside if settled.whose == WEAK else ():
        factor = scale.row.gpus / table.base_gpus
        if not (computed.low / factor <= printed.high and printed.low <= computed.high / factor):
            return []
        factors.append(factor)
    return factors if len(factors) > 1 else []


def _shared_base(common: Interval, base: PublishedRow, settled: Settled) -> tuple[str, float, float]:
    """What printed speedups are relative to, and what the table has instead: times if it has times.

    common: the throughput that all printed speedups share.
    """
    rate, time = rate_of(base).value, base.number("whole_time_s")
    if settled.given == "times" and time is not None:
        return "time", time * rate / common.value, time
    return "throughput", common.value, rate
