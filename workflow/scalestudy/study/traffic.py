"""Bytes that a strategy sends in an optimizer step, calculated from the spec and the number of parameters.

With ring algorithms, every rank sends 2 M (W - 1) / W bytes in an all-reduce of M bytes over W ranks, and half of
that in an all-gather or a reduce-scatter. Source: Patarasuk and Yuan (2009), Journal of Parallel and Distributed
Computing 69; for the passes of FSDP Zhao et al. (2023), PyTorch FSDP, VLDB 16.
"""

from scalestudy.study.spec import RunSpec

FP32, HALF = 4, 2


def bytes_sent(spec: RunSpec, parameters: int, *, outside_blocks: int = 0) -> float | None:
    """Bytes that every rank sends in an optimizer step; 0 for one process, None if unknown (PowerSGD,
    strategy other).

    outside_blocks: parameters that FSDP keeps between the forward and the backward pass if it wraps blocks.
    Buffers that DDP broadcasts are not counted: they are sent before the forward pass, and few models have any.
    """
    synchronised = spec.accumulation_steps if spec.accumulation_sync else 1
    if spec.strategy == "single" or spec.world_size == 1:
        return 0.0
    if spec.strategy == "other":
        return None
    if spec.strategy == "ddp":
        if spec.ddp.communication_hook == "powersgd":
            return None
        size = FP32 if spec.ddp.communication_hook == "none" else HALF
        return ddp_bytes(parameters, spec.world_size, size) * synchronised
    kept = outside_blocks if spec.fsdp.wrap == "block" else 0
    return _fsdp(spec, parameters, synchronised, kept)


def _fsdp(spec: RunSpec, parameters: int, synchronised: int, kept: int) -> float:
    """Bytes of all-gathers of parameters and reduce-scatters of gradients; with hybrid also of the all-reduce of
    the shards."""
    options, groups = spec.fsdp, 1
    shards = spec.world_size
    if options.sharding == "hybrid":
        shards = options.shard_ranks or spec.devices_per_node
        groups = spec.world_size // shards
    gathered = HALF if spec.precision == "bf16" else FP32
    reduced = HALF if spec.precision == "bf16" and options.reduce_dtype == "bf16" else FP32
    # Once for the forward pass of every micro-batch, and again for its backward pass unless parameters are kept.
    again = 0 if options.sharding == "gradients" else parameters - kept
    gathers = fsdp_bytes(parameters + again, shards, spec.accumulation_steps * gathered)
    inside = gathers + fsdp_bytes(parameters, shards, synchronised * reduced)
    across = 2 * _share(groups) * parameters / shards * reduced * synchronised
    return inside + across


def ddp_bytes(parameters: float, ranks: int, element_bytes: int) -> float:
    """Bytes that a rank sends in an all-reduce of a gradient of every parameter."""
    return 2 * _share(ranks) * parameters * element_bytes


def fsdp_bytes(parameters: float, ranks: int, element_bytes: int) -> float:
    """Bytes that a rank sends in all-gathers and reduce-scatters, with `element_bytes` for each parameter in
    total."""
    return _share(ranks) * parameters * element_bytes


def _share(ranks: int) -> float:
    return (ranks - 1) / ranks
