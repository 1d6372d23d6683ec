"""Checks of the host just before a run, while its lock is held. A run that would be measured wrongly is refused;
conditions that may distort its results become warnings in its record."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pynvml

from scalestudy.launch.guards.gpu import check_gpus
from scalestudy.record.host.affinity import Portions, physical_cores
from scalestudy.record.host.cgroup import cpu_quota_cores, memory_limit_gib
from scalestudy.record.host.cpus import SYSTEM, core_threads
from scalestudy.record.host.environment import hardware_facts
from scalestudy.record.host.portions import decided_for
from scalestudy.study.config.conditions import threads_per_rank
from scalestudy.study.spec import RunSpec

SAMPLE_S = 0.2
BUSY_CORES = 0.25
"""A host counts as busy where others use more than this number of cores."""
BUSY = "busy host"
"""Kind of the warning about a busy host."""
MEMORY_PER_RANK_GIB = 1.0
"""Approximate memory of torch without a model. With less memory, ranks are likely to swap or to be killed."""


@dataclass(frozen=True)
class Guard:
    """What was found before a run."""

    refused: str | None
    """Why the run must not start, and what to do; None where it may."""
    cpus: tuple[int, ...]
    """CPUs that the ranks may run on."""
    environment: dict[str, Any]
    """`hardware`, and `warnings`: a list of {"kind": ..., "text": ...}."""


def look(spec: RunSpec, environment: Mapping[str, str], *, nvml: Any = pynvml, system: Path = SYSTEM) -> Guard:
    """Check the host, which takes about 0.25 s. environment: of the ranks. system: the kernel's folder of CPUs."""
    available = sorted(os.sched_getaffinity(0))
    portions = decided_for(spec.host, spec.devices_per_node, environment, nvml)
    used = sorted({cpu for cpus in portions.cpus for cpu in cpus})
    threads = core_threads(system)
    refused, gpu_warnings = check_gpus(spec, environment, nvml, cores=_least_cores(portions, threads))
    found = {
        BUSY: busy_host(others_cores(used)),
        "more threads than cores": too_many_threads(spec, portions.cores_per_rank, available),
        "shared physical core": shared_cores(portions.cpus, threads),
        "CPU quota": tight_quota(cpu_quota_cores(), used),
        "cores far from their GPU": far_cores(portions),
        "little memory": little_memory(spec, free_memory_gib()),
    }
    warnings = [{"kind": kind, "text": text} for kind, text in found.items() if text] + gpu_warnings
    return Guard(refused, tuple(used), {"hardware": hardware_facts(environment, nvml), "warnings": warnings})


def _least_cores(portions: Portions, threads: Mapping[int, tuple[int, ...]]) -> int:
    """Physical cores per rank (minimum over ranks)."""
    return min(physical_cores(cpus, threads) for cpus in portions.cpus)


def far_cores(portions: Portions) -> str:
    """A warning for ranks with CPUs on another socket than their GPU; else empty.

    Every copy to that GPU crosses the link between the sockets.
    """
    if not portions.far:
        return ""
    first, more = portions.far[0], len(portions.far) - 1
    others = f" (similarly for {more} other rank(s))" if more else ""
    return (
        f"cores of rank {first.rank} are on socket {first.sockets}, but its GPU is attached to socket"
        f" {first.gpu_sockets}{others}: this job has too few cores of that socket. Request more cores, or cores"
        " near the GPUs (SLURM: --gres-flags=enforce-binding)"
    )


def others_cores(cpus: Sequence[int], *, sample_s: float = SAMPLE_S) -> float:
    """Number of these CPUs, as a sum of shares, that were in use while this process slept. Time that a hypervisor
    took counts as in use."""
    before = _ticks()
    time.sleep(sample_s)
    after = _ticks()
    used = 0.0
    for cpu in cpus:
        if cpu in before and cpu in after:
            busy, whole = (after[cpu][part] - before[cpu][part] for part in (0, 1))
            used += busy / whole if whole > 0 else 0.0
    return used


