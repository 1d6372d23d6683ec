"""Initial values for a model that was sharded without any: made for one module at a time, of which a part is kept.

The values equal those of the same model built unsharded from the same seed: every random number is drawn, in the
same order, on the host. So no rank ever holds more than its shards and one module.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor

from scalestudy.train.workloads.initial import InitialisedByName


@torch.no_grad()
def initialise_shards(sharded: nn.Module, shapes: nn.Module) -> None:
    """Fill the parameters and buffers of a model from torch's current seed, as its constructor would.

    sharded: has storage but no values. shapes: the same model on the meta device, unsharded; do not use it
    afterwards. Its modules must be registered in the order in which they are constructed. Raises RuntimeError if a
    parameter or a buffer belongs to a module without `reset_parameters`, and the model does not initialise it by
    name.
    """
    names = [name for name, _ in [*shapes.named_parameters(), *shapes.named_buffers()]]
    targets = dict(zip(names, [*sharded.parameters(), *sharded.buffers()], strict=True))
    missing = set(names)
    for prefix, module in shapes.named_modules():
        own = [*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)]
        if not own or not hasattr(module, "reset_parameters"):
            continue
        module.to_empty(device="cpu", recurse=False)
        module.reset_parameters()
        made = [*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)]
        for name, full in made:
            _keep(targets[f"{prefix}.{name}"], full)
            missing.discard(f"{prefix}.{name}")
        del full, made
        module.to_empty(device="meta", recurse=False)
    if isinstance(shapes, InitialisedByName):
        for name, parameter in shapes.named_parameters():
            full = torch.empty_like(parameter, device="cpu")
            if shapes.initialise_parameter(name, full):
                _keep(targets[name], full)
                missing.discard(name)
    if missing:
        raise RuntimeError(f"no initial values for {', '.join(sorted(missing))}: see initialise_shards")


def _keep(target: Tensor, full: Tensor) -> None:
    """Copy this rank's part of `full` into `target`."""
    if not isinstance(target, DTensor):
        target.copy_(full)
        return
    for dimension, placement in enumerate(target.placements):
        if placement.is_shard():
            axis: int = placement.dim  # type: ignore[attr-defined]  # of Shard, which it is
            parts = full.chunk(target.device_mesh.size(dimension), dim=axis)
            rank = target.device_mesh.get_local_rank(dimension)
            full = parts[rank] if rank < len(parts) else full.narrow(axis, 0, 0)
    target.to_local().copy_(full)
