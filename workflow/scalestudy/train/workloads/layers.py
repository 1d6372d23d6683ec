"""Layers one after another. torch.compile leaves out the forward passes of torch's own containers."""

from __future__ import annotations

from torch import Tensor, nn


class Layers(nn.Sequential):
    """nn.Sequential with a forward pass of its own, so that `compile()` of a model made of it does something."""

    def forward(self, inputs: Tensor) -> Tensor:
        """The first layer's inputs -> the last one's outputs."""
        for layer in self:
            inputs = layer(inputs)
        return inputs
