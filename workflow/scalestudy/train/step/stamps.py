"""Points in time that can be compared between the ranks of a host: seconds of its monotonic clock.

On a GPU a point is an event on the current stream, placed on the host's clock by an event whose host time is
known. That is good to some microseconds, enough for waits of a millisecond; between hosts it says nothing.
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
    """The events of the clock, none of which is used again; `seconds` is to be called after a synchronisation."""

    def begin(self) -> None:
        torch.cuda.synchronize()
        self._base = self.now()
        self._base.synchronize()
        self._base_s = time.perf_counter()

    def seconds(self, stamp: torch.cuda.Event) -> float:
        since_base_ms: float = self._base.elapsed_time(stamp)
        return self._base_s + since_base_ms * 1e-3


Stamps = CpuStamps | CudaStamps
"""`begin` a block, take as many points as you like with `now`; `seconds` of each when the device has caught up."""


def make_stamps(device: torch.device) -> Stamps:
    """The stamps that fit the device."""
    return CudaStamps() if device.type == "cuda" else CpuStamps()