def _ticks() -> dict[int, tuple[int, int]]:
    """(busy, all) ticks of every CPU since the host started.

    Not from psutil, which leaves out the numbers of the CPUs, although some may be offline.
    """
    ticks = {}
    for line in Path("/proc/stat").read_text(encoding="utf-8").splitlines():
        name, *values = line.split()
        if name.startswith("cpu") and name != "cpu":
            user, nice, system, idle, waiting, *others = map(int, values[:8])  # guests are within user and nice
            busy = user + nice + system + sum(others)
            ticks[int(name[3:])] = (busy, busy + idle + waiting)
    return ticks


def busy_host(cores: float) -> str:
    """A warning for a host on which others use more than BUSY_CORES; else empty."""
    if cores <= BUSY_CORES:
        return ""
    return f"the host is busy: others used {cores:.1f} cores just before this run"


def too_many_threads(spec: RunSpec, cores_per_rank: int, available: Sequence[int]) -> str:
    """Return a warning for ranks with more threads than cores; '' otherwise. Bound ranks can have more only where
    the node itself counted the cores of a rank (`cores_per_rank` unset)."""
    host, ranks = spec.host, spec.devices_per_node
    threads = threads_per_rank(host.environment, cores_per_rank=cores_per_rank)
    if host.pin and threads > cores_per_rank:
        return (
            f"each rank has {threads} threads (host.environment) on the {cores_per_rank} cores that it is bound"
            f" to; set host.cores_per_rank: {threads}, or {cores_per_rank} threads"
        )
    if host.pin or ranks * threads <= len(available):
        return ""
    return (
        f"{ranks} ranks x {threads} threads are {ranks * threads} threads on {len(available)} cores. Set"
        f" host.cores_per_rank: {max(1, len(available) // ranks)} and host.pin: true to give each rank its own"
    )


def shared_cores(ranks_cpus: Sequence[Sequence[int]], threads: Mapping[int, tuple[int, ...]]) -> str:
    """A warning for ranks that share a physical core; else empty.

    Two ranks on two hardware threads of a core are slower than the baseline, which has the core to itself.
    """
    owner = {cpu: rank for rank, cpus in enumerate(ranks_cpus) for cpu in cpus}
    if len(owner) < sum(map(len, ranks_cpus)):
        return ""  # not bound: the kernel moves the ranks between cores
    shared = {siblings for siblings in threads.values() if len({owner[c] for c in siblings if c in owner}) > 1}
    if not shared:
        return ""
    first = sorted(cpu for cpu in min(shared) if cpu in owner)
    ranks = " and ".join(f"rank {owner[cpu]}" for cpu in first)
    cpus = " and ".join(map(str, first))
    return f"ranks share {len(shared)} physical core(s): CPUs {cpus} of {ranks} are threads of the same core"


def tight_quota(quota_cores: float | None, used: Sequence[int]) -> str:
    """A warning for a CPU quota below the number of the ranks' cores; else empty.

    Such a quota stops all ranks for a part of every period.
    """
    if quota_cores is None or quota_cores >= len(used):
        return ""
    return f"the CPU quota is {quota_cores:g} cores, but the ranks of this run may use {len(used)} cores"


def free_memory_gib() -> float:
    """Memory that is available without swapping, or the container's memory limit where that is smaller."""
    available_gib = psutil.virtual_memory().available / 2**30
    limit_gib = memory_limit_gib()
    return available_gib if limit_gib is None else min(available_gib, limit_gib)


def little_memory(spec: RunSpec, free_gib: float) -> str:
    """A warning where the ranks are likely to swap or to be killed for memory; else empty."""
    if free_gib >= spec.devices_per_node * MEMORY_PER_RANK_GIB:
        return ""
    return f"only {free_gib:.1f} GiB of memory were free for {spec.devices_per_node} rank(s) just before this run"
