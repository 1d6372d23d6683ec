"""What is read at the end of a block, outside the time of its steps: memory every time, sensors now and then."""

import os
import resource
import time
from statistics import fmean
from typing import Any

import torch

from scalestudy.record.host.sensors import Sensors
from scalestudy.record.observation import Memory
from scalestudy.train.core_wait import CoreWait
from scalestudy.train.place.placement import Placement

SENSORS_EVERY_S = 0.5  # a driver takes its time to answer
PAGE = os.sysconf("SC_PAGE_SIZE")
GIB = 2**30


class Gauges:
    """Reads the state of one rank's process and device."""

    def __init__(self, place: Placement) -> None:
        self._cuda = place.device.type == "cuda"
        self._sensors = Sensors(place.device.index if self._cuda else None)
        self._next_sensors = 0.0
        self._statm = os.open("/proc/self/statm", os.O_RDONLY)
        self.core_wait = CoreWait()
        self._memory: dict[str, list[float]] = {"resident": [], "allocated": [], "reserved": []}
        self._peak_allocated_gib = 0.0
        self._of_training: Memory | None = None

    def begin_block(self) -> None:
        """From here on a peak is that of the block. Building the model and validation are no part of it."""
        if self._cuda:
            torch.cuda.reset_peak_memory_stats()

    def read(self) -> dict[str, float | None]:
        """Columns of blocks.parquet: memory in GiB; clocks, power and temperature where it was time to ask."""
        state: dict[str, float | None] = {"resident_gib": self._keep("resident", self._resident_bytes())}
        if self._cuda:
            peak = torch.cuda.max_memory_allocated() / GIB
            self._peak_allocated_gib = max(self._peak_allocated_gib, peak)
            state |= {
                "allocated_gib": self._keep("allocated", torch.cuda.memory_allocated()),
                "peak_allocated_gib": peak,
                "reserved_gib": self._keep("reserved", torch.cuda.memory_reserved()),
                "allocation_retries": torch.cuda.memory_stats()["num_alloc_retries"],
            }
        if time.monotonic() >= self._next_sensors:
            state |= self._sensors.read()
            self._next_sensors = time.monotonic() + SENSORS_EVERY_S
        return state

    def end_training(self) -> None:
        """What is used from here on is used by probes and traces: it is no part of the memory of the training."""
        self._of_training = self.memory()

    def memory(self) -> Memory:
        """Peaks of the training, and means over the ends of blocks.

        On CUDA peaks are those of blocks of steps, or of all that was done where no block came to its end. On a
        CPU they are of the process from its start: Linux keeps no other.
        """
        if self._of_training is not None:
            return self._of_training
        resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GIB  # Linux counts in KiB
        facts: dict[str, Any] = {
            f"mean_{name}_gib": fmean(values) if values else None for name, values in self._memory.items()
        }
        facts |= dict.fromkeys(("peak_allocated_gib", "peak_reserved_gib", "allocation_retries"))
        if self._cuda:
            # Reserved memory has no peak of its own block by block: the allocator keeps what it has.
            facts |= {
                "peak_allocated_gib": self._peak_allocated_gib or torch.cuda.max_memory_allocated() / GIB,
                "peak_reserved_gib": max(self._memory["reserved"], default=torch.cuda.max_memory_reserved() / GIB),
                "allocation_retries": torch.cuda.memory_stats()["num_alloc_retries"],
            }
        return Memory(peak_resident_gib=resident, **facts)

    def free_at_rest_gib(self) -> float:
        """How much more the training had at its peak than it has now, between two steps."""
        memory = self.memory()
        if self._cuda:
            assert memory.peak_allocated_gib is not None
            return memory.peak_allocated_gib - torch.cuda.memory_allocated() / GIB
        return memory.peak_resident_gib - self._resident_bytes() / GIB

    def _keep(self, name: str, size: int) -> float:
        self._memory[name].append(size / GIB)
        return size / GIB

    def _resident_bytes(self) -> int:
        """Resident set of this process; the file stays open, for opening it takes longer than reading."""
        return int(os.pread(self._statm, 64, 0).split()[1]) * PAGE
