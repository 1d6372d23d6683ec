"""The scatter of a run's gradients, as recorded: two numbers per row, where a row is a group of steps.

They are an entry of `environment` in run.json, not a table: a table would be a file that records of earlier
releases lack. A record without the entry means that the scatter is unknown.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from scalestudy.record.document import Part

KEY = "gradient_noise"
"""Key of the entry in `environment`."""


class GradientNoise(Part):
    """Squares and products of gradients at fixed parameters, from batches drawn with replacement.

    A gradient is the gradient of the mean loss over `samples` samples, without loss scaling. A row averages
    `gradients` of them. The unit of squares and products is (unit of the loss / unit of a parameter) squared.
    """

    samples: int = Field(ge=1)
    """Samples per gradient: the batch of a rank, or a part of the batch of a single process."""
    gradients: int = Field(ge=1)
    """Gradients per row, over all ranks and all steps of the row."""
    squares: tuple[float, ...] = ()
    """Mean of |g|^2 over the gradients of each row."""
    products: tuple[float, ...] = ()
    """Dot product of each row's mean gradient and the mean of all other rows; its expectation is |G|^2."""
    seconds: float = Field(0.0, ge=0)
    """Duration of the probe."""
    failed: str = ""
    """Why there are no rows; empty if there are."""


def gradient_noise_in(environment: Mapping[str, Any]) -> GradientNoise | None:
    """Return the entry of a record's environment; None if the run has no entry, or could not measure it."""
    content = environment.get(KEY)
    noise = GradientNoise.model_validate(content) if content else None
    return noise if noise and noise.squares else None
