"""Batch normalisation over the samples of all ranks: torch's own on CUDA, and our equivalent on a CPU.

torch has it for CUDA tensors only.
"""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from scalestudy.errors import UserError


class HostSyncBatchNorm(_BatchNorm):
    """nn.SyncBatchNorm for CPU tensors over gloo; in training every rank has the same number of samples.

    It is not a subclass of torch's own class, which DistributedDataParallel rejects on a CPU.
    """

    # Optional in torch; always present in ours.
    running_mean: Tensor
    running_var: Tensor
    num_batches_tracked: Tensor
    momentum: float

    def forward(self, inputs: Tensor) -> Tensor:
        """Map (B, C, ...) to the same shape, normalised by mean and variance over all ranks' samples."""
        if not self.training:
            return nn.functional.batch_norm(
                inputs, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
            )
        others = [axis for axis in range(inputs.dim()) if axis != 1]
        own = torch.stack([inputs.mean(others), inputs.square().mean(others)])
        both: Tensor = _MeanOverRanks.apply(own)  # type: ignore[no-untyped-call]  # torch gives it no types
        mean, square = both
        variance = square - mean.square()
        self._keep(mean.detach(), variance.detach(), inputs.numel() // inputs.shape[1] * dist.get_world_size())
        shape = [1, -1, *[1] * (inputs.dim() - 2)]
        scale = self.weight * torch.rsqrt(variance + self.eps)
        normalised: Tensor = inputs * scale.view(shape) + (self.bias - mean * scale).view(shape)
        return normalised

    def _keep(self, mean: Tensor, variance: Tensor, count: int) -> None:
        """Update the running statistics. As in torch, the running variance is the unbiased one."""
        with torch.no_grad():
            self.num_batches_tracked += 1
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance * count / (count - 1), self.momentum)


class _MeanOverRanks(torch.autograd.Function):
    """Mean over ranks. Its gradient is a mean over ranks too, since DDP averages the ranks' mean losses."""

    @staticmethod
    def forward(context: Any, values: Tensor) -> Tensor:
        return _mean(values)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> Tensor:
        return _mean(gradient)


def _mean(values: Tensor) -> Tensor:
    summed = values.clone()
    dist.all_reduce(summed)
    return summed / dist.get_world_size()


def synchronise_norms(model: nn.Module) -> nn.Module:
    """Return the model with every batch normalisation computed over all ranks, with the same parameters.

    Raises UserError if the model has no batch normalisation.
    """
    if all(values.device.type == "cuda" for values in model.parameters()):
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    else:
        for module in model.modules():
            if isinstance(module, _BatchNorm):
                module.__class__ = HostSyncBatchNorm  # only the computation differs
    if not synchronised_norms(model):
        raise UserError("ddp.sync_batch_norm: the model has no batch normalisation to synchronise; leave it out")
    return model


def synchronised_norms(model: nn.Module) -> int:
    """Return the number of layers of a model that compute their statistics over all ranks."""
    return sum(isinstance(module, nn.SyncBatchNorm | HostSyncBatchNorm) for module in model.modules())
