"""A trace of a few extra steps by torch's profiler, one file per rank. It is never part of the timed steps.

Two viewers can open a file named `trace-rank<rank>.pt.trace.json.gz` directly:

- TensorBoard's plug-in treats a folder as a run if a file in it matches `<worker>[.<digits>].pt.trace.json[.gz]`,
  and unpacks .gz itself (pytorch/kineto, tb_plugin/torch_tb_profiler/consts.py, WORKER_PATTERN; profiler/data.py).
  Without digits the ranks are workers of one span, as its Distributed view requires.
- Perfetto recognises gzip by its first two bytes, whatever the name, and reads Chrome's JSON inside
  (google/perfetto, src/trace_processor/util/trace_type.cc). chrome://tracing reads .json.gz too.

Recording costs about half a microsecond per operator (0.07 ms for 182 operators, on one core). This is little for
large tensors, and half of a step for small ones. On a CPU the profiler's memory may also fragment the blocks that
gradients would reuse: page faults then slowed steps from 18 to 31 ms, in some traces but not in others. Shapes and
stacks are not recorded.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import torch
from torch.profiler import ProfilerActivity, profile, schedule


class RunSteps(Protocol):
    """Runs a number of steps as one block: it waits for the device only before and after the block.

    after_step is called at the end of each step.
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

    Each traced step is a range `ProfilerStep#k`, with k counting from `warmup_steps`. On CUDA the kernels are
    traced too, and the host runs ahead of them as in training. There are two waits for the device: after the
    warm-up, so that no kernel of the warm-up is in the trace, and at the end, where the profiler waits for all
    traced work. In a process group every rank must call this with the same numbers, since the steps communicate.
    The file appears complete or not at all.
    """
    assert steps >= 1
    assert warmup_steps >= 1, "the profiler itself starts up in the first step"
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
        for _ in range(warmup_steps):  # after the block: its final wait does not belong to the first traced step
            profiler.step()
        run_steps(steps, after_step=profiler.step)
    path = Path(directory) / f"trace-rank{rank}.pt.trace.json.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.gz")  # torch compresses this name; viewers ignore it
    profiler.export_chrome_trace(str(temporary))
    return temporary.replace(path)
