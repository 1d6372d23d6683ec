"""Computes the CPUs that each rank of a host is bound to, from facts about the host.

It is a pure function, and the same for the launcher's guards, for our own ranks, and for a user's own script.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from scalestudy.study.config.conditions import CORES_OF_A_GPU, LEAST_CORES

Cpus = tuple[int, ...]


@dataclass(frozen=True)
class Facts:
    """The CPUs and GPUs of a host."""

    usable: Cpus
    """CPUs that this job may use, in order."""
    cores: Mapping[int, Cpus]
    """CPU -> all CPUs of its physical core; {} if the kernel does not report it."""
    sockets: Mapping[int, str]
    """CPU -> the number of its socket; {} if the kernel does not report it."""
    near: tuple[Cpus | None, ...] = ()
    """CPUs of the NUMA node of each GPU that the ranks see, in their order; None if NVML does not report it."""
    boards: tuple[Cpus | None, ...] = ()
    """The same for all GPUs that NVML lists, including those hidden by CUDA_VISIBLE_DEVICES, in NVML's order."""
    visible: tuple[int, ...] = ()
    """Index in `boards` of each GPU that the ranks see; () for MIG instances."""
    gpus: int = 0
    """Number of GPUs of the host, those of other jobs included; 0 if they could not be counted."""
    quota_cores: float | None = None
    """CPU quota of the job's control group, in cores."""


@dataclass(frozen=True)
class Far:
    """A rank with CPUs on another socket than its GPU. Rank r uses GPU r of the visible ones."""

    rank: int
    sockets: str
    """Sockets of the rank's CPUs: '0', or '0, 1'."""
    gpu_sockets: str


@dataclass(frozen=True)
class Portions:
    """The CPUs of each rank of a host."""

    cores_per_rank: int
    """The requested number, or the chosen one if none was requested."""
    cpus: tuple[Cpus, ...]
    """CPUs of each rank; fewer than `cores_per_rank` if there are too few."""
    far: tuple[Far, ...] = ()


def portions(facts: Facts, ranks: int, *, cores_per_rank: int | None, pin: bool) -> Portions:
    """Return the CPUs of each rank, and their number.

    cores_per_rank: None chooses the number. On CPUs, rank r gets the r-th portion of the usable CPUs. On GPUs, it
    gets CPUs of the NUMA node of its GPU, else of the GPU's socket. One hardware thread of each physical core is
    used before the second one, and no two ranks share a physical core. Portions are laid out for all GPUs of the
    host if they fit, else for all visible ones. So a single process is bound like rank 0 of N ranks, and another
    job on another GPU gets other cores. If the GPU's socket has too few CPUs, a rank also gets others (`far`). If
    there are too few whole physical cores, rank r gets the r-th portion of the usable CPUs, as on CPUs.
    """
    count = cores_per_rank or chosen_cores(facts, ranks)
    if not pin:
        return Portions(count, (facts.usable,) * ranks)
    shares = _near_boards(facts, count)
    shares = shares or _near_gpus(facts, facts.near, count) or _near_gpus(facts, facts.near[:ranks], count)
    shares = shares or _anywhere(facts, ranks, count)
    if shares is None or len(shares) < ranks:
        shares = [facts.usable[rank * count : (rank + 1) * count] for rank in range(ranks)]
    cpus = tuple(shares[:ranks])
    return Portions(count, cpus, tuple(far_ranks(cpus, facts.near, facts.sockets)))


