"""Checks a published table: claims that its own numbers contradict, and information that it lacks.

A remark is made only if rounding cannot explain it: a printed number represents all values that are less than one
unit of its last digit away. A table is only checked against its own claims.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan
from typing import ClassVar, Literal

from scalestudy.analyse.forecast.fit import ASSUMED_ERROR
from scalestudy.analyse.published import (
    Recomputed,
    Table,
    batch_per_gpu,
    global_batch,
    limits_of,
    rate_of,
    ratio,
    recompute,
)
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.importers.published import Printed, PublishedRow
from scalestudy.record.document import Document

TOLERANCE = 2 * ASSUMED_ERROR
"""Relative difference up to which two measurements without intervals count as the same."""
NO_GAIN = 1.05  # throughput ratio of a doubling of devices in a node, up to which nothing was gained
NEAR_LINEAR = 0.9  # efficiency of a doubling of nodes, from which it counts as linear
KINDS = (
    "not positive",
    "no base case",
    "one scale",
    "two base cases",
    "printed twice",
    "throughput against step time",
    "speedup",
    "efficiency",
    "efficiency not printed",
    "label",
    "confounded",
    "faster than its devices",
    "negative scaling",
    "turns back",
    "limit of a node",
)


@dataclass(frozen=True)
class Remark:
    """Something a reader of the table should know; `kind` is one of KINDS."""

    kind: str
    gpus: int | None
    """The scale that it concerns; None for the whole table."""
    sentence: str


@dataclass(frozen=True)
class Audit:
    """A case with the recomputed values and the remarks."""

    case: str
    table: Table
    remarks: tuple[Remark, ...]

    @property
    def strong(self) -> bool:
        """Whether the batch per device shrinks as devices are added, as far as batches are stated."""
        return len({batch_per_gpu(scale.row) for scale in self.table.scales}) > 1


class AuditFile(Document):
    """The file that `scalestudy audit --out` writes."""

    made_by: ClassVar[str] = "scalestudy audit"
    schema_version: Literal[2] = 2
    cases: dict[str, tuple[Remark, ...]]


def audit_case(case: str, rows: Sequence[PublishedRow], *, efficiency_printed: bool) -> Audit:
    """The audit of a case. efficiency_printed: the file has efficiencies, so a missing one is worth a remark."""
    table = recompute(rows)
    remarks = [
        *_rows(table),
        *_bases(table),
        *_rates(rows),
        *_speedups(table, efficiency_printed=efficiency_printed),
    ]
    remarks += list(_confounded(table)) or [*_labelled(table), *_course(table)]
    return Audit(case, table, tuple(sorted(remarks, key=lambda remark: KINDS.index(remark.kind))))


def _rows(table: Table) -> Iterator[Remark]:
    """Rows that were left out, and configurations that the table lists more than once."""
    for row in table.unusable:
        text = "the throughput or step time is not above 0, so the row was left out"
        yield Remark("not positive", row.gpus, f"line {row.line}: {text}")
    for scale in table.scales:
        if len(scale.lines) > 1:
            lines = f"lines {' and '.join(map(str, scale.lines))}"
            text = f"{lines} are the same configuration; their geometric mean is used"
            yield Remark("printed twice", scale.row.gpus, text)


def _bases(table: Table) -> Iterator[Remark]:
    """Baselines of the speedups: missing, too small, or several."""
    base = table.base
    if base is None:
        if table.scales:
            text = (
                "no row has a throughput, or a step time with its batch: nothing can be recomputed, and the"
                " printed speedups are assumed to be relative to one device"
            )
            yield Remark("no base case", None, text)
        return
    if len({scale.row.gpus for scale in table.scales}) < 2:
        devices = "one device was" if base.gpus == 1 else f"{base.gpus} devices were"
        text = f"only {devices} measured, so the table shows a throughput but no scaling"
        yield Remark("one scale", base.gpus, text)
        return
    largest = table.scales[-1]
    for other in table.other_bases:
        over = ratio(largest.throughput, rate_of(other)).value * other.gpus / largest.row.gpus
        text = (
            f"the efficiency on {largest.row.gpus} devices is {largest.efficiency.value:.3f} relative to"
            f" {_how(base)} and {over:.3f} relative to {_how(other)}: a speedup must name its baseline"
        )
        yield Remark("two base cases", base.gpus, text)


def _rates(rows: Sequence[PublishedRow]) -> Iterator[Remark]:
    """Rows whose throughput is not their batch over their step time."""
    for row in rows:
        batch, time = global_batch(row), row.step_time_s
        if row.throughput is None or time is None or batch is None or not time.low > 0:
            continue
        of_time = limits_of(time).inverse(batch)
        if not _overlap(row.throughput, of_time):
            computed = f"{batch:g} samples in {time.value * 1e3:g} ms are {of_time.value:.5g} samples/s"
            text = f"{computed}, but {row.throughput.value:g} is printed"
            yield Remark("throughput against step time", row.gpus, text)


def _speedups(table: Table, *, efficiency_printed: bool) -> Iterator[Remark]:
    """Printed speedups and efficiencies that contradict the table's own throughputs."""
    unit = _unit(table)
    if unit and table.base:
        text = (
            f"printed as {unit.value:g}x, but no smaller scale has a throughput, so the table lacks the baseline"
            f" of its speedups; recomputed speedups are relative to {table.base.gpus} devices"
        )
        yield Remark("no base case", table.base.gpus, text)
    for scale in table.scales:
        row, efficiency, over = scale.row, scale.efficiency, scale.speedup
        if unit:
            over = Interval(over.value * unit.value, over.low * unit.low, over.high * unit.high)
        computed = not isnan(scale.throughput.value) and table.base is not None
        if computed and row.printed_speedup and not _overlap(row.printed_speedup, over):
            whose = f" with {unit.value:g} for the baseline" if unit else ""
            text = f"the throughputs give {over.value:.2f}{whose}, which rounding does not explain"
            yield Remark("speedup", row.gpus, f"printed {row.printed_speedup.value:g}, but {text}")
        if row.printed_efficiency and not _overlap(row.printed_efficiency, efficiency):
            text = (
                f"the speedup on {row.gpus} devices gives {efficiency.value:.3f}, which rounding does not explain"
            )
            yield Remark("efficiency", row.gpus, f"printed {row.printed_efficiency.value:.3g}, but {text}")
        if efficiency_printed and row.printed_speedup and not row.printed_efficiency:
            text = f"it is {efficiency.value:.0%}; the file has the efficiency of other rows"
            yield Remark("efficiency not printed", row.gpus, text)


