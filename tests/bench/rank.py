"""One rank of the benchmark: every contender set up once, then rounds in which each has its turn, shuffled.

All share this process, its process group, its core and its data, so that whatever drifts drifts under all of them.
Started by harness.py: `python -m bench.rank REQUEST`, alone or under torchrun.
"""

from __future__ import annotations

import dataclasses
import gc
import importlib
import itertools
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from scalestudy.study.config.conditions import Host
from scalestudy.train.place.placement import Placement, place_rank

from bench.task import CASES, Contender, Task, make_task

CHECKED_STEPS = 10
DROPPED_STEPS = 5  # of every turn: the framework's start-up, DDP's second look at its buckets, caches gone cold


def run_rounds(contenders: dict[str, str], task: Task, *, rounds: int, seed: int) -> list[dict[str, Any]]:
    """A row per round and contender: seconds a step, the mean (and median) of a turn, the largest over ranks."""
    # What is set up later lies elsewhere in memory, and that alone was worth some per cent of a step: the order is
    # drawn again in every run.
    made = {name: load(contenders[name])(task) for name in shuffled(contenders, seed)}
    ready = {name: made[name] for name in contenders}
    check_same(ready)
    assert torch.get_num_threads() == task.place.threads, "a contender has changed the number of threads"
    stamps: list[int] = []
    for optimizer in {id(contender.optimizer): contender.optimizer for contender in ready.values()}.values():
        # torch's own hook: the same stamp at the same place of every loop, whichever loop calls the optimizer.
        optimizer.register_step_post_hook(lambda *_: stamps.append(time.perf_counter_ns()))
    gc.collect()
    gc.freeze()  # what one framework has imported must not be searched for garbage in another's turn
    rows = []
    for index in range(rounds):
        for name in shuffled(ready, seed + 1 + index):
            times_s = take_turn(ready[name], task, stamps)
            mean_s, median_s = over_ranks(statistics.mean(times_s), statistics.median(times_s))
            rows.append({"round": index, "contender": name, "step_time_s": mean_s, "step_time_p50_s": median_s})
    return rows


def shuffled(names: Iterable[str], seed: int) -> list[str]:
    """The names in an order that is the same on every rank."""
    order = list(names)
    random.Random(seed).shuffle(order)
    return order


def take_turn(contender: Contender, task: Task, stamps: list[int]) -> list[float]:
    """Seconds of the steps of one turn, from the end of one optimizer step to the end of the next."""
    gc.collect()
    if dist.is_initialized():
        dist.barrier()
    stamps.clear()
    contender.run(task.case.steps)
    assert len(stamps) == task.case.steps, f"{len(stamps)} steps were made; {task.case.steps} were asked for"
    ends = stamps[DROPPED_STEPS - 1 :]
    return [(after - before) * 1e-9 for before, after in itertools.pairwise(ends)]


def check_same(ready: dict[str, Contender]) -> None:
    """All contenders train the same: after a few steps their parameters are those of the first."""
    for contender in ready.values():
        contender.run(CHECKED_STEPS)
    reference = next(iter(ready.values())).model
    for name, contender in ready.items():
        for mine, theirs in zip(reference.parameters(), contender.model.parameters(), strict=True):
            assert torch.allclose(mine, theirs, rtol=1e-4, atol=1e-6), f"{name} trains something else"


def over_ranks(*values: float) -> list[float]:
    """Each value's largest over ranks."""
    together = torch.tensor(values, dtype=torch.float64)
    if dist.is_initialized():
        dist.all_reduce(together, op=dist.ReduceOp.MAX)
    return together.tolist()


def load(target: str) -> Callable[[Task], Contender]:
    """The function behind 'module:name'."""
    module, name = target.split(":")
    return getattr(importlib.import_module(module), name)


def open_group(place: Placement) -> None:
    """The one process group that all contenders share; they find it open and do not open their own."""
    if place.world_size > 1:
        dist.init_process_group(place.backend)


def main(request: dict[str, Any]) -> None:
    place = place_rank(Host(device="cpu"))
    open_group(place)
    case = CASES[request["case"]]
    if request["steps"]:
        case = dataclasses.replace(case, steps=request["steps"])
    task = make_task(case, place)
    rows = run_rounds(request["contenders"], task, rounds=request["rounds"], seed=request["seed"])
    if place.rank == 0:
        Path(request["out"]).write_text(json.dumps(rows), encoding="utf-8")
    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
