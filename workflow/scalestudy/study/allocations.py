"""Groups the runs that share a cluster job, one after another in the plan's order.

The runs of a repeat are a block: they are compared with each other, and their common conditions cancel. So they
share a job where devices allow. The job has the devices of its largest run, and smaller runs leave some idle; this
is the cost of blocks. Scales that would leave too many devices idle have jobs of their own.

Runs that depend on the results of others come later and have jobs of their own.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil

from scalestudy.study.plan import Plan

MARGIN_MIN = 2
"""Minutes of an allocation for each run beyond its time limit: to start, and to write the record."""
IDLE_LIMIT = 0.5
"""Share of the device-time of a job on several nodes that may be idle with `allocations: auto`. At equal
device-hours blocks are worth it where this share is below that of the variance that they cancel."""

Scale = tuple[int, int]
"""(nodes, devices of each)."""


@dataclass(frozen=True)
class Allocation:
    """A cluster job and its runs."""

    name: str
    nodes: int
    devices_per_node: int
    runs: tuple[str, ...]
    limit_min: int
    """Requested minutes: every run may need its whole time limit."""
    used_device_hours: float
    """Device-hours of the runs themselves, each on the devices of its own scale."""

    @property
    def device_hours(self) -> float:
        """Requested device-hours, idle ones included."""
        return self.nodes * self.devices_per_node * self.limit_min / 60

    @property
    def idle_device_hours(self) -> float:
        """Device-hours in which a smaller run leaves devices idle."""
        return self.device_hours - self.used_device_hours


def launch_min(plan: Plan) -> int:
    """Minutes of an allocation for one run."""
    return ceil(plan.study.time_limit_min) + MARGIN_MIN


def make_allocations(plan: Plan) -> tuple[Allocation, ...]:
    """As few allocations as `allocation_limit_min` allows, with the runs spread evenly over them."""
    shared = shared_scales(plan)
    kinds: dict[tuple[Scale, bool, str], list[str]] = {}
    for run_id, spec in plan.runs.items():
        after = plan.decided_after(run_id)
        decided = f"after{after}-" if after else "reserve-" if plan.is_reserve(run_id) else ""
        scale = (spec.nodes, spec.devices_per_node)
        in_blocks = scale in shared
        kinds.setdefault((_box(shared) if in_blocks else scale, in_blocks, decided), []).append(run_id)
    most = max(1, int(plan.study.allocation_limit_min // launch_min(plan)))
    found = []
    for (_, in_blocks, decided), runs in sorted(kinds.items()):
        pieces = _pieces(plan, runs, most) if in_blocks and len(shared) > 1 else [[run] for run in runs]
        for part, mine in enumerate(_packed(pieces, most), start=1):
            nodes, devices = _box((plan.runs[run].nodes, plan.runs[run].devices_per_node) for run in mine)
            blocks = "blocks-" if in_blocks and len(shared) > 1 else ""
            used_min = sum(plan.runs[run].world_size for run in mine) * launch_min(plan)
            found.append(
                Allocation(
                    name=f"n{nodes}g{devices}-{blocks}{decided}{part}",
                    nodes=nodes,
                    devices_per_node=devices,
                    runs=tuple(mine),
                    limit_min=len(mine) * launch_min(plan),
                    used_device_hours=used_min / 60,
                )
            )
    return tuple(found)


def shared_scales(plan: Plan) -> frozenset[Scale]:
    """Scales whose runs share jobs with the runs of the baseline."""
    if plan.study.allocations == "scales":
        return frozenset({(1, 1)})
    scales = {(spec.nodes, spec.devices_per_node) for spec in plan.runs.values()}
    order = sorted(scales, key=lambda scale: (scale[0] > 1, scale[0] * scale[1], scale))
    for count in range(len(order), 0, -1):
        chosen = frozenset(order[:count])
        if plan.study.allocations == "blocks" or _box(chosen)[0] == 1 or _idle_share(plan, chosen) <= IDLE_LIMIT:
            return chosen
    return frozenset({(1, 1)})


def needed_part(plan: Plan, allocation: Allocation, needed: Collection[str]) -> Allocation:
    """The same job on the nodes and devices that its needed runs use; one device if no run is needed."""
    scales = [(plan.runs[run].nodes, plan.runs[run].devices_per_node) for run in allocation.runs if run in needed]
    nodes, devices = _box(scales or [(1, 1)])
    return replace(allocation, nodes=nodes, devices_per_node=devices)


def split_repeats(plan: Plan, allocations: Iterable[Allocation]) -> dict[Scale, int]:
    """Number of repeats in which a run and its baseline are in different jobs, by scale; scales without any are
    left out."""
    job = {run: allocation.name for allocation in allocations for run in allocation.runs}
    apart: dict[Scale, set[int]] = {}
    for point in plan.points:
        if point.scaling == "reference":
            continue
        repeats = apart.setdefault((point.nodes, point.devices_per_node), set())
        both = zip(point.runs, point.base, strict=False)  # a baseline may have fewer repeats
        repeats |= {plan.runs[run].repeat for run, base in both if job[run] != job[base]}
    return {scale: len(repeats) for scale, repeats in apart.items() if repeats}


def _box(scales: Iterable[Scale]) -> Scale:
    """The nodes, and the devices of each, that are enough for a run of any of these scales."""
    nodes, devices = zip(*scales, strict=True)
    return max(nodes), max(devices)


def _idle_share(plan: Plan, scales: frozenset[Scale]) -> float:
    """Idle share of the device-time of a job with a repeat of these scales.

    It assumes that runs with epochs get faster in proportion to their ranks, and that runs without take equally
    long.
    """
    nodes, devices = _box(scales)
    used = held = 0.0
    for spec in plan.runs.values():
        if (spec.nodes, spec.devices_per_node) in scales and spec.repeat == 1:
            time = 1 / spec.world_size if spec.epochs else 1.0
            used += spec.world_size * time
            held += nodes * devices * time
    return 1 - used / held


def _pieces(plan: Plan, runs: Iterable[str], most: int) -> list[list[str]]:
    """Runs that stay together, in order: repeats, or workloads of a repeat, or the part of a workload that
    fits."""
    found = []
    for _, repeat in groupby(runs, key=lambda run: plan.runs[run].repeat):
        whole = list(repeat)
        if len(whole) <= most:
            found.append(whole)
            continue
        for _, workload in groupby(whole, key=lambda run: plan.runs[run].workload):
            found += _around_base(plan, list(workload), most)
    return found


def _around_base(plan: Plan, runs: list[str], most: int) -> list[list[str]]:
    """Runs of a workload in pieces that fit. One piece has the baseline with as many other runs as possible."""
    if len(runs) <= most:
        return [runs]
    base_of = {run: base for point in plan.points for run, base in zip(point.runs, point.base, strict=False)}

    def together(start: int) -> int:
        window = set(runs[start : start + most])
        return sum(run in window and base_of.get(run) in window for run in runs)

    start = max(range(len(runs) - most + 1), key=together)
    before, after = runs[:start], runs[start + most :]
    return [*_evenly(before, most), runs[start : start + most], *_evenly(after, most)]


def _evenly(runs: list[str], most: int) -> list[list[str]]:
    """Runs in as few pieces as possible, of even length."""
    count = ceil(len(runs) / most)
    return [runs[len(runs) * part // count : len(runs) * (part + 1) // count] for part in range(count)]


def _packed(pieces: Sequence[list[str]], most: int) -> list[list[str]]:
    """Pieces in as few jobs as possible, in their order and as even as possible."""
    fewest = len(_filled(pieces, most))
    shortest = max(len(piece) for piece in pieces)
    even = next(size for size in range(shortest, most + 1) if len(_filled(pieces, size)) == fewest)
    return _filled(pieces, even)


def _filled(pieces: Iterable[list[str]], size: int) -> list[list[str]]:
    """Pieces in jobs of at most `size` runs; each job is filled before the next one."""
    jobs: list[list[str]] = []
    for piece in pieces:
        if jobs and len(jobs[-1]) + len(piece) <= size:
            jobs[-1] = [*jobs[-1], *piece]
        else:
            jobs.append(piece)
    return jobs
