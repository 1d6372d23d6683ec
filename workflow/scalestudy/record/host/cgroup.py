"""What a container or a job's cgroup leaves of the host; the cores one sees are not the cores one gets."""

from collections.abc import Iterator
from pathlib import Path

from scalestudy.record.host.cpus import read_file

MOUNT = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


def cpu_quota_cores(mount: Path = MOUNT, membership: Path = MEMBERSHIP) -> float | None:
    """Cores that the tightest quota over this process allows on average; None without a quota."""
    quotas = []
    for folder in _folders("cpu", mount, membership):
        words = (read_file(folder / "cpu.max") or "").split()
        words = words or [read_file(folder / f"cpu.cfs_{name}_us") or "" for name in ("quota", "period")]
        if len(words) == 2 and all(word.isdigit() for word in words) and int(words[1]):
            quotas.append(int(words[0]) / int(words[1]))
    return round(min(quotas), 2) if quotas else None


def memory_limit_gib(mount: Path = MOUNT, membership: Path = MEMBERSHIP) -> float | None:
    """The tightest memory limit over this process; None without one."""
    limits = []
    for folder in _folders("memory", mount, membership):
        text = read_file(folder / "memory.max") or read_file(folder / "memory.limit_in_bytes") or ""
        if text.isdigit() and int(text) < 2**60:  # version 1 spells "no limit" as the largest number it has
            limits.append(int(text) / 2**30)
    return round(min(limits), 2) if limits else None


def _folders(controller: str, mount: Path, membership: Path) -> Iterator[Path]:
    """Folders of this process's cgroup and those above it, version 2 and version 1; not all need be there."""
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
