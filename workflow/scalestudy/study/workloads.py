"""What can be trained: models, data and optimizers a study may name. One class an entry; `train/` builds them.

The classes hold numbers only, so that a plan can be made and refused without importing torch.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Entry(BaseModel):
    """An entry of the config: frozen, unknown keys refused, the text under a field is its documentation."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False)


class MlpModel(Entry):
    """Fully connected network with ReLU between its layers."""

    type: Literal["mlp"]
    hidden_dim: int = Field(256, ge=1)
    """Width of every hidden layer."""
    num_layers: int = Field(3, ge=1)
    """Number of hidden layers; the output layer comes on top."""


class ConvnetModel(Entry):
    """3x3 convolutions at full resolution, pooled to 2 x 2 at the end: much arithmetic per parameter."""

    type: Literal["convnet"]
    channels: int = Field(48, ge=1)
    """Channels of every convolution."""
    num_layers: int = Field(4, ge=1)
    """Number of convolutions; the output layer comes on top."""


class DigitsData(Entry):
    """scikit-learn's digits: 1 797 grey images of 8 x 8, ten classes; part of the package, no download."""

    type: Literal["digits"]
    validation_fraction: float = Field(0.2, gt=0, lt=1)
    """Share of the images held out for validation; the split is the same for every run of a study."""

    @property
    def train_samples(self) -> int:
        """Number of training images (scikit-learn ships 1 797 images in all)."""
        return 1797 - self.validation_samples

    @property
    def validation_samples(self) -> int:
        return round(1797 * self.validation_fraction)


class SgdOptimizer(Entry):
    """Stochastic gradient descent with momentum."""

    type: Literal["sgd"]
    learning_rate: float = Field(0.05, gt=0)
    """Step size; it is *not* scaled with the global batch."""
    momentum: float = Field(0.9, ge=0, lt=1)
    """Momentum factor."""


class AdamOptimizer(Entry):
    """Adam with torch's default moments."""

    type: Literal["adam"]
    learning_rate: float = Field(0.001, gt=0)
    """Step size; it is *not* scaled with the global batch."""


Model = Annotated[MlpModel | ConvnetModel, Field(discriminator="type")]
Optimizer = Annotated[SgdOptimizer | AdamOptimizer, Field(discriminator="type")]
Data = DigitsData  # one member so far; a second makes it a union told apart by `type`


class Workload(Entry):
    """What is trained: model, data, optimizer, batch, and which scaling questions are asked of it."""

    model: Model
    """Network; `type` names it."""
    data: Data
    """Training and validation data; `type` names it."""
    optimizer: Optimizer
    """Optimizer; `type` names it."""
    batch_size: int = Field(ge=1)
    """Samples per optimizer step of the base case, that is of one process. Strong scaling keeps it as the
    global batch and divides it among the ranks; weak scaling keeps it as the batch of every rank."""
    epochs: int = Field(ge=0)
    """Passes over the training data; validation follows each. 0 asks for step times only: nothing is validated,
    and a launch ends when it has measured enough (`measure`)."""
    target_accuracy: float | None = Field(None, gt=0, le=1)
    """Validation accuracy to be reached: the report gives the training time to it and the speedup of that."""
    scaling: tuple[Literal["strong", "weak"], ...] = Field(("strong",), min_length=1)
    """`strong` (global batch fixed), `weak` (batch per rank fixed), or both."""
