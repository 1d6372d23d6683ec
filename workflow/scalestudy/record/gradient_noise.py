"""What a launch leaves of the scatter of its gradients: two numbers for each of some rows of steps.

They are an entry of `environment` in run.json and no table: a table would be a file that records of earlier
releases lack. A record without the entry says that the scatter is not known.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from scalestudy.record.document import Part

KEY = "gradient_noise"
"""Of the entry in `environment`."""


class GradientNoise(Part):
    """Squares and products of gradients at one set of parameters, from batches that are drawn with replacement.

    A gradient is that of the mean loss over `samples` samples, without scale of the loss. A row is the mean of
    `gradients` of them. The unit of a square is that of the loss squared over that of a parameter squared.
    """

    samples: int = Field(ge=1)
    """Samples of a gradient: the batch of a rank, or a part of the batch of a single process."""
    gradients: int = Field(ge=1)
    """Gradients of a row: of all ranks, over the row's steps."""
    squares: tuple[float, ...] = ()
    """Mean of |g|^2 over the gradients of each row."""
    products: tuple[float, ...] = ()
    """Mean gradient of each row times the mean gradient of all other rows: its expectation is |G|^2."""
    seconds: float = Field(0.0, ge=0)
    """How long the probe took."""
    failed: str = ""
    """Why there are no rows; empty where there are."""


def gradient_noise_in(environment: Mapping[str, Any]) -> GradientNoise | None:
    """The entry of a record's environment; None where the launch has none, or could not measure it."""
    content = environment.get(KEY)
    noise = GradientNoise.model_validate(content) if content else None
    return noise if noise and noise.squares else None
