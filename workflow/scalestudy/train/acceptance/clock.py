"""`python -m scalestudy.train.acceptance.clock DEVICE`: measures a step of known length with every clock we use.

The step is busy for about BUSY_S, idle for IDLE_S, and busy again. CUDA: queued `torch.cuda._sleep`, timed by the
host's clock up to a synchronisation. CPU: a loop timed by CLOCK_MONOTONIC_RAW, which adjustments of the host's
time do not affect and which is not the clock of our marks. Prints one JSON object.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from scalestudy.train.profile import take_trace
from scalestudy.train.step.clock import Clock, make_clock

BUSY_S, IDLE_S = 0.2, 0.1
STEPS = 3
MARKS_PER_STEP = 6
MARKS = 2000
RANGE = "accept-busy"
FIRST_CYCLES = 100_000_000


def host_s() -> float:
    """Return seconds of the host's clock that is never adjusted."""
    return time.clock_gettime(time.CLOCK_MONOTONIC_RAW)


def spin_host() -> None:
    """Keep one core busy for BUSY_S."""
    end = host_s() + BUSY_S
    while host_s() < end:
        pass


def make_spin(device: torch.device) -> Callable[[], None]:
    """Return a function that keeps the device busy for about BUSY_S."""
    if device.type == "cpu":
        return spin_host
    cycles = FIRST_CYCLES
    for _ in range(3):  # the first call also wakes the device
        begin = host_s()
        torch.cuda._sleep(cycles)
        torch.cuda.synchronize()
        cycles = max(1, int(cycles * 1.05 * BUSY_S / (host_s() - begin)))
    return lambda: torch.cuda._sleep(cycles)


def run_step(clock: Clock, spin: Callable[[], None]) -> dict[str, float]:
    """Return the seconds of the first busy part and of the idle part, by the host's clock and by our marks."""
    clock.settle()
    begin = host_s()
    marks = [clock.now()]
    with torch.profiler.record_function(RANGE):
        spin()
    marks.append(clock.now())
    clock.settle()
    busy = host_s()
    time.sleep(IDLE_S)
    idle = host_s()
    marks.append(clock.now())
    with torch.profiler.record_function(RANGE):
        spin()
    marks.append(clock.now())
    clock.settle()
    parts = clock.between(marks)
    return {
        "busy_host_s": busy - begin,
        "busy_marks_s": float(parts[0]),
        "idle_host_s": idle - busy,
        "idle_marks_s": float(parts[1]),
    }


def traced_steps(clock: Clock, spin: Callable[[], None], device: torch.device) -> list[dict[str, float]]:
    """Return the same for steps under the profiler, with `busy_trace_s` and `idle_trace_s` from its trace."""
    found: list[dict[str, float]] = []

    def run_steps(steps: int, *, after_step: Callable[[], None] | None = None) -> None:
        for _ in range(steps):
            found.append(run_step(clock, spin))
            if after_step is not None:
                after_step()

    with tempfile.TemporaryDirectory() as folder:
        path = take_trace(
            run_steps,
            steps=STEPS,
            warmup_steps=1,
            directory=Path(folder),
            rank=0,
            device=device,
        )
        events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    return [step | part for step, part in zip(found[1:], parts_of(events, device.type), strict=True)]


def parts_of(events: list[dict[str, Any]], device: str) -> list[dict[str, float]]:
    """Return the seconds of the first busy part and of the idle part of every step, from the events of a trace.

    A step has two busy parts: kernels on CUDA, our own ranges on a CPU. Times in a trace are in microseconds.
    """
    if device == "cuda":
        busy = [event for event in events if event.get("cat") == "kernel"]
    else:
        busy = [event for event in events if event.get("name") == RANGE and event.get("ph") == "X"]
    busy.sort(key=lambda event: float(event["ts"]))
    return [
        {
            "busy_trace_s": first["dur"] * 1e-6,
            "idle_trace_s": (second["ts"] - first["ts"] - first["dur"]) * 1e-6,
        }
        for first, second in zip(busy[::2], busy[1::2], strict=True)
    ]


def cost_of_marks(clock: Clock) -> float:
    """Return the seconds that the marks of one step take, from the second block on.

    The marks of the first block may have to be created. It belongs to the warm-up, which is not counted.
    """
    took = 0.0
    for _ in range(2):
        clock.settle()
        begin = host_s()
        marks = [clock.now() for _ in range(MARKS)]
        took = host_s() - begin
        clock.between(marks)
    return took / MARKS * MARKS_PER_STEP


def main(device_name: str) -> dict[str, Any]:
    """Return all that the stage judges: untraced and traced steps, `marks_s` per step, number of devices."""
    device = torch.device(device_name)
    clock, spin = make_clock(device), make_spin(device)
    untraced = [run_step(clock, spin) for _ in range(STEPS)]
    return {
        "untraced": untraced,
        "traced": traced_steps(clock, spin, device),
        "marks_s": cost_of_marks(clock),
        "devices": torch.cuda.device_count() if device.type == "cuda" else 0,
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
