"""Which launches share an allocation of a cluster: those of one scale, one after another in the plan's order.

Two hundred short launches are then a few waits in the queue and not two hundred. Launches in reserve come later,
when those that decide on them are there, and have allocations of their own.
"""

from dataclasses import dataclass
from math import ceil

from scalestudy.study.plan import Plan

MARGIN_MIN = 2
"""Minutes that an allocation holds for each launch beyond its time limit: to start, and to write the record."""


@dataclass(frozen=True)
class Allocation:
    """A job of the cluster, and the launches it is for."""

    name: str
    nodes: int
    devices_per_node: int
    runs: tuple[str, ...]
    limit_min: int
    """Minutes that are asked for: every launch may take all of its time."""

    @property
    def device_hours(self) -> float:
        """Device-hours that are asked for."""
        return self.nodes * self.devices_per_node * self.limit_min / 60


def launch_min(plan: Plan) -> int:
    """Minutes that an allocation holds for one launch."""
    return ceil(plan.study.time_limit_min) + MARGIN_MIN


def make_allocations(plan: Plan) -> tuple[Allocation, ...]:
    """As few allocations of each scale as `allocation_limit_min` allows, with launches spread evenly over them."""
    kinds: dict[tuple[int, int, str], list[str]] = {}
    for run_id, spec in plan.runs.items():
        after = plan.decided_after(run_id)
        decided = f"after{after}-" if after else "reserve-" if plan.is_reserve(run_id) else ""
        kind = (spec.nodes, spec.devices_per_node, decided)
        kinds.setdefault(kind, []).append(run_id)
    most = max(1, int(plan.study.allocation_limit_min // launch_min(plan)))
    found = []
    for (nodes, devices, decided), runs in sorted(kinds.items()):
        count = ceil(len(runs) / most)
        for part in range(count):
            mine = tuple(runs[len(runs) * part // count : len(runs) * (part + 1) // count])
            name = f"n{nodes}g{devices}-{decided}{part + 1}"
            found.append(Allocation(name, nodes, devices, mine, len(mine) * launch_min(plan)))
    return tuple(found)
