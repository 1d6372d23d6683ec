"""Which CPUs each rank of a host is bound to, from what is known of the host: a pure function, the same for the
launcher's guards, for our own ranks, and for somebody's script."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from scalestudy.study.config.conditions import CORES_OF_A_GPU, LEAST_CORES

Cpus = tuple[int, ...]


@dataclass(frozen=True)
class Facts:
    """What a host tells of its CPUs and GPUs."""

    usable: Cpus
    """CPUs that this job may use, in order."""
    cores: Mapping[int, Cpus]
    """CPU -> all CPUs of its physical core; {} where the kernel does not say."""
    sockets: Mapping[int, str]
    """CPU -> the number of its socket; {} where the kernel does not say."""
    near: tuple[Cpus | None, ...] = ()
    """For each GPU that the ranks see, in their order, the CPUs of its NUMA node; None where NVML does not say."""
    boards: tuple[Cpus | None, ...] = ()
    """The same for all GPUs that NVML shows, those hidden by CUDA_VISIBLE_DEVICES included, in NVML's order."""
    visible: tuple[int, ...] = ()
    """For each GPU that the ranks see, its place in `boards`; () for instances of MIG."""
    gpus: int = 0
    """GPUs of the host, those of other jobs included; 0 where they could not be counted."""
    quota_cores: float | None = None
    """CPU time that the job's control group allows."""


@dataclass(frozen=True)
class Far:
    """A rank with CPUs off the socket of its GPU. A rank r has GPU r of those that are visible."""

    rank: int
    sockets: str
    """Of its CPUs: '0', or '0, 1'."""
    gpu_sockets: str


@dataclass(frozen=True)
class Portions:
    """What each rank of a host gets."""

    cores_per_rank: int
    """The number that was asked for, or that was chosen where none was."""
    cpus: tuple[Cpus, ...]
    """CPUs of each rank; fewer than asked for where there are too few."""
    far: tuple[Far, ...] = ()


def portions(facts: Facts, ranks: int, *, cores_per_rank: int | None, pin: bool) -> Portions:
    """The CPUs of each rank, and how many they are.

    cores_per_rank: None chooses the number. On CPUs rank r gets the r-th portion of the usable CPUs. On GPUs it
    gets CPUs of the NUMA node of its GPU, else of the GPU's socket, one hardware thread of a physical core before
    the second one, and no two ranks share a physical core. Portions are laid out for all GPUs of the host where
    they fit, else for all visible ones. So one process is bound as rank 0 of N is, and somebody else on another
    GPU has other cores. Where the GPU's socket has too few CPUs, a rank gets others too (`far`). Where whole
    physical cores are too few, rank r gets the r-th portion of the usable CPUs, as on CPUs.
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
    """Cores of a rank where the study names no number: 1 on a CPU, at most 8 on a GPU.

    Two shares bound it. The host's physical cores over its GPUs: a job with 1 of 8 GPUs may see all cores, and
    its process must not get more than each of 8 ranks does. The job's physical cores over its GPUs: a scheduler
    may give fewer. Down to LEAST_CORES it is lowered to what each GPU's own socket has.
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
    """The ranks with CPUs off the socket of their GPU; [] where sockets or GPUs are not known.

    cpus: of each rank of the host. near: of each GPU, CPUs of its NUMA node.
    """
    found = []
    for rank, (own, of_gpu) in enumerate(zip(cpus, near, strict=False)):
        here, there = ({sockets[cpu] for cpu in some or () if cpu in sockets} for some in (own, of_gpu))
        if there and here - there:
            found.append(Far(rank, *(", ".join(sorted(some)) for some in (here, there))))
    return found


def physical_cores(cpus: Iterable[int], cores: Mapping[int, Cpus]) -> int:
    """Physical cores that these CPUs are threads of."""
    return len({cores.get(cpu, (cpu,)) for cpu in cpus})


def _physical(cpus: Iterable[int], cores: Mapping[int, Cpus]) -> list[Cpus]:
    """The physical cores that these CPUs are of, each as its threads among them; in the order of the CPUs."""
    found: dict[Cpus, list[int]] = {}
    for cpu in cpus:
        found.setdefault(cores.get(cpu, (cpu,)), []).append(cpu)
    return [tuple(threads) for threads in found.values()]


def _near_boards(facts: Facts, count: int) -> list[Cpus] | None:
    """Portions near the visible GPUs, laid out for all GPUs that NVML shows; None where they do not fit."""
    shares = _near_gpus(facts, facts.boards, count) if facts.visible else None
    return [shares[board] for board in facts.visible] if shares else None


def _near_gpus(
    facts: Facts, near: Sequence[Cpus | None], count: int, *, threads: Sequence[bool] = (False, True)
) -> list[Cpus] | None:
    """Portions near these GPUs; None where they do not fit, or there are no GPUs.

    threads: whether a core gives all its threads, in the order in which that is tried. The NUMA node of a GPU is
    tried before its whole socket.
    """
    nodes = [facts.usable if of_gpu is None else of_gpu for of_gpu in near]
    wider = [_socket_of(of_gpu, facts) for of_gpu in nodes]
    for both_threads in threads:
        for places in (nodes, wider):
            if shares := _dealt([_cores_in(place, facts) for place in places], count, both_threads=both_threads):
                return shares
    return None


def _socket_of(cpus: Cpus, facts: Facts) -> Cpus:
    """These CPUs and all others of their sockets."""
    own = set(cpus)
    there = {facts.sockets[cpu] for cpu in own if cpu in facts.sockets}
    return tuple(cpu for cpu in facts.usable if cpu in own or facts.sockets.get(cpu) in there)


def _cores_in(cpus: Iterable[int], facts: Facts) -> list[Cpus]:
    """The physical cores of these CPUs that may be used, each as its usable threads."""
    there = set(cpus)
    return _physical((cpu for cpu in facts.usable if cpu in there), facts.cores)


def _dealt(places: Sequence[Sequence[Cpus]], count: int, *, both_threads: bool) -> list[Cpus] | None:
    """`count` CPUs for each place, of physical cores that no other place has; None where they are too few.

    places: physical cores that each may take. Those with the least choice take first.
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
    """Portions of whole physical cores on any socket, the GPU's own first and evenly; None where they do not fit.

    None without GPUs too.
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
