"""Remarks on how the throughput of a published table changes with its devices."""

from collections.abc import Iterator
from itertools import pairwise
from math import ceil, isnan, log10, nan

from scalestudy.analyse.forecast.fit import ASSUMED_ERROR
from scalestudy.analyse.published.batches import batch_per_gpu
from scalestudy.analyse.published.table import Recomputed, Table
from scalestudy.diagnose.remark import Remark
from scalestudy.importers.published import TIMES, PublishedRow
from scalestudy.registry.words.percent import percent

TOLERANCE = 2 * ASSUMED_ERROR
"""Relative difference up to which two measurements without intervals count as the same."""
HARDLY_SLOWER = 0.01
"""Relative difference to the baseline up to which more devices are not called slower."""
_SMALL = 0.01
"""A speedup below which its first digit is shown."""
NO_GAIN = 1.05  # throughput ratio of a doubling of devices in a node, up to which nothing was gained
NEAR_LINEAR = 0.9  # efficiency of a doubling of nodes, from which it counts as linear


def course_remarks(table: Table) -> Iterator[Remark]:
    """Remarks on how the throughput changes: slower than the baseline, falling, or limited inside a node."""
    for scale in table.scales:
        if scale.row.gpus <= (table.base.gpus if table.base else table.base_gpus):
            continue
        if scale.speedup.high < 1 - HARDLY_SLOWER:
            yield Remark("negative scaling", scale.row.gpus, _slower(scale, table))
        if scale.efficiency.low > 1 + TOLERANCE and relative_to_another(table) is None:
            devices = scale.row.gpus / table.base_gpus
            text = (
                f"{scale.speedup.value:.3g} times the baseline on {devices:g} times its devices: the baseline was"
                " slowed down, or the work is not the same"
            )
            yield Remark("faster than its devices", scale.row.gpus, text)
    yield from list(_limit_of_a_node(table)) or _turns_back(table)


def relative_to_another(table: Table) -> float | None:
    """The speedup that a table without throughputs prints on one device, if it is not 1."""
    if table.base is not None or table.base_gpus > 1:
        return None
    alone = [scale.row.printed_speedup for scale in table.scales if scale.row.gpus == 1]
    return next((one.value for one in alone if one and not one.low < 1 < one.high), None)


def _factor(value: float) -> str:
    """A speedup in two decimals, or one digit of a smaller one."""
    return f"{value:.2f}" if value >= _SMALL else f"{value:.1g}"


def _digits(scale: Recomputed) -> int:
    """Decimals of an efficiency in per cent: none, or those of the first digit of a small one."""
    share = scale.efficiency.value
    return 0 if not 0 < share < _SMALL / 2 else ceil(-log10(share * 100))


def _slower(scale: Recomputed, table: Table) -> str:
    """'2 devices do 0.37 times the work of 1 ...', with the extra time per step if step times are known."""
    base = table.base
    text = (
        f"{scale.row.gpus} devices do {_factor(scale.speedup.value)} times the work of"
        f" {base.gpus if base else 1}, an efficiency of {percent(scale.efficiency.value, _digits(scale))}"
    )
    if base and base.step_time_s and scale.row.step_time_s and _equal_batches(scale, table):
        more = scale.row.step_time_s.value - base.step_time_s.value
        devices = "one device" if base.gpus == 1 else f"{base.gpus} devices"
        text += (
            f"; a step takes {more * 1e3:.3g} ms longer than on {devices} at equal batch per device, which"
            f" is {percent(more / scale.row.step_time_s.value)} of the step"
        )
    return text


def _equal_batches(scale: Recomputed, table: Table) -> bool:
    """Whether a scale has the batch per device of the baseline, as stated or by throughput and step time."""
    base = next(one for one in table.scales if one.row is table.base)
    stated = [batch_per_gpu(one.row) for one in (base, scale)]
    if None not in stated:
        return stated[0] == stated[1]
    times = [one.row.step_time_s.value if one.row.step_time_s else nan for one in (base, scale)]
    share, other = (
        one.throughput.value * time / one.row.gpus for one, time in zip((base, scale), times, strict=True)
    )
    return abs(other / share - 1) < TOLERANCE


def _turns_back(table: Table) -> Iterator[Remark]:
    """The first doubling after which more devices do less work than fewer."""
    for less, more in pairwise(_throughputs(table)):
        if more.row.gpus == less.row.gpus:
            continue  # two configurations
        if more.throughput.high >= less.throughput.low:
            continue  # they may be equal, as ranges are printed
        if more.throughput.value < less.throughput.value * (1 - ASSUMED_ERROR / 2) and more.speedup.value >= 1:
            ends = [scale.throughput.value for scale in (less, more)]
            times = [time for scale in (less, more) if (time := _whole_time_s(scale)) is not None]
            same = less.row.number("work") == more.row.number("work") and len(times) == len(ends)
            how, ends = ("the time grows", times) if same else ("throughput falls", ends)
            text = f"{how} from {less.row.gpus} to {more.row.gpus} devices ({ends[0]:.4g} to {ends[1]:.4g})"
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


def _whole_time_s(scale: Recomputed) -> float | None:
    """The time of a scale; that of its mean throughput if it was measured more than once."""
    time, work = scale.row.number("whole_time_s"), scale.row.number("work")
    return time if time is None or work is None or len(scale.lines) < 2 else work / scale.throughput.value


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
        f" {percent(gain - 1, 1, signed=True)}, but {nodes:g} nodes do {efficiency * nodes:.2f} times the work of"
        " one: the devices of a node saturate a shared resource, most likely its input"
    )
    yield Remark("limit of a node", inside[-1].row.gpus, text)


def _throughputs(table: Table) -> list[Recomputed]:
    """Scales with a throughput, one per size: the baseline, and all others that are not another baseline."""
    return [
        scale for scale in table.scales if not isnan(scale.throughput.value) and scale.row not in table.other_bases
    ]


def unprinted(table: Table) -> Iterator[Remark]:
    """Printed speedups without an efficiency beside them, where other rows of the file have one."""
    for scale in table.scales:
        row = scale.row
        if row.printed_speedup and not row.printed_efficiency and row is not table.base:
            text = f"it is {percent(scale.efficiency.value)}; the table has the efficiency of other rows"
            yield Remark("efficiency not printed", row.gpus, text)


def one_scale(base: PublishedRow) -> Remark:
    """Return the remark on a case whose rows are all on the same number of devices."""
    devices = "one device was" if base.gpus == 1 else f"{base.gpus} devices were"
    shown = "time" if base.number("throughput") is None and any(map(base.number, TIMES)) else "throughput"
    text = f"only {devices} measured, so the table shows a {shown} but no scaling"
    over = base.printed_speedup
    if over is not None and not over.low <= 1 <= over.high:
        text += f"; the printed speedup of {over.value:g} is relative to a run that this case does not have"
    return Remark("one scale", base.gpus, text)
