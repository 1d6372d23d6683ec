"""Numbers of a published row that contradict each other: batches, devices, throughput, time, precision."""

from collections.abc import Iterator, Sequence
from math import isclose, log

from scalestudy.analyse.published.batches import global_batch, replicas
from scalestudy.analyse.published.held import overlap
from scalestudy.analyse.published.settle import TIMES
from scalestudy.analyse.published.table import Table, known_rates, limits_of, ratio
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.remark import Remark
from scalestudy.importers.columns.labels import is_length
from scalestudy.importers.headers.batches import is_of_micro_batches
from scalestudy.importers.headers.units import is_of_flops, is_of_parts
from scalestudy.importers.published import UTILIZATION, PrecisionRatio, PublishedRow, PublishedTable

HEIGHTS = {"fp64": 3, "fp32": 2, "tf32": 2, "mixed": 1, "fp16": 1, "bf16": 1, "fp8": 0}
"""Precisions in their order."""
_APART = 1.05
"""Ratio up to which a utilization and a throughput may differ: they may be means over different steps."""
_MOST_ALIKE = 2 / 3
"""Share of the rows from which their work counts as constant; more than this have to agree."""
_OF_A_BATCH = ("batch", "batch_per_gpu", "micro_batch", "accumulation")
"""What a table may say of the batch of a row."""
FEWEST = 2
"""Rows from which a common factor between two columns counts, such as the tokens of a sample."""


def row_remarks(rows: Sequence[PublishedRow], table: PublishedTable) -> Iterator[Remark]:
    """Remarks on numbers of one row that do not fit each other."""
    yield from _devices(rows)
    yield from _batches(rows, table)
    yield from _rates(rows, table)
    yield from _whole_times(rows, table)
    yield from _per_device(rows, table)
    yield from _step_rates(rows)


def precision_held(ratios: Sequence[PrecisionRatio]) -> list[tuple[PrecisionRatio, Interval]]:
    """Returns the printed speedups of precision beside the quotients of their columns.

    The lower precision is the faster one. If the columns do not name both, the better direction is used.
    """
    usable = [one for one in ratios if one.first.low > 0 and one.second.low > 0]
    second_is_faster = [[(one, _quotient(one, second=second)) for one in usable] for second in (True, False)]
    named = {_second_is_lower(one) for one in usable}
    if len(named) == 1 and (second := named.pop()) is not None:
        return second_is_faster[0 if second else 1]
    return max(second_is_faster, key=lambda way: sum(overlap(one.printed, computed) for one, computed in way))


def precision_remarks(ratios: Sequence[PrecisionRatio]) -> Iterator[Remark]:
    """Printed speedups of a precision that its two columns contradict."""
    held = precision_held(ratios)
    outside = [(one, computed) for one, computed in held if not overlap(one.printed, computed)]
    turned = [computed.inverse() for _, computed in held]
    reverse = all(overlap(one.printed, other) for (one, _), other in zip(held, turned, strict=True))
    if reverse and len(outside) == len(held) >= FEWEST:
        text = "all printed speedups of the precision are the columns' quotients upside down"
        yield Remark("precision", None, f"{text}: the headers of the two columns may be exchanged")
        return
    for one, computed in outside:
        what = "speedup of the precision" if all(one.precisions) else "ratio of two columns"
        text = f"line {one.line}: the {what} is printed as {one.printed.value:g}"
        yield Remark("precision", one.gpus, f"{text}, but the columns beside it give {computed.value:.2f}")


def utilization_remarks(rows: Sequence[PublishedRow]) -> Iterator[Remark]:
    """A remark if the utilization changes otherwise than the throughput of a device."""
    known = [(row, row.throughput, row.numbers.get(UTILIZATION)) for row in rows]
    both = [
        (row, limits_of(rate.times(1 / row.gpus)), limits_of(used))
        for row, rate, used in known
        if rate and used and rate.low > 0 and used.low > 0
    ]
    if not both:
        return
    base, rate, used = min(both, key=lambda one: one[0].gpus)
    changes = [(row, ratio(own, used), ratio(each, rate)) for row, each, own in both if row.gpus > base.gpus]
    apart = [(row, more, faster, ratio(more, faster)) for row, more, faster in changes]
    apart = [one for one in apart if one[3].low > _APART or one[3].high < 1 / _APART]
    if apart:
        row, more, faster, _ = max(apart, key=lambda one: abs(log(one[3].value)))
        text = (
            f"the share of the peak FLOP/s is {more.value:.2f} times that on {base.gpus}, but the throughput of a"
            f" device is {faster.value:.2f} times that: for one model and sequence length both change alike"
        )
        yield Remark("utilization", row.gpus, text)


def _quotient(one: PrecisionRatio, *, second: bool) -> Interval:
    """The speedup of the second column over the first, or the other way round."""
    first, other = limits_of(one.first), limits_of(one.second)
    return ratio(other, first) if second != one.times else ratio(first, other)


