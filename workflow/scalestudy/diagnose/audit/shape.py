"""What the rows of a table are, and what course its throughput takes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import isnan

from scalestudy.analyse.forecast.fit import ASSUMED_ERROR
from scalestudy.analyse.published import Recomputed, Table, batch_per_gpu, global_batch
from scalestudy.diagnose.audit.remark import Remark

TOLERANCE = 2 * ASSUMED_ERROR
"""Relative; what two measurements without intervals may differ by and still be called the same."""
NO_GAIN = 1.05  # throughput of twice the devices in a node over that of half: nothing was gained
NEAR_LINEAR = 0.9  # efficiency of a doubling of nodes


def confounded(table: Table) -> Iterator[Remark]:
    """Rows that differ in more than the number of devices: then no ratio between them is a speedup."""
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
        text = f"the {what} changes between rows ({pairs}): their ratio is not the scaling of one thing"
        yield Remark("confounded", None, text)


def labelled(table: Table) -> Iterator[Remark]:
    """Called strong where the batch per device is the same, or weak where the global batch is."""
    rows = [scale.row for scale in table.scales]
    called = {row.label("scaling") for row in rows}
    per_gpu = {batch_per_gpu(row) for row in rows}
    if len({row.gpus for row in rows}) < 2 or None in per_gpu:
        return
    kind, held = ("weak", "batch per device") if len(per_gpu) == 1 else ("strong", "global batch")
    if called & {"weak", "strong"} and called != {kind}:
        text = f"called {' and '.join(sorted(called))}, but the {held} is the same: {kind}"
        yield Remark("label", None, text)


def course(table: Table) -> Iterator[Remark]:
    """What the course of the throughput says: slower than the base, turning back, held up in a node."""
    for scale in table.scales:
        if table.base and scale.row.gpus == table.base.gpus:
            continue
        if scale.speedup.high < 1:
            yield Remark("negative scaling", scale.row.gpus, _slower(scale, table))
        if scale.efficiency.low > 1 + TOLERANCE:
            devices = scale.row.gpus / (table.base or scale.row).gpus
            text = (
                f"{scale.speedup.value:.3g} times the base on {devices:g} times its devices: the base was held"
                " back, or the work is not the same"
            )
            yield Remark("faster than its devices", scale.row.gpus, text)
    limit = _limit_of_a_node(table) or _turns_back(table)
    if limit:
        yield limit


def _slower(scale: Recomputed, table: Table) -> str:
    """'2 devices do 0.37 of the work ...', with what a step pays where its time is known."""
    base = table.base
    text = (
        f"{scale.row.gpus} devices do {scale.speedup.value:.2f} times the work of"
        f" {base.gpus if base else 1}, an efficiency of {scale.efficiency.value:.0%}"
    )
    if base and base.step_time_s and scale.row.step_time_s and batch_per_gpu(base) == batch_per_gpu(scale.row):
        more = scale.row.step_time_s.value - base.step_time_s.value
        text += (
            f"; a step takes {more * 1e3:.3g} ms more than one device's at equal batch per device,"
            f" {more / scale.row.step_time_s.value:.0%} of it"
        )
    return text


def _turns_back(table: Table) -> Remark | None:
    """The first doubling after which more devices do less work than fewer."""
    for less, more in pairwise(_throughputs(table)):
        if more.throughput.value < less.throughput.value * (1 - ASSUMED_ERROR / 2) and more.speedup.value >= 1:
            text = (
                f"throughput turns back from {less.row.gpus} to {more.row.gpus} devices"
                f" ({less.throughput.value:.4g} to {more.throughput.value:.4g})"
            )
            known = [scale for scale in _throughputs(table) if scale.row is not table.base]
            serial = [scale.karp_flatt for scale in known]
            per_gpu = {batch_per_gpu(scale.row) for scale in known}
            if len(per_gpu) > 1 and all(before < after for before, after in pairwise(serial)):
                text += (
                    f"; Karp-Flatt rises ({', '.join(f'{value:.3f}' for value in serial)}), so it is no fixed"
                    " serial part: overhead that grows with devices, or a step that stops shrinking with its"
                    " batch. Weak scaling of the same model tells which"
                )
            return Remark("turns back", more.row.gpus, text)
    return None


def _limit_of_a_node(table: Table) -> Remark | None:
    """More devices in a node bring nothing, more nodes bring all of theirs: what a node shares is used up."""
    scales = [(scale, node) for scale in _throughputs(table) if (node := scale.row.gpus_per_node)]
    inside = [scale for scale, node in scales if scale.row.gpus <= node]
    across = [scale for scale, node in scales if scale.row.gpus >= node]
    if len(inside) < 2 or len(across) < 2 or inside[-1] is not across[0]:
        return None
    gain = inside[-1].throughput.value / inside[-2].throughput.value
    nodes = across[-1].row.gpus / across[0].row.gpus
    efficiency = across[-1].throughput.value / across[0].throughput.value / nodes
    if gain > NO_GAIN or efficiency < NEAR_LINEAR:
        return None
    text = (
        f"from {inside[-2].row.gpus} to {inside[-1].row.gpus} devices in a node throughput changes by"
        f" {gain - 1:+.1%}, and {nodes:g} nodes do {efficiency * nodes:.2f} times the work of one: something"
        " that the devices of a node share is used up, its input before all"
    )
    return Remark("limit of a node", inside[-1].row.gpus, text)


def _throughputs(table: Table) -> list[Recomputed]:
    """Scales with a throughput, one a size: the base, and those that are not another base."""
    return [
        scale for scale in table.scales if not isnan(scale.throughput.value) and scale.row not in table.other_bases
    ]
