"""The two parts of a data set."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field

from torch import Tensor


@dataclass(frozen=True)
class Split:
    """Inputs and targets of the two parts of a data set, in host memory or all on the device."""

    train_inputs: Tensor
    train_targets: Tensor
    validation_inputs: Tensor
    validation_targets: Tensor
    _: KW_ONLY
    sample_delay_s: float = 0.0
    """Seconds that the reading of a sample takes on top, where a study asks for slow data."""
    checksums: dict[str, str] = field(default_factory=dict)
    """SHA-256 of the prepared arrays, by file; empty for data that do not come in files."""

    @property
    def train_samples(self) -> int:
        return len(self.train_targets)
