"""Communication of a DDP or FSDP step; no run is needed. calibrated.py has the step that follows from it.

Bytes are as in study/traffic.py for the runs of a study. Sources: Li et al. (2020), VLDB 13; Zhao et al. (2023),
VLDB 16.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from scalestudy.analyse.costs.buckets import bucket_sizes
from scalestudy.analyse.costs.collectives import RING, Link
from scalestudy.study.traffic import ddp_bytes, fsdp_bytes

ELEMENT_BYTES = {"fp32": 4, "bf16": 2, "fp16": 2}
BACKWARD_SHARE = 2 / 3
"""Share of the backward pass in forward and backward: two matrix products for each one of the forward pass."""


@dataclass(frozen=True)
class Setting:
    """A model, and the ranks and links for its training."""

    parameters: float
    ranks: int
    link: Link
    """The slowest link of the ring."""
    dtype: str = "fp32"
    """Data type of parameters and gradients, on the wire and in memory."""
    blocks: int = 1
    """Number of units that FSDP wraps, assumed to be of equal size."""
    accumulation_steps: int = 1
    """Micro-batches per step; gradients are synchronised with the last one."""
    optimizer_states: int = 2
    """State values per parameter: 2 for Adam, 1 for momentum, 0 for plain SGD."""
    latency_assumed: bool = False
    """The latency of the link is a default: no least time may include it."""

    @property
    def surely(self) -> Setting:
        """The same setting, with a latency of 0 s where the latency is only assumed."""
        return replace(self, link=Link(0.0, self.link.bandwidth_bytes_per_s)) if self.latency_assumed else self

    @property
    def element_bytes(self) -> int:
        """Bytes of one parameter, or of its gradient."""
        return ELEMENT_BYTES[self.dtype]

    @property
    def size(self) -> float:
        """Bytes of the parameters, and of the gradients."""
        return self.parameters * self.element_bytes


@dataclass(frozen=True)
class Traffic:
    """Communication of one optimizer step, and the state of the model that a rank holds."""

    strategy: str
    bytes_sent: float
    """Bytes sent by each rank."""
    time_s: float
    """Total time of all collectives, one after another."""
    unhidden_s: float
    """Time of communication that cannot overlap with computation: a bucket of gradients, the largest.

    FSDP: the first all-gathers and the last reduce-scatter.
    """
    collectives: int
    hideable: float
    """Share of the computation that can hide the rest."""
    state_bytes: float
    """Parameters, gradients and optimizer states on a rank, without activations."""


def traffic(setting: Setting) -> tuple[Traffic, ...]:
    """Returns DDP, FSDP's full shard, and FSDP that shards only gradients and optimizer states."""
    return ddp_traffic(setting), fsdp_traffic(setting), fsdp_traffic(setting, reshard_after_forward=False)


def reduced_at_least_s(setting: Setting) -> float:
    """Returns the seconds of an all-reduce of all gradients at full bandwidth by any algorithm.

    A rank, or a node of several, must receive the sum of every gradient. A reduction in the switch comes near to
    this, and a tree between two nodes; a ring over n ranks takes 2 (n - 1) / n times as long.
    """
    return setting.size / setting.link.bandwidth_bytes_per_s if setting.ranks > 1 else 0.0


def ddp_traffic(setting: Setting) -> Traffic:
    """Returns the all-reduces of DDP's buckets: the first of 1 MiB, the others of 25 MiB."""
    sizes = bucket_sizes(setting.size)
    times = [RING.time_s(size, setting.ranks, setting.link) for size in sizes]
    return Traffic(
        strategy="ddp",
        bytes_sent=ddp_bytes(setting.parameters, setting.ranks, setting.element_bytes),
        time_s=sum(times),
        unhidden_s=max(times),
        collectives=len(sizes) if setting.ranks > 1 else 0,
        hideable=BACKWARD_SHARE / setting.accumulation_steps,
        state_bytes=(2 + setting.optimizer_states) * setting.size,
    )


def fsdp_traffic(setting: Setting, *, reshard_after_forward: bool = True) -> Traffic:
    """Returns all-gathers of parameters for every micro-batch, and a reduce-scatter of gradients, per wrapped
    block.

    With reshard_after_forward (full shard) parameters are gathered again for the backward pass; otherwise they are
    kept.
    """
    ranks, size, blocks = setting.ranks, setting.size, setting.blocks
    gathers = setting.accumulation_steps * (2 if reshard_after_forward else 1)
    half = RING.time_s(size / blocks, ranks, setting.link) / 2  # an all-gather or a reduce-scatter of one block
    kept = (1 if reshard_after_forward else ranks) + 1 + setting.optimizer_states
    return Traffic(
        strategy="fsdp, full shard" if reshard_after_forward else "fsdp, gradients",
        bytes_sent=fsdp_bytes(setting.parameters, ranks, (gathers + 1) * setting.element_bytes),
        time_s=blocks * (gathers + 1) * half,
        unhidden_s=(setting.accumulation_steps + 1) * half,
        collectives=blocks * (gathers + 1) if ranks > 1 else 0,
        hideable=1.0,
        state_bytes=kept * size / ranks,
    )
