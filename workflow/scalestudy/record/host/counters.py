"""The kernel's counters for the whole host: processor time, swapping, stalls and throttling, and its clocks."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
SYSTEM = Path("/sys/devices/system/cpu")
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
MIB_OF_A_PAGE = os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass(frozen=True)
class Counters:
    """Readings at one moment. All but the clocks only grow."""

    at_s: float
    """CLOCK_MONOTONIC, which all processes of the host share."""
    wall_s: float
    """CLOCK_REALTIME, which can be set."""
    busy_s: float
    """Seconds in which tasks ran on the observed CPUs, without interrupts, which are not attributed to a task."""
    stolen_s: float
    """Seconds in which a hypervisor gave these CPUs to other virtual machines."""
    swapped_mib: float
    """MiB swapped in and out, on the whole host."""
    memory_stall_s: float
    """Seconds in which all tasks of the host waited for memory (pressure stall information); 0 if not counted."""
    throttled_s: float
    """Seconds in which heat throttled a CPU (maximum over these CPUs); 0 if not counted."""


def read_counters(cpus: Sequence[int], *, proc: Path = PROC, system: Path = SYSTEM) -> Counters:
    """Read the counters for these CPUs. This takes a fraction of a millisecond, and reads one file per CPU."""
    busy, stolen = _processor_time(set(cpus), proc)
    return Counters(
        at_s=time.monotonic(),
        wall_s=time.time(),
        busy_s=busy * TICK_S,
        stolen_s=stolen * TICK_S,
        swapped_mib=_swapped_pages(proc) * MIB_OF_A_PAGE,
        memory_stall_s=_memory_stall_us(proc) / 1e6,
        throttled_s=max((_throttled_ms(cpu, system) for cpu in cpus), default=0) / 1e3,
    )


def _processor_time(cpus: set[int], proc: Path) -> tuple[int, int]:
    """Return (ticks of tasks, stolen ticks) of these CPUs since the host started."""
    busy = stolen = 0
    for line in (proc / "stat").read_text(encoding="utf-8").splitlines():
        name, *values = line.split()
        if not name.startswith("cpu"):
            break
        if name != "cpu" and int(name[3:]) in cpus:
            user, nice, system, _idle, _waiting, _irq, _softirq, steal = map(int, values[:8])
            busy, stolen = busy + user + nice + system, stolen + steal
    return busy, stolen


def _swapped_pages(proc: Path) -> int:
    lines = (line.split() for line in _text(proc / "vmstat").splitlines())
    return sum(int(value) for name, value in lines if name in ("pswpin", "pswpout"))


def _memory_stall_us(proc: Path) -> int:
    """Return the total of the line `full avg10=0.00 avg60=0.00 avg300=0.00 total=0`."""
    full = [line for line in _text(proc / "pressure" / "memory").splitlines() if line.startswith("full")]
    return int(full[0].rsplit("total=", 1)[1]) if full else 0


def _throttled_ms(cpu: int, system: Path) -> int:
    return int(_text(system / f"cpu{cpu}" / "thermal_throttle" / "core_throttle_total_time_ms") or 0)


def _text(path: Path) -> str:
    """Return the text of a file; '' if the kernel has no such file, or it is not readable."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