def _second_is_lower(one: PrecisionRatio) -> bool | None:
    first, second = (HEIGHTS.get(name) for name in one.precisions)
    return None if first is None or second is None or first == second else second < first


def _devices(rows: Sequence[PublishedRow]) -> Iterator[Remark]:
    for row in rows:
        nodes, each = row.number("nodes"), row.number("gpus_per_node")
        if nodes is not None and each is not None and nodes * each != row.gpus:
            text = f"{nodes:g} nodes of {each:g} devices are {nodes * each:g} devices, but {row.gpus} are printed"
            yield Remark("devices", row.gpus, f"line {row.line}: {text}")


def _batches(rows: Sequence[PublishedRow], table: PublishedTable) -> Iterator[Remark]:
    """Rows whose global batch is not their batch per device times devices, with or without accumulation."""
    if table.column("nodes") and not (table.column("gpus") or table.column("gpus_per_node")):
        return  # the devices of a node are not known
    known = [(row, row.batch_per_gpu, row.global_batch) for row in rows]
    stated = [(row, each, whole) for row, each, whole in known if each is not None and whole is not None]
    factors = {whole / (each * replicas(row)) for row, each, whole in stated if each > 0}
    if len(factors) == 1 and len(stated) >= FEWEST and factors.pop() > 1:
        return  # the same number of micro-batches everywhere, or sequences of several parts
    column = table.column("batch_per_gpu")
    micro = column is not None and is_of_micro_batches(column.header) and table.column("accumulation") is None
    odd = _only_other_factor(stated)
    for row, each, whole in stated:
        count = replicas(row)
        if micro and row is not odd and isclose(whole / (each * count) % 1, 0, abs_tol=1e-6):
            continue  # accumulated, as the table need not say
        rounded = 0.005 * whole if whole % 10 == 0 or whole % 1 else 0.5  # 4k of 4096
        if abs(each * count - whole) > rounded:
            which = f"{count} devices" if count == row.gpus else f"{count} replicas of the model"
            text = f"{each:g} samples on each of {which} are {each * count:g}"
            yield Remark("batch", row.gpus, f"line {row.line}: {text}, but a global batch of {whole:g} is printed")


def _only_other_factor(stated: Sequence[tuple[PublishedRow, float, float]]) -> PublishedRow | None:
    """The only row with micro-batches beside others without, if it is not the one on the fewest devices."""
    factors = [(row, round(whole / (each * replicas(row)), 6)) for row, each, whole in stated if each > 0]
    other = [row for row, factor in factors if factor != 1]
    fewest = min((row.gpus for row, _ in factors), default=0)
    alone = len(other) == 1 and len(factors) > FEWEST and other[0].gpus > fewest
    return other[0] if alone else None


def _rates(rows: Sequence[PublishedRow], table: PublishedTable) -> Iterator[Remark]:
    """Rows whose throughput is not their batch over their step time, or their batch times their steps a second."""
    found = []
    for row in rows:
        batch, time, steps = global_batch(row), row.step_time_s, row.numbers.get("steps_per_s")
        if row.throughput is None or not batch:
            continue
        if time is not None and time.low > 0:
            text = f"{batch:g} samples in {time.value * 1e3:g} ms"
            found.append((row, row.throughput, limits_of(time).inverse(batch), text))
        elif time is None and steps is not None:
            text = f"{batch:g} samples {steps.value:g} times a second"
            found.append((row, row.throughput, limits_of(steps).scaled(batch), text))
    rate = table.column("throughput") or table.column("throughput_per_gpu")
    of_flops = rate is not None and is_of_flops(rate.unit)
    if "step_time_s" in table.unknown_units or table.is_of_a_quantile("step_time_s") or of_flops or not found:
        return
    if not any(overlap(printed, of_time) for _, printed, of_time, _ in found):
        common = _common([ratio(limits_of(printed), of_time) for _, printed, of_time, _ in found])
        parts = rate is not None and is_of_parts(rate.unit)
        if parts or (common is not None and len(found) >= FEWEST):
            return  # work of another size than a sample, such as tokens
    for row, printed, of_time, given in found:
        if not overlap(printed, of_time):
            text = f"{given} are {of_time.value:.5g} samples/s, but {printed.value:g} is printed"
            yield Remark("throughput against step time", row.gpus, text)


