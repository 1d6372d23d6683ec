"""The backward pass and the update: loss scaling, clipping, the steps of optimizer and learning-rate schedule."""

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim.lr_scheduler import LambdaLR


class Update:
    """Call `backward(loss)` for every micro-batch, then `step()`.

    Without loss scaling, clipping and schedule these make exactly the calls of a plain training loop.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        *,
        schedule: LambdaLR | None = None,
        clip: float | None = None,
        scaled_on: str | None = None,
    ) -> None:
        """scaled_on: device type for the scaling of fp16 gradients; None without scaling."""
        self.optimizer = optimizer
        self._parameters = list(model.parameters())
        self._schedule, self._clip = schedule, clip
        self._scaler = torch.amp.GradScaler(scaled_on) if scaled_on else None
        self.backward = self._backward_scaled if self._scaler else Tensor.backward
        self.step = self._step if self._scaler or schedule or clip else self._plain_step

    @property
    def loss_scale(self) -> float:
        """The factor on losses before the backward pass; 1 without loss scaling."""
        return float(self._scaler.get_scale()) if self._scaler else 1.0

    def _plain_step(self) -> None:
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def _backward_scaled(self, loss: Tensor) -> None:
        assert self._scaler is not None
        self._scaler.scale(loss).backward()

    def _step(self) -> None:
        scaler = self._scaler
        if self._clip:
            if scaler:
                scaler.unscale_(self.optimizer)
            clip_grad_norm_(self._parameters, self._clip)
        if scaler:
            scaler.step(self.optimizer)
            scaler.update()
        else:
            self.optimizer.step()
        if self._schedule:
            self._schedule.step()
        self.optimizer.zero_grad(set_to_none=True)
