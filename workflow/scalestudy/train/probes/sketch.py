"""Sketches: gradients of any length in a fixed number of values, so that many can be kept and multiplied."""

from collections.abc import Sequence

import torch
from torch import Tensor

SIZE = 2**18
"""Most values of a sketch: 1 MiB."""


class Sketch:
    """Accumulates gradients in at most SIZE values. The gradient of a model with at most SIZE parameters is exact.

    For a larger model, every further piece of SIZE values is added to the first piece, each value with a random
    sign that is the same in all sketches. The expectation of the product of two sketches is the product of the
    gradients. Its standard deviation is about sqrt(2 / SIZE), 0.3 %, of the product of their norms, unless a few
    values make up most of a gradient. Source: Weinberger et al. (2009), Feature Hashing for Large Scale Multitask
    Learning, ICML.
    """

    def __init__(self, parameters: Sequence[Tensor], *, size: int = SIZE) -> None:
        """parameters: the model's parameters; gradients must be in the same order."""
        self._counts = [parameter.numel() for parameter in parameters]
        self.size = max(1, min(size, sum(self._counts)))

    def add(self, gradients: Sequence[Tensor | None], into: Tensor) -> None:
        """Add a gradient, given per parameter, to a sketch of shape (size,); None means zeros."""
        random = torch.Generator(into.device).manual_seed(0)
        place, signs = 0, torch.ones((), device=into.device)
        for count, gradient in zip(self._counts, gradients, strict=True):
            flat, begin = (None if gradient is None else gradient.detach().reshape(-1)), 0
            while begin < count:
                if place == self.size:
                    signs = torch.randint(0, 2, (self.size,), generator=random, device=into.device).mul_(2).sub_(1)
                    place = 0
                length = min(count - begin, self.size - place)
                if flat is not None:
                    own = signs if signs.dim() == 0 else signs[place : place + length]
                    into[place : place + length] += own * flat[begin : begin + length]
                begin, place = begin + length, place + length
