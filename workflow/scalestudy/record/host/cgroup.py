"""The share of the host that a container's or a job's cgroup allows. It can be less than the visible cores."""

from collections.abc import Iterator
from pathlib import Path

from scalestudy.record.host.cpus import read_file

MOUNT = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")
VMSTAT = Path("/proc/vmstat")
OOM_FILES = ("memory.events", "memory.oom_control")
NO_LIMIT = 2**60
"""Bytes. Version 1 of cgroups writes "no limit" as its largest number."""


def cpu_quota_cores(mount: Path = MOUNT, membership: Path = MEMBERSHIP) -> float | None:
    """Return the cores that the tightest quota on this process allows on average; None without a quota."""
    quotas = []
    for folder in _folders("cpu", mount, membership):
        words = (read_file(folder / "cpu.max") or "").split()
        words = words or [read_file(folder / f"cpu.cfs_{name}_us") or "" for name in ("quota", "period")]
        if len(words) == 2 and all(word.isdigit() for word in words) and int(words[1]):
            quotas.append(int(words[0]) / int(words[1]))
    return round(min(quotas), 2) if quotas else None


def memory_limit_gib(mount: Path = MOUNT, membership: Path = MEMBERSHIP) -> float | None:
    """Return the tightest memory limit on this process, in GiB; None without a limit."""
    limits = []
    for folder in _folders("memory", mount, membership):
        text = read_file(folder / "memory.max") or read_file(folder / "memory.limit_in_bytes") or ""
        if text.isdigit() and int(text) < NO_LIMIT:
            limits.append(int(text) / 2**30)
    return round(min(limits), 2) if limits else None


def memory_left_of_cgroup_gib(mount: Path = MOUNT, membership: Path = MEMBERSHIP) -> float | None:
    """Return the memory that the tightest limit on this process leaves, in GiB; None without a limit.

    The kernel frees cached files before it kills a process, so inactive cached files do not count as used.
    Source: Linux, cgroup-v2.rst and cgroup-v1/memory.rst: memory.current, memory.usage_in_bytes, inactive_file.
    """
    left = []
    for folder in _folders("memory", mount, membership):
        limit = read_file(folder / "memory.max") or read_file(folder / "memory.limit_in_bytes") or ""
        used = read_file(folder / "memory.current") or read_file(folder / "memory.usage_in_bytes") or ""
        if limit.isdigit() and int(limit) < NO_LIMIT and used.isdigit():
            lines = map(str.split, (read_file(folder / "memory.stat") or "").splitlines())
            of_files = {
                name: int(size) for name, size in lines if name in ("inactive_file", "total_inactive_file")
            }
            left.append((int(limit) - int(used) + max(of_files.values(), default=0)) / 2**30)
    return max(0.0, min(left)) if left else None


def oom_kills(mount: Path = MOUNT, membership: Path = MEMBERSHIP, system: Path = VMSTAT) -> int | None:
    """Return the number of processes that the kernel has killed for lack of memory; None if it is not counted.

    The count is that of this process's cgroup if it has one, else the host's.

    Source: Linux, cgroup-v2.rst, memory.events: oom_kill; cgroup-v1/memory.rst, memory.oom_control;
    proc_vmstat(5).
    """
    files = [folder / name for folder in _folders("memory", mount, membership) for name in OOM_FILES]
    for file in (*files, system):
        for line in (read_file(file) or "").splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return None


def _folders(controller: str, mount: Path, membership: Path) -> Iterator[Path]:
    """Yield the folders of this process's cgroup and its parents, version 2 and version 1. They may not exist."""
    for line in (read_file(membership) or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            roots = [mount, mount / "unified"]
        elif controller in controllers.split(","):
            roots = [mount / controller]
        else:
            continue
        inside = Path(path.lstrip("/"))
        yield from (root / part for root in roots for part in (inside, *inside.parents))
