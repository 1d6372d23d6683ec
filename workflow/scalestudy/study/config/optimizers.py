"""The optimizers a study may name, and how their learning rate changes in a run."""

from math import sqrt
from typing import Annotated, Literal

from pydantic import Field

from scalestudy.study.config.entry import Entry


class _Optimizer(Entry):
    """What all optimizers have in common."""

    weight_decay: float = Field(0, ge=0)
    """Weight decay; with `adamw` decoupled from the gradient."""
    learning_rate_scaling: Literal["none", "linear", "sqrt"] = "none"
    """How the learning rate grows with the global batch: by its ratio to `batch_size`, by the root of that, or not
    at all. Weak scaling raises the global batch; what that does to accuracy shows in the report."""
    warmup_steps: int = Field(0, ge=0)
    """Steps over which the learning rate rises linearly to its full value."""
    decay: Literal["none", "linear", "cosine"] = "none"
    """How it falls to 0 after that, over all steps of the epochs. Needs `epochs`."""
    gradient_clip: float | None = Field(None, gt=0)
    """Largest 2-norm of all gradients together; they are scaled down to it. Not at all if unset."""

    def scale(self, growth: float) -> float:
        """Factor of the learning rate where the global batch is `growth` times that of the base case."""
        return {"none": 1.0, "linear": growth, "sqrt": sqrt(growth)}[self.learning_rate_scaling]


class SgdOptimizer(_Optimizer):
    """Stochastic gradient descent with momentum."""

    type: Literal["sgd"]
    learning_rate: float = Field(0.05, gt=0)
    """Step size at the base case's global batch."""
    momentum: float = Field(0.9, ge=0, lt=1)
    """Momentum factor."""


class AdamOptimizer(_Optimizer):
    """Adam with torch's default moments."""

    type: Literal["adam"]
    learning_rate: float = Field(0.001, gt=0)
    """Step size at the base case's global batch."""


class AdamWOptimizer(_Optimizer):
    """AdamW with torch's default moments."""

    type: Literal["adamw"]
    learning_rate: float = Field(0.001, gt=0)
    """Step size at the base case's global batch."""
    weight_decay: float = Field(0.01, ge=0)
    """Weight decay, decoupled from the gradient."""


Optimizer = Annotated[SgdOptimizer | AdamOptimizer | AdamWOptimizer, Field(discriminator="type")]
