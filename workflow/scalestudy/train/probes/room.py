"""Whether every rank has memory for a probe that needs more than the training. The ranks agree on it beforehand.

If a rank ran out of memory within a step, the others would block in a collective, and the probes would fail.
"""

import torch

from scalestudy.study.spec import TrainSpec
from scalestudy.train.loop import Trainer
from scalestudy.train.place.memory_limit import GIB, memory_left_gib

HALF, FP32 = 2, 4
"""Bytes per number."""


def lack_of_room(trainer: Trainer, extra_gib: float) -> str:
    """Return which rank lacks memory for a step plus `extra_gib` GiB, as a sentence; empty if no rank does.

    All ranks must call this, and get the same result. Of several ranks, the one that lacks most is named.
    """
    place = trainer.place
    needed_gib = max(0.0, trainer.gauges.free_at_rest_gib()) + extra_gib
    left_gib = memory_left_gib(trainer.spec.host.memory_limit_gib, place, sharing=place.local_world_size)
    mine = torch.zeros(place.world_size, 2, dtype=torch.float64, device=place.device)
    mine[place.rank] = torch.tensor([needed_gib, left_gib])
    of_ranks: list[tuple[float, float]] = [(n, left) for n, left in trainer.strategy.all_reduce_sum(mine).tolist()]
    rank = max(range(place.world_size), key=lambda rank: of_ranks[rank][0] - of_ranks[rank][1])
    needed_gib, left_gib = of_ranks[rank]
    if needed_gib <= left_gib:
        return ""
    return f"rank {rank} needs {needed_gib:.2f} GiB more and has {left_gib:.2f} GiB left"


def whole_gradients_gib(spec: TrainSpec, parameters: int) -> float:
    """Return the additional GiB of an FSDP rank in a step without synchronisation: the model's complete gradients.

    They accumulate unsharded, in the type in which they are reduced. Source: torch 2.13,
    FSDPParam.to_accumulated_grad_if_needed. parameters: number of trained parameters. The result is 0 if the
    training also kept these gradients, between its micro-batches.
    """
    if spec.accumulation_steps > 1 and not spec.accumulation_sync:
        return 0.0
    halved = spec.precision == "bf16" and spec.fsdp.reduce_dtype == "bf16"
    return parameters * (HALF if halved else FP32) / GIB
