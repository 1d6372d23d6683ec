"""A trace of a few extra steps, one file a rank, as torch's profiler writes it. Never part of what is timed.

The name `trace-rank<rank>.pt.trace.json.gz` is read by both viewers as it is:

- TensorBoard's plug-in takes a folder for a run if a file in it matches `<worker>[.<digits>].pt.trace.json[.gz]`,
  and unpacks .gz itself (pytorch/kineto, tb_plugin/torch_tb_profiler/consts.py, WORKER_PATTERN; profiler/data.py).
  No digits here: the ranks are workers of one span, as its Distributed view wants them.
- Perfetto knows gzip by its first two bytes, whatever the name, and reads Chrome's JSON inside
  (google/perfetto, src/trace_processor/util/trace_type.cc); chrome://tracing reads .json.gz too.

Recording costs about half a microsecond an operator (0.07 ms for 182 of them, on one core): little on large
tensors, half of a step on small ones. On a CPU the profiler's memory may also break up the blocks that gradients
would reuse; page faults then took steps from 18 to 31 ms, in some traces and not in others. Shapes and stacks are
not recorded.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import torch
from torch.profiler import ProfilerActivity, profile, schedule


class RunSteps(Protocol):
    """Makes a number of steps as one block: the device is waited for at its edges only.

    after_step is called at the end of each of them.
    """

    def __call__(self, steps: int, *, after_step: Callable[[], None] | None = None) -> object: ...


def take_trace(
    run_steps: RunSteps,
    *,
    steps: int,
    warmup_steps: int,
    directory: Path,
    rank: int,
    device: torch.device,
) -> Path:
    """Run a block of `warmup_steps` and then one of `steps`, trace the latter, and return the path of the trace.

    Each traced step lies in a range `ProfilerStep#k`, k counting from `warmup_steps`. On CUDA the kernels are
    traced too, and the host runs ahead of them as in training: the device is waited for after the warm-up, so that
    none of its kernels are in the trace, and at the end, where the profiler waits for all that it traces. In a
    process group every rank calls this with the same numbers, for the steps communicate. The file appears whole or
    not at all.
    """
    assert steps >= 1
    assert warmup_steps >= 1, "the profiler itself starts up in the first step it is there for"
    activities = [ProfilerActivity.CPU]
    if device.type == "cuda":
        activities.append(ProfilerActivity.CUDA)
    with profile(
        activities=activities,
        schedule=schedule(wait=0, warmup=warmup_steps, active=steps, repeat=1),
        record_shapes=False,
        with_stack=False,
    ) as profiler:
        run_steps(warmup_steps)
        for _ in range(warmup_steps):  # after the block: the wait at its end is no part of the first traced step
            profiler.step()
        run_steps(steps, after_step=profiler.step)
    path = Path(directory) / f"trace-rank{rank}.pt.trace.json.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.gz")  # a name that torch packs and no viewer takes
    profiler.export_chrome_trace(str(temporary))
    return temporary.replace(path)
