"""The cores that the launcher assigned to a rank of the script."""

from __future__ import annotations

import contextlib
import json
import os

PORTIONS = "SCALESTUDY_PORTIONS"
"""Variable: the launcher's assignment of cores to the ranks of this node, as JSON (record/host/portions.py)."""


def portion(local_rank: int) -> list[int]:
    """CPUs of a rank of this node; [] where there are too few, or where none are assigned."""
    decided = json.loads(os.environ.get(PORTIONS, "null")) or {"cores_per_rank": 0, "cpus": []}
    cpus: list[int] = decided["cpus"][local_rank] if local_rank < len(decided["cpus"]) else []
    return cpus if len(cpus) == decided["cores_per_rank"] else []


def pin(local_rank: int) -> None:
    """Bind all threads of this process, also those of torch and gloo, to its cores, as our own ranks are bound."""
    if cores := portion(local_rank):
        for thread in os.listdir("/proc/self/task"):
            with contextlib.suppress(ProcessLookupError):  # it has ended since it was listed
                os.sched_setaffinity(int(thread), cores)
