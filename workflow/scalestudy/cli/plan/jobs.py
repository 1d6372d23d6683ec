"""The lines of `scalestudy plan` on cluster jobs: number, device-hours, and idle device-hours."""

from scalestudy.publish.words.labels import counted
from scalestudy.registry.words.percent import percent
from scalestudy.study.allocations import (
    IDLE_LIMIT,
    Allocation,
    Scale,
    launch_min,
    make_allocations,
    shared_scales,
    split_repeats,
)
from scalestudy.study.plan import Plan


def cluster_lines(plan: Plan) -> list[str]:
    """Return lines on jobs by size, idle device-hours, and repeats whose runs are split over several jobs."""
    jobs = make_allocations(plan)
    sizes: dict[tuple[int, int], list[Allocation]] = {}
    for job in jobs:
        sizes.setdefault((job.nodes, job.devices_per_node), []).append(job)
    asked, idle = (sum(getattr(job, name) for job in jobs) for name in ("device_hours", "idle_device_hours"))
    lines = [f"on a cluster: {counted(len(jobs), 'job')}, {asked:.3g} device-hours requested"]
    for size, mine in sizes.items():
        launches, longest = sum(len(job.runs) for job in mine), max(job.limit_min for job in mine)
        hours = sum(job.device_hours for job in mine)
        lines.append(
            f"  {_name(size)}: {counted(len(mine), 'job')} of up to {longest} min for"
            f" {counted(launches, 'run')}, {hours:.3g} device-hours"
        )
    if idle:
        lines.append(
            f"  of these {asked:.3g} device-hours, {idle:.3g} idle: one job runs all scales of a repeat, so that"
            " drift cancels; `allocations: scales` avoids the idle time"
        )
    return [*lines, *_split_lines(plan, jobs)]


def _split_lines(plan: Plan, jobs: tuple[Allocation, ...]) -> list[str]:
    """Return a line per reason and number for scales whose runs are not all in the job of their baseline."""
    shared = shared_scales(plan)
    said: dict[tuple[int, str], list[str]] = {}
    for scale, split in split_repeats(plan, jobs).items():
        if scale in shared:
            why = f"a repeat takes up to {_repeat_min(plan, shared)} min; raise `allocation_limit_min`"
        elif plan.study.allocations == "auto":
            why = (
                f"more than {percent(IDLE_LIMIT)} of a common job would be idle; `allocations: blocks` forces one"
            )
        else:
            why = "`allocations: scales`"
        said.setdefault((split, why), []).append(_name(scale))
    return [
        f"  {', '.join(scales)}: not in the baseline's job in {split} of {plan.study.most_repeats} repeats, so"
        f" drift between the jobs does not cancel ({why})"
        for (split, why), scales in said.items()
    ]


def _repeat_min(plan: Plan, shared: frozenset[Scale]) -> int:
    """Return the minutes that a job needs for a whole repeat."""
    specs = plan.runs.values()
    first = sum(spec.repeat == 1 and (spec.nodes, spec.devices_per_node) in shared for spec in specs)
    return first * launch_min(plan)


def _name(scale: Scale) -> str:
    return f"{scale[0]}x{scale[1]}"
