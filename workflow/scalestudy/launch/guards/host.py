"""What is looked at just before a launch, while the host is ours: a run that cannot be right is refused, and what
may spoil its numbers is written beside them."""

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
"""Cores in use by others from which a host counts as busy."""
BUSY = "busy host"
"""The kind of that warning."""
MEMORY_PER_RANK_GIB = 1.0
"""About what torch takes before it has a model; with less on offer, ranks are likely to swap or be killed."""


@dataclass(frozen=True)
class Guard:
    """What was found before a launch."""

    refused: str | None
    """Why there must be no launch, as a sentence that says what would be right."""
    cpus: tuple[int, ...]
    """Those that the ranks may run on."""
    environment: dict[str, Any]
    """`hardware`, and `warnings`: a list of {"kind": ..., "text": ...}."""


def look(spec: RunSpec, environment: Mapping[str, str], *, nvml: Any = pynvml, system: Path = SYSTEM) -> Guard:
    """Look at the host; `environment` is that of the ranks. It takes a quarter of a second.

    system: the kernel's folder of CPUs.
    """
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
    """Physical cores of a rank, the smallest number over ranks."""
    return min(physical_cores(cpus, threads) for cpus in portions.cpus)


def far_cores(portions: Portions) -> str:
    """Ranks with CPUs off the socket of their GPU: every copy to it crosses the link between the sockets."""
    if not portions.far:
        return ""
    first, more = portions.far[0], len(portions.far) - 1
    others = f", and so do those of {more} other rank(s)" if more else ""
    return (
        f"cores of rank {first.rank} are on socket {first.sockets}, and its GPU is attached to socket"
        f" {first.gpu_sockets}{others}: too few cores of that socket are this job's. Ask for more cores, or for"
        " cores near the GPUs (SLURM: --gres-flags=enforce-binding)"
    )


def others_cores(cpus: Sequence[int], *, sample_s: float = SAMPLE_S) -> float:
    """Cores' worth of these CPUs that was in use while this process slept; what a hypervisor took counts too."""
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
    """(busy, all) ticks of every CPU since the host started; psutil drops the numbers, and some may be off."""
    ticks = {}
    for line in Path("/proc/stat").read_text(encoding="utf-8").splitlines():
        name, *values = line.split()
        if name.startswith("cpu") and name != "cpu":
            user, nice, system, idle, waiting, *others = map(int, values[:8])  # guests are within user and nice
            busy = user + nice + system + sum(others)
            ticks[int(name[3:])] = (busy, busy + idle + waiting)
    return ticks


def busy_host(cores: float) -> str:
    """Somebody else computes where the run is to be timed."""
    if cores <= BUSY_CORES:
        return ""
    return f"the host is busy: {cores:.1f} cores in use by others just before this launch"


def too_many_threads(spec: RunSpec, cores_per_rank: int, available: Sequence[int]) -> str:
    """Ranks that are not bound may have more threads than there are cores. Of those that are bound, only a rank
    whose cores the node itself counted (`cores_per_rank` unset) may have more threads than cores."""
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
        f"{ranks} ranks x {threads} threads are {ranks * threads} threads on {len(available)} cores; with"
        f" host.cores_per_rank: {max(1, len(available) // ranks)} and host.pin: true each would have its own"
    )


def shared_cores(ranks_cpus: Sequence[Sequence[int]], threads: Mapping[int, tuple[int, ...]]) -> str:
    """Two ranks on two threads of one physical core are slower than their base case, which has one to itself."""
    owner = {cpu: rank for rank, cpus in enumerate(ranks_cpus) for cpu in cpus}
    if len(owner) < sum(map(len, ranks_cpus)):
        return ""  # not bound: the kernel moves them about
    shared = {siblings for siblings in threads.values() if len({owner[c] for c in siblings if c in owner}) > 1}
    if not shared:
        return ""
    first = sorted(cpu for cpu in min(shared) if cpu in owner)
    ranks = " and ".join(f"rank {owner[cpu]}" for cpu in first)
    cpus = " and ".join(map(str, first))
    return f"ranks share {len(shared)} physical core(s): CPUs {cpus}, of {ranks}, are threads of one core"


def tight_quota(quota_cores: float | None, used: Sequence[int]) -> str:
    """A quota below the cores that the ranks are bound to stops them all for a part of every period."""
    if quota_cores is None or quota_cores >= len(used):
        return ""
    return f"a CPU quota of {quota_cores:g} cores holds here; the ranks of this launch may run on {len(used)}"


def free_memory_gib() -> float:
    """Memory that can be had without swapping, or the limit of the container where that is less."""
    available_gib = psutil.virtual_memory().available / 2**30
    limit_gib = memory_limit_gib()
    return available_gib if limit_gib is None else min(available_gib, limit_gib)


def little_memory(spec: RunSpec, free_gib: float) -> str:
    """Ranks that swap, or that the kernel is about to kill."""
    if free_gib >= spec.devices_per_node * MEMORY_PER_RANK_GIB:
        return ""
    return f"{free_gib:.1f} GiB of memory were free for {spec.devices_per_node} rank(s) just before this launch"
