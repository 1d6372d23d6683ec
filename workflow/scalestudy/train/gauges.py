"""Readings at the end of a block, outside the time of its steps: memory after each block, sensors occasionally."""

import contextlib
import os
import resource
import time
from pathlib import Path
from statistics import fmean
from typing import Any

import torch

from scalestudy.record.host.sensors import Sensors
from scalestudy.record.observation import Memory
from scalestudy.train.core_wait import CoreWait
from scalestudy.train.place.placement import Placement

SENSORS_EVERY_S = 0.5  # drivers can be slow to answer
PAGE = os.sysconf("SC_PAGE_SIZE")
GIB = 2**30
STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")
RESET_PEAK = "5"
"""Value that resets the peak of the resident set. Source: man 5 proc, /proc/pid/clear_refs."""


class Gauges:
    """Reads the state of one rank's process and device."""

    def __init__(self, place: Placement) -> None:
        self._cuda = place.device.type == "cuda"
        self._sensors = Sensors(
            place.device.index if self._cuda else None,
            uuid=_uuid(place.device) if self._cuda else "",
            cpu_energy=place.local_rank == 0,
        )
        self._next_sensors = 0.0
        self._statm = os.open("/proc/self/statm", os.O_RDONLY)
        self.core_wait = CoreWait()
        self._memory: dict[str, list[float]] = {"resident": [], "allocated": [], "reserved": []}
        self._peaks_gib: dict[str, float] = {}
        """Peaks over the completed blocks."""
        self._in_block = False
        self._of_training: Memory | None = None

    def begin_block(self) -> None:
        """Reset peaks to the present use, so that building the model and validation do not count."""
        self._in_block = True
        if self._cuda:
            torch.cuda.reset_peak_memory_stats()
        # The old peak remains if the kernel does not let a process reset its own.
        with contextlib.suppress(OSError):
            CLEAR_REFS.write_text(RESET_PEAK, encoding="ascii")

    def read(self) -> dict[str, float | None]:
        """Return the columns of blocks.parquet at the end of a block: memory in GiB, and sensors if they are due.

        Sensors are clocks, power, temperature and energy.
        """
        state: dict[str, float | None] = {"resident_gib": self._keep("resident", self._resident_bytes())}
        of_block = self._current_peaks_gib()
        self._peaks_gib = {name: max(peak, self._peaks_gib.get(name, 0.0)) for name, peak in of_block.items()}
        self._in_block = False
        if self._cuda:
            state |= {
                "allocated_gib": self._keep("allocated", torch.cuda.memory_allocated()),
                "peak_allocated_gib": of_block["peak_allocated_gib"],
                "reserved_gib": self._keep("reserved", torch.cuda.memory_reserved()),
                "allocation_retries": torch.cuda.memory_stats()["num_alloc_retries"],
            }
        if time.monotonic() >= self._next_sensors:
            state |= self._sensors.read()
            self._next_sensors = time.monotonic() + SENSORS_EVERY_S
        return state

    def trouble(self) -> str:
        """Return why this rank's GPU cannot be used any more, in sentences; empty if no reason is known."""
        return self._sensors.trouble()

    def end_training(self) -> None:
        """Freeze the memory of the training. Later use, by probes and traces, does not count."""
        self._of_training = self.memory()

    def memory(self) -> Memory:
        """Return the peaks over the blocks of training, and means over the ends of blocks.

        Before the first block, peaks are since the start of the process. A block that did not complete counts.
        """
        if self._of_training is not None:
            return self._of_training
        facts: dict[str, Any] = {
            f"mean_{name}_gib": fmean(values) if values else None for name, values in self._memory.items()
        }
        facts |= dict.fromkeys(("peak_allocated_gib", "peak_reserved_gib", "allocation_retries"))
        facts |= self._peaks_gib
        if self._in_block or not self._peaks_gib:
            facts |= {n: max(peak, self._peaks_gib.get(n, 0.0)) for n, peak in self._current_peaks_gib().items()}
        if self._cuda:
            facts["allocation_retries"] = torch.cuda.memory_stats()["num_alloc_retries"]
        return Memory(**facts)

    def free_at_rest_gib(self) -> float:
        """Return the peak memory of the training minus the present use, between two steps, in GiB."""
        memory = self.memory()
        if self._cuda:
            assert memory.peak_allocated_gib is not None
            return memory.peak_allocated_gib - torch.cuda.memory_allocated() / GIB
        return memory.peak_resident_gib - self._resident_bytes() / GIB

    def _current_peaks_gib(self) -> dict[str, float]:
        """Return peaks since the last block began, or, before the first block, since the process started."""
        peaks = {"peak_resident_gib": peak_resident_gib()}
        if self._cuda:
            peaks["peak_allocated_gib"] = torch.cuda.max_memory_allocated() / GIB
            peaks["peak_reserved_gib"] = torch.cuda.max_memory_reserved() / GIB
        return peaks

    def _keep(self, name: str, size: int) -> float:
        self._memory[name].append(size / GIB)
        return size / GIB

    def _resident_bytes(self) -> int:
        """Return the resident set of this process. The file stays open: opening takes longer than reading."""
        return int(os.pread(self._statm, 64, 0).split()[1]) * PAGE


def _uuid(device: torch.device) -> str:
    """Return the UUID of a CUDA device, without 'GPU-'; '' in releases of torch that do not report it."""
    return str(getattr(torch.cuda.get_device_properties(device), "uuid", ""))


def peak_resident_gib() -> float:
    """Return the peak of this process since the last reset.

    `getrusage` ignores resets, and its peak includes that of the process that started this one (Linux, fs/exec.c:
    setmax_mm_hiwater_rss).
    """
    for line in STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / GIB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIB  # Linux counts in KiB
