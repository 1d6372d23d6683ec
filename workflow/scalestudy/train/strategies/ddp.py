"""DDP: DistributedDataParallel with the options of a study, and the hooks that compress gradients."""

import inspect
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook
from torch.nn.parallel import DistributedDataParallel

from scalestudy.errors import UserError
from scalestudy.study.config.variants import DdpOptions
from scalestudy.study.spec import TrainSpec
from scalestudy.train.strategies.base import Grouped

OWN_OPTIONS = ("communication_hook", "powersgd_rank", "sync_batch_norm")
"""Options that are not arguments of DDP itself."""


class Ddp(Grouped):
    """DistributedDataParallel with the spec's options."""

    def wrap(self, model: nn.Module, *, hooked: bool = True) -> nn.Module:
        return wrap_ddp(model, self._spec, self._place.device, hooked=hooked)

    def no_sync(self, model: nn.Module) -> AbstractContextManager[None]:
        assert isinstance(model, DistributedDataParallel)
        return model.no_sync()


def wrap_ddp(model: nn.Module, spec: TrainSpec, device: torch.device, *, hooked: bool) -> DistributedDataParallel:
    """Return the model wrapped in DDP. hooked: with the spec's communication hook, if it has one.

    Raises UserError if DDP in this version of torch does not have an option that was set.
    """
    ids = [device.index] if device.type == "cuda" else None
    wrapped = DistributedDataParallel(model, device_ids=ids, **_arguments(spec.ddp))
    if hooked:
        _register(wrapped, spec)
    return wrapped


def _arguments(options: DdpOptions) -> dict[str, Any]:
    """Return the options that differ from torch's default. An older torch may lack the others."""
    defaults = DdpOptions()
    arguments = {
        name: getattr(options, name)
        for name in DdpOptions.model_fields
        if name not in OWN_OPTIONS and getattr(options, name) != getattr(defaults, name)
    }
    known = inspect.signature(DistributedDataParallel.__init__).parameters
    for name in arguments:
        if name not in known:
            valid = ", ".join(option for option in DdpOptions.model_fields if option in known)
            raise UserError(f"ddp.{name}: torch {torch.__version__} does not support it; it supports {valid}")
    return arguments


def _register(wrapped: DistributedDataParallel, spec: TrainSpec) -> None:
    kind = spec.ddp.communication_hook
    if kind == "bf16" and wrapped.device_type != "cuda":
        raise UserError("ddp.communication_hook: torch sums bf16 over ranks on CUDA only; fp16 works on a CPU too")
    if kind == "fp16":
        wrapped.register_comm_hook(None, default_hooks.fp16_compress_hook)
    elif kind == "bf16":
        wrapped.register_comm_hook(None, default_hooks.bf16_compress_hook)
    elif kind == "powersgd":
        # PowerSGD begins after DDP has rebuilt its buckets, and within the warm-up, so that its steps are
        # measured.
        state = powerSGD_hook.PowerSGDState(
            process_group=None,
            matrix_approximation_rank=spec.ddp.powersgd_rank,
            start_powerSGD_iter=max(2, min(10, spec.measure.warmup_steps)),
        )
        wrapped.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