def _unit(table: Table) -> Printed | None:
    """The printed speedup of the smallest scale, if that scale has several devices and its speedup is not 1."""
    if table.base is None or table.base.gpus == 1 or len(table.scales) < 2:
        return None
    stated = table.base.printed_speedup
    return stated if stated and not _overlap(stated, Interval(1.0, 1.0, 1.0)) else None


def _overlap(printed: Printed, computed: Interval) -> bool:
    slack = 1e-9 * abs(printed.value)  # of binary fractions
    return printed.low <= computed.high + slack and computed.low <= printed.high + slack


def _how(row: PublishedRow) -> str:
    return f"{row.label('strategy') or 'its row'} on {row.gpus}"


def _confounded(table: Table) -> Iterator[Remark]:
    """Rows that differ in more than the number of devices, so that their ratio is not a speedup."""
    rows = [scale.row for scale in table.scales]
    mixed = []
    precisions = [row.label("precision") for row in rows]
    if len(set(precisions)) > 1:
        mixed.append(("precision", precisions))
    per_gpu, whole = [batch_per_gpu(row) for row in rows], [global_batch(row) for row in rows]
    if None not in per_gpu and len(set(per_gpu)) > 1 and len(set(whole)) > 1:
        mixed.append(("batch per device", [f"{batch:g}" for batch in per_gpu]))
    for what, values in mixed:
        pairs = ", ".join(f"{value} on {row.gpus}" for row, value in zip(rows, values, strict=True))
        text = f"the {what} changes between rows ({pairs}), so their ratio is not a speedup"
        yield Remark("confounded", None, text)


def _labelled(table: Table) -> Iterator[Remark]:
    """Tables called strong with a constant batch per device, or weak with a constant global batch."""
    rows = [scale.row for scale in table.scales]
    called = {row.label("scaling") for row in rows}
    per_gpu = {batch_per_gpu(row) for row in rows}
    if len({row.gpus for row in rows}) < 2 or None in per_gpu:
        return
    kind, held = ("weak", "batch per device") if len(per_gpu) == 1 else ("strong", "global batch")
    if called & {"weak", "strong"} and called != {kind}:
        text = f"called {' and '.join(sorted(called))}, but the {held} is constant: this is {kind} scaling"
        yield Remark("label", None, text)