def _whole_times(rows: Sequence[PublishedRow], table: PublishedTable) -> Iterator[Remark]:
    """Rows whose throughput times their whole time is other work than that of most rows, which is constant."""
    rates = {(row.line, row.gpus): row.throughput for row in table.rows}  # also if speedups are those of the times
    for role in TIMES:
        if role in table.unknown_units or table.is_of_a_quantile(role):
            continue
        known = [(row, row.throughput or rates.get((row.line, row.gpus)), row.numbers.get(role)) for row in rows]
        timed = [(row, rate, time) for row, rate, time in known if rate and time]
        work = [Interval(r.value * t.value, r.low * t.low, r.high * t.high) for _, r, t in timed]
        groups = [[one for one in work if one.low <= other.low <= one.high] for other in work]
        alike = max(groups, key=len, default=[])
        common = _common(alike) if len(alike) > max(FEWEST, _MOST_ALIKE * len(work)) else None
        if common is None:
            continue
        for (row, rate, time), own in zip(timed, work, strict=True):
            if own.high * _APART < common.low or common.high * _APART < own.low:
                text = f"line {row.line}: {rate.value:g} a second for {time.value:g} s are {own.value:.4g}"
                other = f"but {common.value:.4g} in the other rows"
                yield Remark("throughput against time", row.gpus, f"{text}, {other}")


def _step_rates(rows: Sequence[PublishedRow]) -> Iterator[Remark]:
    """Rows whose throughput is of another batch a step than that of most rows, of each device or of all.

    The batch is not known, but throughput over steps a second shows it. Rows that differ in what the table says of
    their batch are not compared.
    """
    said = {
        (*map(row.number, _OF_A_BATCH), *(row.labels[name] for name in row.labels if is_length(name)))
        for row in rows
    }
    if len(said) > 1:
        return
    known = [(row, row.throughput, row.numbers.get("steps_per_s")) for row in rows if global_batch(row) is None]
    both = [
        (row, ratio(limits_of(rate), limits_of(steps)), rate)
        for row, rate, steps in known
        if rate and steps and steps.low > 0
    ]
    found = []
    for of_each in (True, False):
        batches = [of_all.scaled(1 / row.gpus) if of_each else of_all for row, of_all, _ in both]
        groups = [[one for one in batches if _common([one, other])] for other in batches]
        found.append((max(groups, key=len, default=[]), batches, "each device" if of_each else "all devices"))
    alike, batches, whose = max(found, key=lambda way: len(way[0]))
    common = _common(alike) if len(alike) >= max(FEWEST + 1, _MOST_ALIKE * len(batches)) else None
    if common is None:
        return
    for (row, _, rate), own in zip(both, batches, strict=True):
        if not _common([own, common]):
            text = f"line {row.line}: {rate.value:g} a second are {own.value:.4g} for each step of {whose}"
            yield Remark(
                "throughput against step time", row.gpus, f"{text}, but {common.value:.4g} in the other rows"
            )


def _per_device(rows: Sequence[PublishedRow], table: PublishedTable) -> Iterator[Remark]:
    """Rows with both throughputs printed, one of which is not the other times the devices."""
    columns = [table.column("throughput"), table.column("throughput_per_gpu")]
    if len({is_of_flops(column.unit) for column in columns if column and column.unit}) > 1:
        return  # FLOP/s beside tokens/s
    both = [(row, row.throughput, row.numbers.get("throughput_per_gpu")) for row in rows]
    factors = [
        ratio(limits_of(all_), limits_of(each.times(row.gpus))) for row, all_, each in both if all_ and each
    ]
    if len(factors) >= FEWEST and all(one.low > 1 or one.high < 1 for one in factors) and _common(factors):
        return  # of different units, such as FLOP/s beside tokens/s
    for row in rows:
        each = row.numbers.get("throughput_per_gpu")
        if each is None or row.throughput is None:
            continue
        whole = each.times(row.gpus)
        if not overlap(row.throughput, limits_of(whole)):
            text = f"{each.value:g} on each of {row.gpus} devices are {whole.value:g}"
            sentence = f"line {row.line}: {text}, but {row.throughput.value:g} is printed for all of them"
            yield Remark("throughput per device", row.gpus, sentence)


def _common(intervals: Sequence[Interval]) -> Interval | None:
    low, high = max(one.low for one in intervals), min(one.high for one in intervals)
    return Interval((low + high) / 2, low, high) if low <= high else None


_WHOLE = 10
"""Factor from which its decimals are not printed."""


def rows_left_out_or_twice(table: Table) -> Iterator[Remark]:
    """Rows that were left out, and configurations that the table lists more than once."""
    for row in table.unusable:
        text = "the throughput or step time is not above 0, so the row was left out"
        yield Remark("not positive", row.gpus, f"line {row.line}: {text}")
    for group in table.unlike:
        rates = known_rates(group)
        lines = f"lines {' and '.join(str(row.line) for row in group)}"
        factor = max(rates) / min(rates)
        text = f"{lines} are one configuration by all columns that were read, but differ"
        text += f" {factor:,.{0 if factor >= _WHOLE else 1}f} times, so they are of different work"
        yield Remark("printed twice", group[0].gpus, text)
    for scale in table.scales:
        if len(scale.lines) > 1 and all(scale.row not in group for group in table.unlike):
            lines = f"lines {' and '.join(map(str, scale.lines))}"
            text = f"{lines} are one configuration by all columns that were read; their geometric mean is used"
            yield Remark("printed twice", scale.row.gpus, text)