def chosen_cores(facts: Facts, ranks: int) -> int:
    """Return the cores per rank if the study gives no number: 1 on a CPU, at most 8 on a GPU.

    There are two upper bounds. One is the host's physical cores divided by its GPUs: a job with 1 of 8 GPUs may
    see all cores, and its process must not get more than each of 8 ranks would. The other is the job's physical
    cores divided by its GPUs: a scheduler may assign fewer. The number is then lowered, down to LEAST_CORES, to
    what fits on each GPU's own socket.
    """
    gpus = len(facts.near)
    if not (gpus or facts.gpus):
        return 1
    usable_cores = len(_physical(facts.usable, facts.cores))
    if facts.quota_cores is not None:
        usable_cores = min(usable_cores, int(facts.quota_cores))
    host_cores = len(set(facts.cores.values())) or len(facts.usable)
    shares = (host_cores // max(facts.gpus, gpus), usable_cores // max(gpus or facts.gpus, ranks))
    count = max(1, min(CORES_OF_A_GPU, *shares))
    fitting = (
        fewer
        for fewer in range(count, LEAST_CORES - 1, -1)
        if _near_gpus(facts, facts.near, fewer, threads=(False,))
    )
    return next(fitting, count)


def far_ranks(
    cpus: Sequence[Sequence[int]], near: Sequence[Sequence[int] | None], sockets: Mapping[int, str]
) -> list[Far]:
    """Return the ranks with CPUs on another socket than their GPU; [] if sockets or GPUs are unknown.

    cpus: CPUs of each rank of the host. near: CPUs of the NUMA node of each GPU.
    """
    found = []
    for rank, (own, of_gpu) in enumerate(zip(cpus, near, strict=False)):
        here, there = ({sockets[cpu] for cpu in some or () if cpu in sockets} for some in (own, of_gpu))
        if there and here - there:
            found.append(Far(rank, *(", ".join(sorted(some)) for some in (here, there))))
    return found


def physical_cores(cpus: Iterable[int], cores: Mapping[int, Cpus]) -> int:
    """Return the number of physical cores of which these CPUs are threads."""
    return len({cores.get(cpu, (cpu,)) for cpu in cpus})


def _physical(cpus: Iterable[int], cores: Mapping[int, Cpus]) -> list[Cpus]:
    """Group CPUs by physical core, in the order of the CPUs. Each core is a tuple of those CPUs."""
    found: dict[Cpus, list[int]] = {}
    for cpu in cpus:
        found.setdefault(cores.get(cpu, (cpu,)), []).append(cpu)
    return [tuple(threads) for threads in found.values()]


def _near_boards(facts: Facts, count: int) -> list[Cpus] | None:
    """Return portions near the visible GPUs, laid out for all GPUs that NVML lists; None if they do not fit."""
    shares = _near_gpus(facts, facts.boards, count) if facts.visible else None
    return [shares[board] for board in facts.visible] if shares else None


def _near_gpus(
    facts: Facts, near: Sequence[Cpus | None], count: int, *, threads: Sequence[bool] = (False, True)
) -> list[Cpus] | None:
    """Return portions near these GPUs; None if they do not fit, or there are no GPUs.

    threads: whether all hardware threads of a core are used; the values are tried in this order. The NUMA node of
    a GPU is tried before its whole socket.
    """
    nodes = [facts.usable if of_gpu is None else of_gpu for of_gpu in near]
    wider = [_socket_of(of_gpu, facts) for of_gpu in nodes]
    for both_threads in threads:
        for places in (nodes, wider):
            if shares := _dealt([_cores_in(place, facts) for place in places], count, both_threads=both_threads):
                return shares
    return None


def _socket_of(cpus: Cpus, facts: Facts) -> Cpus:
    """Return these CPUs and all other usable CPUs of their sockets."""
    own = set(cpus)
    there = {facts.sockets[cpu] for cpu in own if cpu in facts.sockets}
    return tuple(cpu for cpu in facts.usable if cpu in own or facts.sockets.get(cpu) in there)


def _cores_in(cpus: Iterable[int], facts: Facts) -> list[Cpus]:
    """Return the usable physical cores of these CPUs, each as a tuple of its usable threads."""
    there = set(cpus)
    return _physical((cpu for cpu in facts.usable if cpu in there), facts.cores)


def _dealt(places: Sequence[Sequence[Cpus]], count: int, *, both_threads: bool) -> list[Cpus] | None:
    """Assign `count` CPUs to each place, without sharing physical cores; None if there are too few.

    places: the physical cores that each place may take. Places with the fewest cores are served first.
    """
    taken: set[Cpus] = set()
    shares: dict[int, Cpus] = {}
    for place in sorted(range(len(places)), key=lambda place: len(places[place])):
        mine: list[int] = []
        for core in places[place]:
            if core in taken or len(mine) >= count:
                continue
            taken.add(core)
            mine += core if both_threads else core[:1]
        if len(mine) < count:
            return None
        shares[place] = tuple(sorted(mine[:count]))
    return [shares[place] for place in range(len(places))]


def _anywhere(facts: Facts, ranks: int, count: int) -> list[Cpus] | None:
    """Return portions of whole physical cores on any socket, or None if they do not fit or there are no GPUs.

    The cores of each GPU's own socket are dealt out first, one at a time, then all others.
    """
    everything = _physical(facts.usable, facts.cores)
    near = [[] if of_gpu is None else _cores_in(_socket_of(of_gpu, facts), facts) for of_gpu in facts.near[:ranks]]
    for both_threads in (False, True):
        taken: set[Cpus] = set()
        mine: list[list[int]] = [[] for _ in near]
        for places in (near, [everything] * len(near)):
            free = True
            while free:
                free = False
                for place, own in zip(places, mine, strict=True):
                    core = next((core for core in place if core not in taken), None)
                    if core is not None and len(own) < count:
                        taken.add(core)
                        own += core if both_threads else core[:1]
                        free = True
        if near and all(len(own) >= count for own in mine):
            return [tuple(sorted(own[:count])) for own in mine]
    return None