def _course(table: Table) -> Iterator[Remark]:
    """Remarks on how the throughput changes: slower than the baseline, falling, or limited inside a node."""
    for scale in table.scales:
        if table.base and scale.row.gpus == table.base.gpus:
            continue
        if scale.speedup.high < 1:
            yield Remark("negative scaling", scale.row.gpus, _slower(scale, table))
        if scale.efficiency.low > 1 + TOLERANCE:
            devices = scale.row.gpus / (table.base or scale.row).gpus
            text = (
                f"{scale.speedup.value:.3g} times the baseline on {devices:g} times its devices: the baseline was"
                " slowed down, or the work is not the same"
            )
            yield Remark("faster than its devices", scale.row.gpus, text)
    yield from list(_limit_of_a_node(table)) or _turns_back(table)


def _slower(scale: Recomputed, table: Table) -> str:
    """'2 devices do 0.37 times the work of 1 ...', with the extra time per step if step times are known."""
    base = table.base
    text = (
        f"{scale.row.gpus} devices do {scale.speedup.value:.2f} times the work of"
        f" {base.gpus if base else 1}, an efficiency of {scale.efficiency.value:.0%}"
    )
    if base and base.step_time_s and scale.row.step_time_s and batch_per_gpu(base) == batch_per_gpu(scale.row):
        more = scale.row.step_time_s.value - base.step_time_s.value
        text += (
            f"; a step takes {more * 1e3:.3g} ms longer than on one device at equal batch per device, which is"
            f" {more / scale.row.step_time_s.value:.0%} of the step"
        )
    return text


def _turns_back(table: Table) -> Iterator[Remark]:
    """The first doubling after which more devices do less work than fewer."""
    for less, more in pairwise(_throughputs(table)):
        if more.throughput.value < less.throughput.value * (1 - ASSUMED_ERROR / 2) and more.speedup.value >= 1:
            text = (
                f"throughput falls from {less.row.gpus} to {more.row.gpus} devices"
                f" ({less.throughput.value:.4g} to {more.throughput.value:.4g})"
            )
            known = [scale for scale in _throughputs(table) if scale.row is not table.base]
            serial = [scale.karp_flatt for scale in known]
            per_gpu = {batch_per_gpu(scale.row) for scale in known}
            if len(per_gpu) > 1 and all(before < after for before, after in pairwise(serial)):
                text += (
                    f"; the Karp-Flatt fraction rises ({', '.join(f'{value:.3f}' for value in serial)}), so the"
                    " reason is not a fixed serial part but overhead that grows with devices, or a step that stops"
                    " shrinking with its batch. Weak scaling of the same model would show which"
                )
            yield Remark("turns back", more.row.gpus, text)
            return


def _limit_of_a_node(table: Table) -> Iterator[Remark]:
    """More devices in a node bring no gain but more nodes do: a shared resource of the node is saturated."""
    scales = [(scale, node) for scale in _throughputs(table) if (node := scale.row.gpus_per_node)]
    inside = [scale for scale, node in scales if scale.row.gpus <= node]
    across = [scale for scale, node in scales if scale.row.gpus >= node]
    if len(inside) < 2 or len(across) < 2 or inside[-1] is not across[0]:
        return
    gain = inside[-1].throughput.value / inside[-2].throughput.value
    nodes = across[-1].row.gpus / across[0].row.gpus
    efficiency = across[-1].throughput.value / across[0].throughput.value / nodes
    if gain > NO_GAIN or efficiency < NEAR_LINEAR:
        return
    text = (
        f"from {inside[-2].row.gpus} to {inside[-1].row.gpus} devices in a node, throughput changes by"
        f" {gain - 1:+.1%}, but {nodes:g} nodes do {efficiency * nodes:.2f} times the work of one: the devices of"
        " a node saturate a shared resource, most likely its input"
    )
    yield Remark("limit of a node", inside[-1].row.gpus, text)


def _throughputs(table: Table) -> list[Recomputed]:
    """Scales with a throughput, one per size: the baseline, and all others that are not another baseline."""
    return [
        scale for scale in table.scales if not isnan(scale.throughput.value) and scale.row not in table.other_bases
    ]
