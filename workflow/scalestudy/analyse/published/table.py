"""Speedup and efficiency of a published table, from its own throughputs, with the uncertainty of its rounding."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, isnan, log, nan

from scalestudy.analyse.point.scaling import karp_flatt, per_doubling_efficiency
from scalestudy.analyse.published.batches import bare_accumulation, global_batch
from scalestudy.analyse.published.series import UNITS, is_undistributed
from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.importers.numbers.printed import Printed
from scalestudy.importers.published import PublishedRow

FAR_APART = 3.0
"""Ratio of the largest to the smallest measurement of one configuration, from which it is no configuration."""
_Rated = tuple[list[PublishedRow], Interval]
"""Rows of one configuration with their throughput."""


@dataclass(frozen=True)
class Recomputed:
    """A scale of a table; limits are those of rounding, not of measurement. nan if the table lacks the inputs."""

    row: PublishedRow
    lines: tuple[int, ...]
    """Lines of the file; several if a configuration is printed more than once."""
    throughput: Interval
    speedup: Interval
    """Relative to the baseline; the printed one if there is no baseline to compute from."""
    efficiency: Interval
    per_doubling_efficiency: float
    karp_flatt: float


@dataclass(frozen=True)
class Table:
    """One case of a file: its baseline, its scales from small to large, and unusable rows."""

    base: PublishedRow | None
    other_bases: tuple[PublishedRow, ...]
    """Rows with the baseline's number of devices and a different configuration."""
    scales: tuple[Recomputed, ...]
    unusable: tuple[PublishedRow, ...]
    """Rows whose step time or throughput is not above zero."""
    unlike: tuple[tuple[PublishedRow, ...], ...] = ()
    """Rows that are one configuration by all columns, but are too far from each other to be runs of one."""
    base_gpus: int = 1
    """Devices of the baseline; without one, those on which the printed speedup is 1, or else one device."""


def recompute(rows: Sequence[PublishedRow], beside: Sequence[PublishedRow] = ()) -> Table:
    """Recomputes the scaling of a case from its rows.

    Baseline: the smallest number of devices with a throughput (or a step time and a batch); the plain model,
    strategy `single`, if there are several; the only row with 1x, if most printed speedups follow from it. Rows
    with equal configurations count as runs: their geometric mean is used. beside: the rows of the whole table,
    whose printed speedups have one baseline.
    """
    usable = [row for row in rows if _positive(row)]
    groups: dict[tuple[object, ...], list[PublishedRow]] = {}
    for row in sorted(usable, key=lambda row: row.gpus):
        setup = tuple(sorted((name, said) for name, said in row.labels.items() if name not in UNITS))
        batches = (row.batch_per_gpu, row.global_batch, row.number("batch"), row.number("micro_batch"))
        kind = (row.gpus, setup, *batches, bare_accumulation(row))
        groups.setdefault(kind, []).append(row)
    unlike = [group for group in groups.values() if _are_far_apart(group)]
    fewest = min((row.gpus for row in usable), default=0)
    of_base = any(group[0].gpus == fewest for group in unlike)  # then nothing says which of them is the base
    parts = list[list[PublishedRow]]()
    for group in groups.values():
        parts += [[row] for row in group] if group in unlike and not of_base else [group]
    rates = [(group, _mean([rate for row in group if not isnan((rate := rate_of(row)).value)])) for group in parts]
    known = [(group, rate) for group, rate in rates if not isnan(rate.value)]
    smallest = min((group[0].gpus for group, _ in known), default=0)
    bases = [(group, rate) for group, rate in known if group[0].gpus == smallest]
    bases.sort(key=lambda item: not is_undistributed(item[0][0].label("strategy")))
    if (named := _with_1x(known, [group[0] for group, _ in bases])) is not None:
        bases = [named, *(one for one in known if one[0][0].gpus == named[0][0].gpus and one is not named)]
    base, base_rate = (bases[0][0][0], bases[0][1]) if bases else (None, NOTHING)
    base_gpus = base.gpus if base else _devices_of_one(usable, beside)
    return Table(
        base=base,
        other_bases=tuple(group[0] for group, _ in bases[1:]),
        scales=tuple(_scale(group, rate, base, base_rate, base_gpus) for group, rate in rates),
        unusable=tuple(row for row in rows if not _positive(row)),
        unlike=tuple(map(tuple, unlike)),
        base_gpus=base_gpus,
    )


def _with_1x(known: Sequence[_Rated], smallest: Sequence[PublishedRow]) -> _Rated | None:
    """The only rows with a printed speedup of 1, if most other speedups follow from them; they are the baseline.

    The smallest scale has to have another speedup, no efficiency of 100 %, and the same labels. More devices have
    to follow: numbers that are relative to the most devices have their baseline at the other end. smallest: its
    rows.
    """
    first = [(row.printed_speedup, row.printed_efficiency) for row in smallest]
    if any(
        speedup is None or _may_be_one(speedup) or (share is not None and _may_be_one(share))
        for speedup, share in first
    ):
        return None
    stated = [(one, printed) for one in known if (printed := one[0][0].printed_speedup) is not None]
    units = [one for one, printed in stated if printed.value == 1]
    rows = [one[0][0] for one in known]
    if len(units) != 1 or units[0][0][0].gpus == max(row.gpus for row in rows):
        return None
    over = [(printed, ratio(one[1], units[0][1])) for one, printed in stated if one is not units[0]]
    follow = sum(printed.low <= value.high and value.low <= printed.high for printed, value in over)
    alike = any(_are_labelled_alike(units[0][0][0], row, rows) for row in smallest)
    return units[0] if alike and 2 * follow > len(over) else None


