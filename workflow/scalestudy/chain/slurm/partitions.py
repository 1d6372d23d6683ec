"""The resources of a partition's nodes, and the requests that none of them can fulfil."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from scalestudy.chain.slurm.advice import CORES, GPUS, MEMORY, NODES, PARTITION, TIME
from scalestudy.launch.slurm.ask import ask

ASK_S = 15


@dataclass(frozen=True)
class Asked:
    """What a job requests; 0 where it requests nothing. CPUs, memory and GPUs are per node."""

    nodes: int = 1
    cpus: int = 0
    memory_mb: int = 0
    gpus: int = 0
    minutes: int = 0


@dataclass(frozen=True)
class Nodes:
    """Identical nodes of a partition."""

    count: int
    cpus: int
    memory_mb: int
    gpus: int


@dataclass(frozen=True)
class Partition:
    """What a partition offers, whether or not its nodes are free or down now."""

    name: str
    kinds: tuple[Nodes, ...]
    minutes: float | None = None
    """Time limit of a job; None without a limit."""
    most_nodes: float | None = None
    """Largest number of nodes of a job; None without a limit."""


def read_partitions() -> dict[str, Partition]:
    """Name -> partition, with the default one also as ''. Empty where SLURM does not answer."""
    done = ask("sinfo", "--all", "--exact", "--noheader", "--format=%P|%D|%c|%m|%G|%l|%s", limit_s=ASK_S)
    return {} if done.returncode else parse_partitions(done.stdout)


def parse_partitions(listed: str) -> dict[str, Partition]:
    """Name -> partition, from the output of sinfo. Other lines are skipped."""
    kinds: dict[str, list[Nodes]] = {}
    limits: dict[str, tuple[float | None, float | None]] = {}
    default = ""
    for line in listed.splitlines():
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != 7 or not all(part.isdigit() for part in parts[1:4]):  # "64+": nodes of several kinds
            continue
        name = parts[0].rstrip("*")
        default = name if parts[0].endswith("*") else default
        count, cpus, memory = (int(part) for part in parts[1:4])
        kinds.setdefault(name, []).append(Nodes(count, cpus, memory, gpus_in(parts[4])))
        limits[name] = (parse_minutes(parts[5]), _most(parts[6]))
    found = {name: Partition(name, tuple(nodes), *limits[name]) for name, nodes in kinds.items()}
    return found | ({"": found[default]} if default else {})


def misfits(asked: Asked, partition: Partition) -> list[str]:
    """Why no nodes of a partition can ever fulfil a request, with the keys to change."""
    name = f"partition {partition.name}"
    found = []
    if partition.minutes is not None and asked.minutes > partition.minutes:
        found.append(f"it requests {asked.minutes} min, but {name} allows {partition.minutes:g}. Lower {TIME}")
    have = sum(kind.count for kind in partition.kinds)
    most = min(have, partition.most_nodes or have)
    if asked.nodes > most:
        found.append(f"it requests {asked.nodes} nodes, but {name} allows up to {most:g} per job. Change {NODES}")
    alone = []
    for need, largest, unit, key in (
        (asked.memory_mb, max(kind.memory_mb for kind in partition.kinds), "MB of memory", f"Lower {MEMORY}"),
        (asked.cpus, max(kind.cpus for kind in partition.kinds), "CPUs", f"Lower {CORES}"),
        (asked.gpus, max(kind.gpus for kind in partition.kinds), "GPUs", f"Change {GPUS}"),
    ):
        if need > largest:
            alone.append(
                f"it requests {need} {unit} per node, but the largest node of {name} has {largest}. {key}"
            )
    fitting = sum(kind.count for kind in partition.kinds if _fits(asked, kind))
    if not found and not alone and fitting < asked.nodes:
        what = f"{asked.memory_mb} MB of memory, {asked.cpus} CPUs and {asked.gpus} GPUs on each"
        found.append(f"it requests {asked.nodes} nodes with {what}, but {name} has {fitting}. Change {NODES}")
    return found + alone


def in_partitions(asked: Asked, names: str, partitions: dict[str, Partition]) -> list[str]:
    """Like `misfits`, for the partitions that a job names: '' for the default one, 'a,b' for one of several.

    Empty where one of them can fulfil the request, or where SLURM did not answer.
    """
    if not partitions:
        return []
    found = []
    for name in names.split(","):
        if name.strip() not in partitions:
            if not name.strip():
                return []  # no default partition: sbatch reports this
            known = ", ".join(sorted(filter(None, partitions)))
            found.append(f"partition {name.strip()} does not exist (there are: {known}). Change {PARTITION}")
        elif lacking := misfits(asked, partitions[name.strip()]):
            found += lacking
        else:
            return []
    return found


def gpus_in(gres: str) -> int:
    """Number of GPUs in a list of generic resources: 4 in 'gpu:a100:4(S:0-1),shard:8'; 1 in 'gpu'."""
    listed: Iterable[str] = re.findall(r"(?:^|,)gpu((?::[^,()]*)?)", gres)
    numbers = [words.rsplit(":", 1)[-1] for words in listed]
    return sum(int(number) if number.isdigit() else 1 for number in numbers)


def parse_minutes(limit: str) -> float | None:
    """Minutes of '1-02:00:00', '30:00' or '10'; None for 'infinite', and for text that is not a time."""
    if not (parts := re.fullmatch(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?", limit)):
        return None
    days, *rest = parts.groups()
    numbers = [int(part) for part in rest if part is not None]
    if days is None and len(numbers) < 3:  # minutes, and seconds
        return numbers[0] + (numbers[1] / 60 if len(numbers) > 1 else 0)
    hours, minutes, seconds = [*numbers, 0, 0][:3]
    return int(days or 0) * 1440 + hours * 60 + minutes + seconds / 60


def _most(sizes: str) -> float | None:
    """The larger end of '1-4'; None for '1-infinite'."""
    last = sizes.rsplit("-", 1)[-1]
    return int(last) if last.isdigit() else None


def _fits(asked: Asked, kind: Nodes) -> bool:
    return kind.cpus >= asked.cpus and kind.memory_mb >= asked.memory_mb and kind.gpus >= asked.gpus
