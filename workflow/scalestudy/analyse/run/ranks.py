"""How the ranks of one launch differ from each other: in samples, and in where they are bound."""

import json
from math import nan
from typing import Any

import numpy as np

from scalestudy.analyse.run.grid import Grid
from scalestudy.record.host.cpus import cpu_list
from scalestudy.record.observation import RunRecord

HOST_PARTS = ("data_time_s", "h2d_time_s", "optimizer_time_s", "remainder_time_s")
"""What the host does for a step. Forward and backward hold waiting for other ranks."""


def samples_of_ranks(steady: Grid) -> dict[str, float]:
    """Columns of runs.csv: heaviest_rank, and samples_excess, the share by which it has more than the mean rank.

    steady: from steps.steady_steps. nan where there is one rank only.
    """
    if not len(steady) or len(steady["samples"]) < 2:
        return {"heaviest_rank": nan, "samples_excess": nan}
    samples = steady["samples"].mean(axis=1)
    return {
        "heaviest_rank": int(steady["rank"][samples.argmax(), 0]),
        "samples_excess": float(samples.max() / samples.mean() - 1),
    }


def numa_of_ranks(record: RunRecord, steady: Grid) -> dict[str, Any]:
    """Columns of runs.csv: numa_ranks, those whose cores lie on several NUMA nodes, as a list of JSON ('[0, 3]');
    numa_excess_s, what the host's parts of a step take longer on them than on the others.

    nan where all ranks are bound alike, or nothing is known of the host.
    """
    # Of ranks of other hosts it is taken that those have the same nodes.
    nodes = (record.environment.get("hardware") or {}).get("cpu", {}).get("numa_nodes") or {}
    node_of = {cpu: node for node, cpus in nodes.items() for cpu in cpu_list(cpus)}
    across = [
        rank.rank for rank in record.ranks if len({node_of[core] for core in rank.cores if core in node_of}) > 1
    ]
    found = {"numa_ranks": json.dumps(across), "numa_excess_s": nan}
    if across and len(steady):
        parts_s = [steady[part].mean(axis=1) for part in HOST_PARTS]
        host_s = sum(part_s for part_s in parts_s if not np.isnan(part_s).all())  # not all is seen of a script
        is_across = np.isin(steady["rank"][:, 0], across)
        if not is_across.all():
            found["numa_excess_s"] = float(host_s[is_across].mean() - host_s[~is_across].mean())
    return found
