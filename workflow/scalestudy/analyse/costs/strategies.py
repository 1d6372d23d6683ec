"""What a step of DDP or FSDP communicates, and how long that takes at least and at most: no run needed.

Bytes as study/traffic.py has them for the runs of a study. Overlap is not known before it is measured, so a step
has two limits: all of it hidden behind computation but what nothing can hide, and none of it. Sources: Li et al.
(2020), VLDB 13; Zhao et al. (2023), VLDB 16.
"""

from dataclasses import dataclass

from scalestudy.analyse.costs.buckets import bucket_sizes
from scalestudy.analyse.costs.collectives import RING, Link
from scalestudy.study.traffic import ddp_bytes, fsdp_bytes

ELEMENT_BYTES = {"fp32": 4, "bf16": 2, "fp16": 2}
BACKWARD_SHARE = 2 / 3
"""Of forward and backward: two matrix products for each one of forward."""


@dataclass(frozen=True)
class Setting:
    """A model, and the ranks and links that it is to be trained on."""

    parameters: float
    ranks: int
    link: Link
    """The slowest of the ring."""
    dtype: str = "fp32"
    """Of parameters and gradients on the wire and in memory."""
    blocks: int = 1
    """Units that FSDP wraps, taken as alike."""
    accumulation_steps: int = 1
    """Micro-batches a step; gradients are synchronised with the last one."""
    optimizer_states: int = 2
    """Numbers kept for a parameter: 2 for Adam, 1 for momentum, 0 for plain SGD."""

    @property
    def element_bytes(self) -> int:
        """Of a parameter, and of its gradient."""
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
    """By each rank."""
    time_s: float
    """Of all collectives one after another."""
    unhidden_s: float
    """Of what no computation overlaps with: the last bucket of gradients.

    With FSDP first gathers, last scatter.
    """
    collectives: int
    hideable: float
    """Share of the computation that the rest can hide behind."""
    state_bytes: float
    """Parameters, gradients and optimizer states on a rank, without activations."""

    def step_limits_s(self, compute_s: float) -> tuple[float, float]:
        """(all hidden that can be, nothing hidden): a step whose computation takes compute_s, in seconds."""
        left = max(0.0, self.time_s - self.unhidden_s - self.hideable * compute_s)
        return compute_s + self.unhidden_s + left, compute_s + self.time_s

    def compute_for_s(self, efficiency: float) -> tuple[float, float]:
        """Computation a step needs for a weak-scaling efficiency: (all hidden that can be, nothing hidden)."""
        ratio = efficiency / (1 - efficiency)
        best = ratio * self.unhidden_s
        if self.hideable * best < self.time_s - self.unhidden_s:
            best = self.time_s / (1 / ratio + self.hideable)
        return best, ratio * self.time_s


def traffic(setting: Setting) -> tuple[Traffic, ...]:
    """DDP, FSDP's full shard, and FSDP that shards gradients and optimizer states only."""
    return ddp_traffic(setting), fsdp_traffic(setting), fsdp_traffic(setting, reshard_after_forward=False)


def ddp_traffic(setting: Setting) -> Traffic:
    """All-reduces of DDP's buckets: the first of 1 MiB, the rest of 25 MiB."""
    sizes = bucket_sizes(setting.size)
    times = [RING.time_s(size, setting.ranks, setting.link) for size in sizes]
    return Traffic(
        strategy="ddp",
        bytes_sent=ddp_bytes(setting.parameters, setting.ranks, setting.element_bytes),
        time_s=sum(times),
        unhidden_s=times[-1],
        collectives=len(sizes) if setting.ranks > 1 else 0,
        hideable=BACKWARD_SHARE / setting.accumulation_steps,
        state_bytes=(2 + setting.optimizer_states) * setting.size,
    )


def fsdp_traffic(setting: Setting, *, reshard_after_forward: bool = True) -> Traffic:
    """All-gathers of parameters for every micro-batch, and a reduce-scatter of gradients, of every wrapped block.

    With reshard_after_forward (full shard) parameters are gathered again for backward; without it they stay.
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
