"""What a step of DDP or FSDP communicates, and how long that takes at least and at most: no run needed.

Bytes by the ring algorithms (study/traffic.py has the same for the runs of a study). Overlap is not known before
it is measured, so a step has two limits: all of it behind the backward pass but what nothing can hide, and none of
it. Sources: Li et al. (2020), VLDB 13; Zhao et al. (2023), VLDB 16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, nan

from scalestudy.analyse.costs.buckets import BUCKET_CAP_MIB, FIRST_BUCKET_BYTES, MIB
from scalestudy.analyse.costs.collectives import RING, Link, ring_half_s
from scalestudy.analyse.intervals import Interval

BACKWARD_SHARE = 2 / 3
"""Of forward and backward: two matrix products for each of forward's one."""
STRATEGIES = ("ddp", "fsdp", "fsdp-gradients")


@dataclass(frozen=True)
class Traffic:
    """Communication of one optimizer step."""

    bytes_sent: float
    """By each rank."""
    time_s: float
    """Of all collectives one after another."""
    unhidden_s: float
    """Of what nothing can overlap with: the last bucket of gradients, and with FSDP the first gather."""
    collectives: int


def ddp_traffic(parameters: float, ranks: int, link: Link, *, element_bytes: float = 4) -> Traffic:
    """All-reduces of DDP's buckets: the first of 1 MiB, the rest of 25 MiB.

    parameters: number; element_bytes: of a gradient on the wire (4 fp32, 2 with an fp16 or bf16 hook).
    """
    sizes = _bucket_sizes(parameters * element_bytes)
    times = [RING.time_s(size, ranks, link) for size in sizes]
    sent = RING.volume(ranks) * parameters * element_bytes if ranks > 1 else 0.0
    return Traffic(sent, sum(times), times[-1], len(sizes) if ranks > 1 else 0)


def fsdp_traffic(
    parameters: float,
    ranks: int,
    link: Link,
    *,
    element_bytes: float = 4,
    reduce_bytes: float | None = None,
    blocks: int = 1,
    reshard_after_forward: bool = True,
    accumulation_steps: int = 1,
) -> Traffic:
    """All-gathers of parameters and a reduce-scatter of gradients for every wrapped block.

    element_bytes: of a parameter on the wire, reduce_bytes: of a gradient (the same unless given). blocks: wrapped
    units, alike in size. With reshard_after_forward (full shard) parameters are gathered again for backward. Every
    micro-batch gathers; gradients are reduced once an optimizer step.
    """
    if blocks < 1:
        raise ValueError(f"blocks is at least 1, not {blocks}")
    reduce_bytes = element_bytes if reduce_bytes is None else reduce_bytes
    gathers = accumulation_steps * (2 if reshard_after_forward else 1)
    gather = ring_half_s(parameters * element_bytes / blocks, ranks, link)
    scatter = ring_half_s(parameters * reduce_bytes / blocks, ranks, link)
    share = (ranks - 1) / ranks
    return Traffic(
        bytes_sent=share * parameters * (gathers * element_bytes + reduce_bytes),
        time_s=blocks * (gathers * gather + scatter),
        unhidden_s=accumulation_steps * gather + scatter,
        collectives=blocks * (gathers + 1) if ranks > 1 else 0,
    )


def step_limits(traffic: Traffic, compute_s: float, *, overlappable: float = BACKWARD_SHARE) -> Interval:
    """Step time between the best overlap and none; its value is the middle on the log scale.

    compute_s: the step of one process at equal batch per rank. overlappable: the share of it that communication
    can hide behind; backward for DDP.
    """
    beyond = max(0.0, traffic.time_s - traffic.unhidden_s - overlappable * compute_s)
    best, worst = compute_s + traffic.unhidden_s + beyond, compute_s + traffic.time_s
    return Interval((best * worst) ** 0.5, best, worst)


def model_state_gib(
    parameters: float, strategy: str, ranks: int, *, element_bytes: float = 4, optimizer_states: int = 2
) -> float:
    """GiB of parameters, gradients and optimizer states on a rank; activations are not in it.

    optimizer_states: numbers kept for each parameter (2 for Adam, 1 for momentum, 0 for plain SGD).
    Source: Rajbhandari et al. (2020), "ZeRO", SC'20, section 3.1.
    """
    whole = parameters * element_bytes / 2**30
    states = (1 + optimizer_states) * whole  # gradients, optimizer
    if strategy == "ddp":
        return whole + states
    if strategy == "fsdp":
        return (whole + states) / ranks
    if strategy == "fsdp-gradients":
        return whole + states / ranks
    return nan


def _bucket_sizes(total: float) -> Sequence[float]:
    if total <= FIRST_BUCKET_BYTES:
        return [total]
    cap = BUCKET_CAP_MIB * MIB
    rest = total - FIRST_BUCKET_BYTES
    count = ceil(rest / cap)
    return [float(FIRST_BUCKET_BYTES), *([cap] * (count - 1)), rest - cap * (count - 1)]
