"""The optimizers of a study, and how their learning rate changes in a run."""

from collections.abc import Callable
from math import sqrt
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from scalestudy.study.config.entry import Entry

FACTORS: dict[str, Callable[[float], float]] = {"none": lambda _: 1.0, "linear": float, "sqrt": sqrt}
"""Factor of the learning rate, by the factor of the batch."""


class _Optimizer(Entry):
    """The common part of all optimizers."""

    weight_decay: float = Field(0, ge=0)
    """Weight decay; with `adamw` decoupled from the gradient."""
    learning_rate_scaling: Literal["none", "linear", "sqrt"] = "none"
    """How the learning rate grows with the global batch: with its ratio to `batch_size`, with the square root of
    that ratio, or not at all. Weak scaling raises the global batch; the report shows the effect on accuracy."""
    warmup_steps: int = Field(0, ge=0)
    """Steps over which the learning rate rises linearly to its full value."""
    decay: Literal["none", "linear", "cosine"] = "none"
    """How the learning rate falls to 0 after the warm-up, over all steps of the epochs. Needs `epochs`."""
    gradient_clip: float | None = Field(None, gt=0)
    """Largest 2-norm of all gradients together; larger gradients are scaled down to it. No limit if unset."""

    usual_scaling: ClassVar[Literal["linear", "sqrt"]]
    """How the learning rate of this optimizer usually follows the batch."""

    def scale(self, growth: float) -> float:
        """Factor of the learning rate at a global batch `growth` times the baseline's."""
        return FACTORS[self.learning_rate_scaling](growth)

    def advised_scale(self, growth: float) -> float:
        """Advised factor of the learning rate with a batch `growth` times as large: from `learning_rate_scaling`
        if the study sets it, else from `usual_scaling`."""
        scaling = self.usual_scaling if self.learning_rate_scaling == "none" else self.learning_rate_scaling
        return FACTORS[scaling](growth)


class SgdOptimizer(_Optimizer):
    """Stochastic gradient descent with momentum."""

    type: Literal["sgd"]
    learning_rate: float = Field(0.05, gt=0)
    """Step size at the baseline's global batch."""
    momentum: float = Field(0.9, ge=0, lt=1)
    """Momentum factor."""

    usual_scaling: ClassVar[Literal["linear", "sqrt"]] = "linear"  # Goyal et al. (2017), arXiv:1706.02677


class AdamOptimizer(_Optimizer):
    """Adam with torch's default moments."""

    type: Literal["adam"]
    learning_rate: float = Field(0.001, gt=0)
    """Step size at the baseline's global batch."""

    usual_scaling: ClassVar[Literal["linear", "sqrt"]] = "sqrt"  # Malladi et al. (2022), arXiv:2205.10287


class AdamWOptimizer(_Optimizer):
    """AdamW with torch's default moments."""

    type: Literal["adamw"]
    learning_rate: float = Field(0.001, gt=0)
    """Step size at the baseline's global batch."""
    weight_decay: float = Field(0.01, ge=0)
    """Weight decay, decoupled from the gradient."""

    usual_scaling: ClassVar[Literal["linear", "sqrt"]] = "sqrt"  # Malladi et al. (2022), arXiv:2205.10287


Optimizer = Annotated[SgdOptimizer | AdamOptimizer | AdamWOptimizer, Field(discriminator="type")]
