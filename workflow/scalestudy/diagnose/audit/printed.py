"""Printed numbers against what follows from the others: rates, speedups, efficiencies, and what they are over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

from scalestudy.analyse.published import Table, global_batch, limits_of, rate_of, ratio
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.audit.remark import Remark
from scalestudy.importers.published import Printed, PublishedRow


def unusable(table: Table) -> Iterator[Remark]:
    """Rows that were left out."""
    for row in table.unusable:
        text = "a throughput or step time that is not above 0 is no measurement; the row was left out"
        yield Remark("not positive", row.gpus, f"line {row.line}: {text}")


def bases(table: Table) -> Iterator[Remark]:
    """What speedups are over: nothing, too little, or two things."""
    base = table.base
    if base is None:
        if table.scales:
            text = (
                "no row has a throughput, or a step time with its batch: nothing can be recomputed, and the"
                " printed speedups are taken as being over one device"
            )
            yield Remark("no base case", None, text)
        return
    if len({scale.row.gpus for scale in table.scales}) < 2:
        devices = "one device was" if base.gpus == 1 else f"{base.gpus} devices were"
        yield Remark("one scale", base.gpus, f"only {devices} measured: a throughput, but nothing about scaling")
        return
    largest = table.scales[-1]
    for other in table.other_bases:
        over = ratio(largest.throughput, rate_of(other)).value * other.gpus / largest.row.gpus
        text = (
            f"the efficiency on {largest.row.gpus} devices is {largest.efficiency.value:.3f} over"
            f" {_how(base)} and {over:.3f} over {_how(other)}: a speedup has to name its base case"
        )
        yield Remark("two base cases", base.gpus, text)


def repeated(table: Table) -> Iterator[Remark]:
    """Configurations that stand in the table more than once."""
    for scale in table.scales:
        if len(scale.lines) > 1:
            lines = f"lines {' and '.join(map(str, scale.lines))}"
            text = f"{lines} are the same configuration; their geometric mean is used"
            yield Remark("printed twice", scale.row.gpus, text)


def rates(rows: Sequence[PublishedRow]) -> Iterator[Remark]:
    """Rows whose throughput is not their batch over their step time."""
    for row in rows:
        batch, time = global_batch(row), row.step_time_s
        if row.throughput is None or time is None or batch is None or not time.low > 0:
            continue
        of_time = limits_of(time).inverse(batch)
        if not _overlap(row.throughput, of_time):
            computed = f"{batch:g} samples in {time.value * 1e3:g} ms are {of_time.value:.5g} a second"
            text = f"{computed}, and {row.throughput.value:g} are printed"
            yield Remark("throughput against step time", row.gpus, text)


def speedups(table: Table, *, efficiency_printed: bool) -> Iterator[Remark]:
    """Printed speedups and efficiencies against the table's own throughputs."""
    unit = _unit(table)
    if unit and table.base:
        text = (
            f"printed as {unit.value:g}x, and no smaller scale has a throughput: what the printed speedups are"
            f" over is not in the table; recomputed ones are over {table.base.gpus} devices"
        )
        yield Remark("no base case", table.base.gpus, text)
    for scale in table.scales:
        row, efficiency, over = scale.row, scale.efficiency, scale.speedup
        if unit:
            over = Interval(over.value * unit.value, over.low * unit.low, over.high * unit.high)
        computed = not isnan(scale.throughput.value) and table.base is not None
        if computed and row.printed_speedup and not _overlap(row.printed_speedup, over):
            whose = f" from the {unit.value:g} of the base" if unit else ""
            text = f"the throughputs give {over.value:.2f}{whose}: outside rounding"
            yield Remark("speedup", row.gpus, f"printed {row.printed_speedup.value:g}, and {text}")
        if row.printed_efficiency and not _overlap(row.printed_efficiency, efficiency):
            text = f"the speedup over {row.gpus} devices gives {efficiency.value:.3f}: outside rounding"
            yield Remark("efficiency", row.gpus, f"printed {row.printed_efficiency.value:.3g}, and {text}")
        if efficiency_printed and row.printed_speedup and not row.printed_efficiency:
            text = f"it is {efficiency.value:.0%}; the file has others"
            yield Remark("efficiency not printed", row.gpus, text)


def _unit(table: Table) -> Printed | None:
    """What is printed as the speedup of the smallest scale, where that is on several devices and not 1."""
    if table.base is None or table.base.gpus == 1 or len(table.scales) < 2:
        return None
    stated = table.base.printed_speedup
    return stated if stated and not _overlap(stated, Interval(1.0, 1.0, 1.0)) else None


def _overlap(printed: Printed, computed: Interval) -> bool:
    slack = 1e-9 * abs(printed.value)  # of binary fractions
    return printed.low <= computed.high + slack and computed.low <= printed.high + slack


def _how(row: PublishedRow) -> str:
    return f"{row.label('strategy') or 'its row'} on {row.gpus}"
