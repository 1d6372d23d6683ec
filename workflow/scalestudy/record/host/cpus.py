"""The processor as the kernel describes it: its sockets, cores and threads, and its clock."""

import os
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psutil

SYSTEM = Path("/sys/devices/system")


def cpu_facts(system: Path = SYSTEM) -> dict[str, Any]:
    """Return model, sockets, cores, threads, NUMA nodes, clock and governor; None for what cannot be read."""
    cores = core_threads(system)
    packages = {read_file(folder / "topology/physical_package_id") for folder in _folders(system)}
    threads = {len(siblings) for siblings in cores.values()}
    clock, clock_max = cpu_clock_mhz(cores, system), _mean_mhz(cores, system, "cpuinfo_max_freq")
    if clock is None and (read := cpuinfo_mhz()) is not None:
        clock = round(read, 1)
    governors = [read_file(folder / "cpufreq/scaling_governor") for folder in _folders(system)]
    return {
        "model": cpu_name(),
        "sockets": len(packages - {None}) or None,
        "physical_cores": len(set(cores.values())) or None,
        "threads_per_core": max(threads, default=None),
        "numa_nodes": numa_nodes(system),
        "cpus_of_sockets": cpus_of_sockets(system),
        "max_clock_mhz": clock_max,
        "current_clock_mhz": clock,
        "governor": ", ".join(sorted({governor for governor in governors if governor is not None})) or None,
    }


def cpu_name() -> str:
    """Return the model name of the processor, or its architecture if the kernel does not report it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def core_threads(system: Path = SYSTEM) -> dict[int, tuple[int, ...]]:
    """Return online CPU -> all CPUs of its physical core, itself included; {} if this cannot be read."""
    siblings = {}
    for folder in _folders(system):
        text = read_file(folder / "topology/thread_siblings_list")
        if text:
            siblings[_number(folder)] = cpu_list(text)
    return siblings


def numa_nodes(system: Path = SYSTEM) -> dict[str, str]:
    """Return the CPUs of every NUMA node, in the kernel's list format."""
    folders = {folder.name.removeprefix("node"): folder for folder in system.glob("node/node[0-9]*")}
    found = {node: read_file(folders[node] / "cpulist") for node in sorted(folders, key=int)}
    return {node: cpus for node, cpus in found.items() if cpus}


def sockets(system: Path = SYSTEM) -> dict[int, str]:
    """Return online CPU -> the number of its socket; {} if this cannot be read."""
    found = {_number(folder): read_file(folder / "topology/physical_package_id") for folder in _folders(system)}
    return {cpu: socket for cpu, socket in found.items() if socket is not None}


def cpus_of_sockets(system: Path = SYSTEM) -> dict[str, str]:
    """Return the CPUs of every socket, in the kernel's list format."""
    of_socket: dict[str, list[int]] = {}
    for cpu, socket in sockets(system).items():
        of_socket.setdefault(socket, []).append(cpu)
    return {socket: in_short(cpus) for socket, cpus in sorted(of_socket.items())}


def cpu_clock_mhz(cpus: Iterable[int], system: Path = SYSTEM) -> float | None:
    """Return the mean clock of these CPUs; None if the kernel has no cpufreq, as in most virtual machines."""
    return _mean_mhz(cpus, system, "scaling_cur_freq")


def cpu_list(text: str) -> tuple[int, ...]:
    """Parse a list of CPUs: '0-2,8' -> (0, 1, 2, 8)."""
    cpus: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        cpus += range(int(first), int(last or first) + 1)
    return tuple(cpus)


def in_short(cpus: Iterable[int]) -> str:
    """Write CPUs in the kernel's list format: (0, 1, 2, 8) -> '0-2,8'."""
    parts: list[list[int]] = []
    for cpu in sorted(cpus):
        if parts and cpu == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], cpu]
        else:
            parts.append([cpu])
    return ",".join("-".join(map(str, part)) for part in parts)


def _mean_mhz(cpus: Iterable[int], system: Path, name: str) -> float | None:
    texts = [read_file(system / f"cpu/cpu{cpu}/cpufreq/{name}") for cpu in cpus]
    khz = [int(text) for text in texts if text and text.isdigit()]
    return round(sum(khz) / len(khz) / 1e3, 1) if khz else None


def cpuinfo_mhz() -> float | None:
    """Return the clock in /proc/cpuinfo; None if it is missing or psutil cannot parse it."""
    try:
        frequency = psutil.cpu_freq()
    except Exception:
        # This is read while training runs; a missing clock must not fail the run.
        return None
    return frequency.current if frequency else None


def all_cpus(system: Path = SYSTEM) -> int:
    """Return the largest CPU number of the host plus 1, which counts other jobs' and offline CPUs too."""
    return max([os.cpu_count() or 1, *(_number(folder) + 1 for folder in _folders(system))])


def _folders(system: Path) -> list[Path]:
    return sorted(system.glob("cpu/cpu[0-9]*"), key=_number)


def _number(folder: Path) -> int:
    return int(folder.name.removeprefix("cpu"))


def read_file(path: Path) -> str | None:
    """Return the text of a small kernel file; None if it is missing, not readable, or empty."""
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None
