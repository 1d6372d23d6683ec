"""Timestamps that can be compared between the ranks of a host: seconds of its monotonic clock.

On a GPU a timestamp is an event on the current stream. It is converted to the host's clock by an event whose host
time is known. The error is some microseconds, small enough for waits of a millisecond. Timestamps of different
hosts cannot be compared.
"""

import time

import torch

from scalestudy.train.step.clock import CudaClock


class CpuStamps:
    """perf_counter_ns: CLOCK_MONOTONIC on Linux, the same for all processes of a host."""

    def begin(self) -> None:
        pass

    def now(self) -> int:
        return time.perf_counter_ns()

    def seconds(self, stamp: int) -> float:
        return stamp * 1e-9


class CudaStamps(CudaClock):
    """Events of CudaClock, which are not reused; call `seconds` after a synchronisation."""

    def begin(self) -> None:
        self.settle()
        self._base = self.now()
        self._base.synchronize()
        self._base_s = time.perf_counter()

    def seconds(self, stamp: torch.cuda.Event) -> float:
        since_base_ms: float = self._base.elapsed_time(stamp)
        return self._base_s + since_base_ms * 1e-3


Stamps = CpuStamps | CudaStamps
"""Call `begin` before a block, take timestamps with `now`; read their `seconds` once the device has caught up."""


def make_stamps(device: torch.device) -> Stamps:
    """Return the timestamps for the device."""
    return CudaStamps() if device.type == "cuda" else CpuStamps()