def _are_labelled_alike(row: PublishedRow, other: PublishedRow, rows: Sequence[PublishedRow]) -> bool:
    """Whether two rows have equal labels, other than names that each row has for itself."""
    names = [name for name in {*row.labels, *other.labels} if len({one.label(name) for one in rows}) < len(rows)]
    return all(row.label(name) == other.label(name) for name in names)


def _may_be_one(printed: Printed) -> bool:
    return printed.low <= 1 <= printed.high


def known_rates(rows: Sequence[PublishedRow]) -> list[float]:
    """Return the throughputs of the rows that have one."""
    return [rate for row in rows if (rate := rate_of(row).value) > 0]


def _are_far_apart(group: Sequence[PublishedRow]) -> bool:
    """Whether the rates of rows differ more than runs of one configuration do."""
    rates = known_rates(group)
    return len(rates) > 1 and max(rates) > FAR_APART * min(rates)


def _devices_of_one(rows: Sequence[PublishedRow], beside: Sequence[PublishedRow]) -> int:
    """The fewest devices, if their printed speedup is 1 here and in the other series; else one device.

    A row on more devices is the unit if its speedup is 1 and all others are below: 1.0x on 4 GPUs, 0.36x on one.
    """
    fewest = min((row.gpus for row in rows), default=1)
    own = [row.printed_speedup for row in rows if row.gpus == fewest]
    others = [row.printed_speedup for row in beside if row.gpus == fewest]
    units = [unit for unit in (*own[:1], *others) if unit]
    printed = [(row.number("printed_speedup") or 0.0, row.gpus) for row in rows]
    whole = [gpus for speedup, gpus in printed if speedup == 1]
    if len(whole) == 1 and max(printed)[0] == 1 and own[:1] and own[0] and own[0].high < 1:
        return whole[0]
    ones = all(unit.low <= 1 <= unit.high and abs(unit.value - 1) <= abs(unit.value - fewest) for unit in units)
    return fewest if own[:1] and own[0] and ones else 1


def limits_of(printed: Printed) -> Interval:
    """Returns a printed number with the limits of its rounding."""
    return Interval(printed.value, printed.low, printed.high)


def rate_of(row: PublishedRow) -> Interval:
    """Returns the throughput, or work over time; nan if the row has neither."""
    if row.throughput is not None:
        return limits_of(row.throughput)
    time = row.numbers.get("whole_time_s") or row.step_time_s
    work = row.number("work") or global_batch(row)
    if time is None or work is None or not time.value > 0:
        return NOTHING
    # One unit below a time that is printed as 1 is 0, which has no rate. Rounding alone leaves at least 0.5.
    whole = limits_of(time if time.low > 0 else Printed(time.value, time.value / 2))
    return whole.inverse(work)


def ratio(above: Interval, below: Interval) -> Interval:
    """Returns the quotient of two ranges of positive numbers, without upper limit if the divisor may be 0.

    It is NOTHING if the divisor is 0 as printed.
    """
    if not below.value:
        return NOTHING
    high = above.high / below.low if below.low > 0 else inf
    return Interval(above.value / below.value, above.low / below.high, high)


def _scale(
    group: list[PublishedRow], rate: Interval, base: PublishedRow | None, base_rate: Interval, base_gpus: int
) -> Recomputed:
    row = group[0]
    devices = row.gpus / base_gpus
    if row is base:
        speedup = Interval(1.0, 1.0, 1.0)
    elif not isnan(rate.value) and base is not None:
        speedup = ratio(rate, base_rate)
    else:
        speedup = NOTHING if row.printed_speedup is None else limits_of(row.printed_speedup)
    return Recomputed(
        row=row,
        lines=tuple(row.line for row in group),
        throughput=rate,
        speedup=speedup,
        efficiency=speedup.scaled(1 / devices),
        per_doubling_efficiency=_per_doubling(speedup.value, devices),
        karp_flatt=karp_flatt(speedup.value, devices),
    )


def _per_doubling(speedup: float, devices: float) -> float:
    """The efficiency per doubling; nan if it is beyond all numbers, as for 7580162 devices beside 7580161."""
    try:
        return per_doubling_efficiency(speedup, devices)
    except OverflowError:
        return nan


def _positive(row: PublishedRow) -> bool:
    used = (row.throughput, row.step_time_s, row.numbers.get("whole_time_s"))
    return all(number is None or number.value > 0 for number in used)


def _mean(rates: list[Interval]) -> Interval:
    """Returns the geometric mean of rates and of their limits; nan without any."""
    if not rates:
        return NOTHING
    return Interval(
        *(
            exp(sum(log(value) for value in values) / len(values)) if min(values) > 0 else nan
            for values in zip(*((rate.value, rate.low, rate.high) for rate in rates), strict=True)
        )
    )
