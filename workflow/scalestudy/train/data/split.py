"""The two parts of a data set."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Split:
    """Inputs and targets of the two parts of a data set, in host memory or all on the device."""

    train_inputs: Tensor
    train_targets: Tensor
    validation_inputs: Tensor
    validation_targets: Tensor
    sample_delay_s: float = 0.0
    """Seconds that the reading of a sample takes on top, where a study asks for slow data."""

    @property
    def train_samples(self) -> int:
        return len(self.train_targets)
