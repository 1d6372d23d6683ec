"""FSDP2 with the options of a study: how it shards the model over ranks, and which parts it gathers at a time."""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard

from scalestudy.errors import UserError
from scalestudy.study.spec import TrainSpec
from scalestudy.train.place.placement import Placement
from scalestudy.train.strategies.base import Grouped, reduce_scatter
from scalestudy.train.strategies.deferred import initialise_shards
from scalestudy.train.workloads import build_model
from scalestudy.train.workloads.blocks import blocks_of

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


class Fsdp(Grouped):
    """FSDP2: parameters, gradients and optimizer sharded over ranks, gathered block by block."""

    _no_sync = 0

    def build(self, spec: TrainSpec, place: Placement) -> nn.Module:
        """Return the model without storage, so that one larger than a device can be sharded. `wrap` fills it.

        A Hugging Face model is built complete, in the memory of the host: each architecture has its own
        initialisation, which needs the complete model, and its constructor computes buffers that only it can make.
        `fully_shard` then moves one block at a time to the device.
        """
        if spec.model.type == "hugging-face":
            torch.manual_seed(spec.seed)
            return build_model(spec.model, spec.data)
        with torch.device("meta"):
            return build_model(spec.model, spec.data)

    def wrap(self, model: nn.Module, *, hooked: bool = True) -> nn.Module:
        sharded = shard(model, self._spec, self._place)
        if any(parameter.is_meta for parameter in sharded.parameters()):
            sharded.to_empty(device=self._place.device)
            shapes = self.build(self._spec, self._place)
            torch.manual_seed(self._spec.seed)
            initialise_shards(sharded, shapes)
        return sharded

    def outside_blocks(self, model: nn.Module) -> int:
        return outside_blocks(model)

    @contextlib.contextmanager
    def no_sync(self, model: nn.Module) -> Iterator[None]:
        self._no_sync += 1
        synchronising(model, False)
        try:
            yield
        finally:
            self._no_sync -= 1
            synchronising(model, not self._no_sync)


def shard(model: nn.Module, spec: TrainSpec, place: Placement) -> nn.Module:
    """Shard the module in place, unless it is sharded already. Units are its blocks, or the whole module."""
    if isinstance(model, FSDPModule):
        return model
    options: dict[str, Any] = {
        "mesh": _mesh(spec, place),
        "reshard_after_forward": spec.fsdp.sharding != "gradients",
        "mp_policy": _policy(spec),
    }
    of_root = options | {"mp_policy": _policy(spec, of_root=True)}
    if spec.fsdp.wrap == "block":
        for block in blocks_of(model):
            fully_shard(block, **options)
        # The backward pass begins with the parameters that the forward pass used last. This is torch's default.
        of_root["reshard_after_forward"] = False
    fully_shard(model, **of_root)
    if place.backend != "nccl" and not takes_means(place):
        sum_and_divide(model)
    return model


def takes_means(place: Placement) -> bool:
    """Return whether a reduce-scatter with ReduceOp.AVG gives the mean over ranks; all ranks must call this.

    In torch 2.8, gloo's silently gives the sum: FSDP's gradients were sums over ranks. Source:
    https://github.com/pytorch/pytorch/issues/162338
    """
    ones, mean = torch.ones(place.world_size, device=place.device), torch.zeros(1, device=place.device)
    reduce_scatter(mean, ones, op=dist.ReduceOp.AVG)
    return mean.item() == 1.0


def sum_and_divide(model: nn.Module) -> None:
    """Make FSDP sum gradients and divide the sum itself. Raises UserError if this torch cannot."""
    for module in model.modules():
        if isinstance(module, FSDPModule):
            if not hasattr(module, "set_force_sum_reduction_for_comms"):
                raise UserError(
                    f"strategy fsdp: in torch {torch.__version__} FSDP over gloo uses the sum of the gradients"
                    " instead of their mean, so training would differ from ddp. Use ddp, a GPU, or a newer torch"
                )
            module.set_force_sum_reduction_for_comms(True)


def synchronising(model: nn.Module, enabled: bool) -> None:
    """Set whether backward passes from now on reduce gradients."""
    assert isinstance(model, FSDPModule)
    model.set_requires_gradient_sync(enabled)


def _mesh(spec: TrainSpec, place: Placement) -> DeviceMesh:
    """Return a mesh of all ranks, or of groups of ranks: the outer dimension replicates, the inner one shards."""
    if spec.fsdp.sharding != "hybrid":
        return init_device_mesh(place.device.type, (place.world_size,))
    group = spec.fsdp.shard_ranks or spec.devices_per_node
    return init_device_mesh(
        place.device.type, (place.world_size // group, group), mesh_dim_names=("replicate", "shard")
    )


def outside_blocks(model: nn.Module) -> int:
    """Return the number of parameters in the root's unit but in no block's, over all ranks."""
    within = {id(parameter) for block in blocks_of(model) for parameter in block.parameters()}
    return sum(parameter.numel() for parameter in model.parameters() if id(parameter) not in within)


def _policy(spec: TrainSpec, *, of_root: bool = False) -> MixedPrecisionPolicy:
    """Return the mixed-precision policy. In bf16 the root outputs fp32, and so does the loss, as with autocast."""
    if spec.precision != "bf16":
        return MixedPrecisionPolicy()
    outputs = torch.float32 if of_root else None
    return MixedPrecisionPolicy(torch.bfloat16, DTYPES[spec.fsdp.reduce_dtype], output_dtype=outputs)
