"""Printed numbers against what follows from the others: rates, speedups, efficiencies, and what they are over."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from scalestudy.analyse.published import Table, global_batch, rate_of, ratio
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.audit.remark import Remark
from scalestudy.importers.published import Printed, PublishedRow


def unusable(table: Table) -> list[Remark]:
    """Rows that were left out."""
    return [
        Remark(
            "not positive",
            row.gpus,
            f"line {row.line}: a throughput or step time that is not above 0 is no measurement; the row was left"
            " out",
        )
        for row in table.unusable
    ]


def bases(table: Table) -> list[Remark]:
    """What speedups are over: nothing, too little, or two things."""
    if table.base is None:
        if not table.scales:
            return []
        return [
            Remark(
                "no base case",
                None,
                "no row has a throughput, or a step time with its batch: nothing can be recomputed, and the"
                " printed speedups are taken as being over one device",
            )
        ]
    if len({scale.row.gpus for scale in table.scales}) < 2:
        return [
            Remark(
                "one scale",
                table.base.gpus,
                f"only {_devices(table.base.gpus)} measured: a throughput, but nothing about scaling",
            )
        ]
    remarks = []
    largest = table.scales[-1]
    for other in table.other_bases:
        over = ratio(largest.throughput, rate_of(other)).value * other.gpus / largest.row.gpus
        remarks.append(
            Remark(
                "two base cases",
                table.base.gpus,
                f"the efficiency on {largest.row.gpus} devices is {largest.efficiency.value:.3f} over"
                f" {_how(table.base)} and {over:.3f} over {_how(other)}: a speedup has to name its base case",
            )
        )
    return remarks


def repeated(table: Table) -> list[Remark]:
    """Configurations that stand in the table more than once."""
    return [
        Remark(
            "printed twice",
            scale.row.gpus,
            f"lines {' and '.join(map(str, scale.lines))} are the same configuration; their geometric mean is"
            " used",
        )
        for scale in table.scales
        if len(scale.lines) > 1
    ]


def rates(rows: Sequence[PublishedRow]) -> list[Remark]:
    """Rows whose throughput is not their batch over their step time."""
    remarks = []
    for row in rows:
        batch = global_batch(row)
        if row.throughput is None or row.step_time_s is None or batch is None or not row.step_time_s.low > 0:
            continue
        time = row.step_time_s
        of_time = Interval(time.value, time.low, time.high).inverse(batch)
        if not _overlap(row.throughput, of_time):
            remarks.append(
                Remark(
                    "throughput against step time",
                    row.gpus,
                    f"{batch:g} samples in {time.value * 1e3:g} ms are {of_time.value:.5g} a second, and"
                    f" {row.throughput.value:g} are printed",
                )
            )
    return remarks


def speedups(table: Table, *, efficiency_printed: bool) -> list[Remark]:
    """Printed speedups and efficiencies against the table's own throughputs."""
    remarks = []
    unit = _unit(table)
    if unit:
        assert table.base is not None
        remarks.append(
            Remark(
                "no base case",
                table.base.gpus,
                f"printed as {unit.value:g}x, and no smaller scale has a throughput: what the printed speedups are"
                f" over is not in the table; recomputed ones are over {table.base.gpus} devices",
            )
        )
    for scale in table.scales:
        row, computed = scale.row, not isnan(scale.throughput.value) and table.base is not None
        over = _times(scale.speedup, unit) if unit else scale.speedup
        if computed and row.printed_speedup and not _overlap(row.printed_speedup, over):
            whose = f" from the {unit.value:g} of the base" if unit else ""
            remarks.append(
                Remark(
                    "speedup",
                    row.gpus,
                    f"printed {row.printed_speedup.value:g}, and the throughputs give"
                    f" {over.value:.2f}{whose}: outside rounding",
                )
            )
        if row.printed_efficiency and not _overlap(row.printed_efficiency, scale.efficiency):
            remarks.append(
                Remark(
                    "efficiency",
                    row.gpus,
                    f"printed {row.printed_efficiency.value:.3g}, and the speedup over {row.gpus} devices gives"
                    f" {scale.efficiency.value:.3f}: outside rounding",
                )
            )
        if efficiency_printed and row.printed_speedup and not row.printed_efficiency:
            remarks.append(
                Remark(
                    "efficiency not printed", row.gpus, f"it is {scale.efficiency.value:.0%}; the file has others"
                )
            )
    return remarks


def _unit(table: Table) -> Printed | None:
    """What is printed as the speedup of the smallest scale, where that is on several devices and not 1."""
    if table.base is None or table.base.gpus == 1 or len(table.scales) < 2:
        return None
    stated = table.base.printed_speedup
    return stated if stated and not _overlap(stated, Interval(1.0, 1.0, 1.0)) else None


def _times(speedup: Interval, unit: Printed) -> Interval:
    return Interval(speedup.value * unit.value, speedup.low * unit.low, speedup.high * unit.high)


def _overlap(printed: Printed, computed: Interval) -> bool:
    slack = 1e-9 * abs(printed.value)  # of binary fractions
    return printed.low <= computed.high + slack and computed.low <= printed.high + slack


def _devices(count: int) -> str:
    return "one device was" if count == 1 else f"{count} devices were"


def _how(row: PublishedRow) -> str:
    return f"{row.label('strategy') or 'its row'} on {row.gpus}"
