"""Samples on their way from the files to the store, and the choice of some of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

PARTS = ("train", "validation")
Inputs = TypeVar("Inputs", np.ndarray, list[str])


@dataclass(frozen=True)
class Samples(Generic[Inputs]):
    """One part of the data: inputs, which are texts or an array, and as many targets."""

    inputs: Inputs
    targets: np.ndarray

    def __len__(self) -> int:
        return len(self.targets)

    def some(self, most: int | None) -> Samples[Inputs]:
        """`most` samples at the most, at random but always the same ones, in the order in which they were.

        The first ones would not do: IMDB's come sorted by class.
        """
        if most is None or len(self) <= most:
            return self
        chosen = np.sort(np.random.default_rng(0).choice(len(self), size=most, replace=False))
        if isinstance(self.inputs, list):
            return Samples([self.inputs[index] for index in chosen], self.targets[chosen])
        return Samples(self.inputs[chosen], self.targets[chosen])
