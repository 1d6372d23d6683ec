"""Differences between the ranks of one run: in samples, and in the cores that they are bound to."""

import json
from collections.abc import Mapping
from math import nan
from typing import Any

import numpy as np

from scalestudy.analyse.run.grid import Grid
from scalestudy.record.host.affinity import far_ranks
from scalestudy.record.host.cpus import cpu_list
from scalestudy.record.observation import RunRecord

HOST_PARTS = ("data_time_s", "h2d_time_s", "optimizer_time_s", "remainder_time_s")
"""The host's parts of a step. Forward and backward include waiting for other ranks."""


def samples_of_ranks(steady: Grid) -> dict[str, float]:
    """Returns columns of runs.csv: heaviest_rank, and samples_excess, its relative excess over the mean rank.

    steady: from steps.steady_steps. nan with a single rank.
    """
    if not len(steady) or len(steady["samples"]) < 2:
        return {"heaviest_rank": nan, "samples_excess": nan}
    samples = steady["samples"].mean(axis=1)
    return {
        "heaviest_rank": int(steady["rank"][samples.argmax(), 0]),
        "samples_excess": float(samples.max() / samples.mean() - 1),
    }


def numa_of_ranks(record: RunRecord, steady: Grid) -> dict[str, Any]:
    """Returns columns of runs.csv: numa_ranks, the ranks with cores on several NUMA nodes, as a JSON list ('[0,
    3]'); far_ranks, the ranks with cores off the socket of their GPU ('[[3, 3, "0", "1"]]': rank, GPU, both
    sockets); numa_excess_s, the additional time of the host's parts of a step on either, relative to the others.

    nan if all ranks are bound alike, or nothing is known of the host.
    """
    # Ranks of other hosts are assumed to have the same nodes.
    hardware = record.environment.get("hardware") or {}
    nodes = hardware.get("cpu", {}).get("numa_nodes") or {}
    node_of = {cpu: node for node, cpus in nodes.items() for cpu in cpu_list(cpus)}
    across = [
        rank.rank for rank in record.ranks if len({node_of[core] for core in rank.cores if core in node_of}) > 1
    ]
    far = _far_from_gpu(record, hardware)
    found = {"numa_ranks": json.dumps(across), "far_ranks": json.dumps(far), "numa_excess_s": nan}
    badly = {*across, *(rank for rank, *_ in far)}
    if badly and len(steady):
        parts_s = [steady[part].mean(axis=1) for part in HOST_PARTS]
        host_s = sum(
            part_s for part_s in parts_s if not np.isnan(part_s).all()
        )  # some parts of a script are not visible
        is_badly = np.isin(steady["rank"][:, 0], sorted(badly))
        if not is_badly.all():
            found["numa_excess_s"] = float(host_s[is_badly].mean() - host_s[~is_badly].mean())
    return found


def _far_from_gpu(record: RunRecord, hardware: Mapping[str, Any]) -> list[tuple[int, int, str, str]]:
    """Returns (rank, GPU, sockets of the cores, socket of the GPU) of ranks with cores off the socket of their
    GPU.

    Empty for ranks on CPUs, and for records of releases that did not record the socket of a GPU.
    """
    of_sockets = hardware.get("cpu", {}).get("cpus_of_sockets") or {}
    sockets = {cpu: socket for socket, cpus in of_sockets.items() for cpu in cpu_list(cpus)}
    near = [
        cpu_list(gpu["cpus"]) if gpu.get("cpus") else None for gpu in hardware.get("gpu", {}).get("devices", ())
    ]
    on_gpus = [rank for rank in record.ranks if rank.device != "cpu"]
    gpus = [rank.rank % record.spec.devices_per_node for rank in on_gpus]
    far = far_ranks(
        [rank.cores for rank in on_gpus], [near[gpu] if gpu < len(near) else None for gpu in gpus], sockets
    )
    return [(on_gpus[one.rank].rank, gpus[one.rank], one.sockets, one.gpu_sockets) for one in far]
