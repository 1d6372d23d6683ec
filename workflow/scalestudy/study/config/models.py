"""The model types of a study, one class each, with numbers only; `train/workloads/` builds the networks.

`takes` has the kinds of data that a model can be trained on (study/config/datasets.py).
"""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from math import prod
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from scalestudy.study.config.entry import Entry, refuse
from scalestudy.study.config.refusals import PARAMETERS

NO_SIZE = "parameters: {} is not a size; the smallest shape has about 0.05M"
NARROWEST = 64
"""Width of a head, and of the narrowest shape that follows from a size."""
MOST_PARAMETERS = 1e13
"""Ten times those of the largest networks that were trained."""


def refuse_size(parameters: float, key: str) -> None:
    """Raise ValueError, with the key, if a network has more parameters than any machine can hold."""
    if parameters > MOST_PARAMETERS:
        raise ValueError(
            f"{key}: a network of about {Decimal(parameters):.0e} parameters fits no machine;"
            f" {MOST_PARAMETERS:.0e} or less is expected"
        )


class MlpModel(Entry):
    """Fully connected network with ReLU between its layers."""

    takes: ClassVar[frozenset[str]] = frozenset({"vectors", "images"})

    type: Literal["mlp"]
    hidden_dim: int = Field(256, ge=1)
    """Width of every hidden layer."""
    num_layers: int = Field(3, ge=1)
    """Number of hidden layers, without the output layer."""
    widths: tuple[Annotated[int, Field(ge=1)], ...] | None = Field(None, min_length=1)
    """Width of each hidden layer, instead of `hidden_dim` and `num_layers`."""

    @property
    def hidden(self) -> tuple[int, ...]:
        """Widths of the hidden layers."""
        return self.widths or (self.hidden_dim,) * self.num_layers

    @model_validator(mode="after")
    def _one_way(self) -> MlpModel:
        given = {"hidden_dim", "num_layers"} & self.model_fields_set
        fields = type(self).model_fields
        if self.widths and any(getattr(self, name) != fields[name].default for name in given):
            raise ValueError(f"widths: leave it out, or leave out {' and '.join(sorted(given))}")
        if self.widths:
            refuse_size(sum(map(prod, pairwise(self.widths))), "widths")
        else:
            refuse_size(self.hidden_dim**2 * self.num_layers, "hidden_dim")
        return self


class ConvnetModel(Entry):
    """3x3 convolutions at full resolution, pooled to 2 x 2 at the end. It has much arithmetic per parameter."""

    takes: ClassVar[frozenset[str]] = frozenset({"images"})

    type: Literal["convnet"]
    channels: int = Field(48, ge=1)
    """Channels of every convolution."""
    num_layers: int = Field(4, ge=1)
    """Number of convolutions, without the output layer."""
    norm: Literal["none", "batch"] = "none"
    """`batch`: batch normalisation after every convolution. Its statistics are computed from a rank's own batch,
    unless `ddp.sync_batch_norm` is set."""

    @model_validator(mode="after")
    def _size(self) -> ConvnetModel:
        refuse_size(9 * self.channels**2 * self.num_layers, "channels")
        return self


class _Transformer(Entry):
    """The common part of all Transformers."""

    d_model: int = Field(256, ge=2)
    """Width of the residual stream; a multiple of `heads`."""
    heads: int = Field(4, ge=1)
    """Attention heads of a layer."""
    num_layers: int = Field(4, ge=1)
    """Transformer layers."""
    feedforward_dim: int | None = Field(None, ge=1)
    """Hidden width of a layer's feed-forward network; 4 times `d_model` if unset."""
    dropout: float = Field(0.0, ge=0, lt=1)
    """Dropout in every layer. With 0, runs at equal batch are comparable step by step."""

    @property
    def feedforward(self) -> int:
        """Hidden width of the feed-forward networks."""
        return self.feedforward_dim or 4 * self.d_model

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(d_model, heads, num_layers, feedforward width)."""
        return self.d_model, self.heads, self.num_layers, self.feedforward

    @model_validator(mode="after")
    def _heads_divide(self) -> _Transformer:
        if self.d_model % self.heads:
            raise ValueError(f"d_model: {self.d_model} is not a multiple of heads: {self.heads}")
        per_layer = 4 * self.d_model**2 + 2 * self.d_model * self.feedforward
        refuse_size(per_layer * self.num_layers, "d_model")
        return self


class TextClassifierModel(_Transformer):
    """Transformer encoder over tokens, mean over the text, and one linear layer: for IMDB and AG News."""

    takes: ClassVar[frozenset[str]] = frozenset({"texts"})

    type: Literal["text-classifier"]


class LanguageModel(_Transformer):
    """GPT-style decoder that predicts the next token at every position."""

    takes: ClassVar[frozenset[str]] = frozenset({"stream"})

    type: Literal["language-model"]
    parameters: str | None = Field(None, pattern=PARAMETERS)
    """Size instead of a shape: `125M` or `1.3B` parameters without the embeddings. Width and depth follow from it:
    heads of width 64, and about 64 times as wide as deep, as in GPT-2 and GPT-3. The record has the exact
    number."""

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(d_model, heads, num_layers, feedforward width)."""
        if self.parameters is None:
            return super().shape
        wanted = _count(self.parameters)
        # A layer has 12 d^2 parameters (4 d^2 attention, 8 d^2 feed-forward at four times the width). The depth
        # rounds to whole layers, so the width that comes nearest is looked for.
        shapes = [(width, max(1, round(wanted / (12 * width**2)))) for width in range(NARROWEST, 16385, NARROWEST)]
        width, depth = min(
            shapes, key=lambda shape: abs(12 * shape[0] ** 2 * shape[1] / wanted - 1) + _off_proportion(*shape)
        )
        return width, width // NARROWEST, depth, 4 * width

    @property
    def too_small(self) -> bool:
        """Whether `parameters` is clearly less than the smallest shape has."""
        return self.parameters is not None and _count(self.parameters) < 0.8 * 12 * NARROWEST**2

    @model_validator(mode="after")
    def _one_way(self) -> LanguageModel:
        fields = type(self).model_fields
        shape = ("d_model", "heads", "num_layers", "feedforward_dim")
        given = [name for name in shape if getattr(self, name) != fields[name].default]
        if self.parameters and given:
            raise ValueError(f"parameters: leave it out, or leave out {' and '.join(given)}")
        if self.parameters:
            wanted = _count(self.parameters)
            refuse([NO_SIZE.format(self.parameters)] if not wanted else [])
            refuse_size(wanted, "parameters")
        return self


def _count(parameters: str) -> float:
    """'1.3B' -> 1.3e9."""
    return float(parameters[:-1]) * {"M": 1e6, "B": 1e9}[parameters[-1]]


def _off_proportion(width: int, depth: int) -> float:
    """Distance of a shape from 64 times as wide as deep; a factor of two weighs as much as 10 % of the size."""
    ratio = width / (64 * depth)
    return 0.1 * max(ratio, 1 / ratio) - 0.1


class HuggingFaceModel(Entry):
    """A model of the transformers library from its configuration, initialised at random: nothing is downloaded."""

    type: Literal["hugging-face"]
    architecture: str
    """Name of the architecture in transformers: `bert`, `gpt2`, `llama`."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Settings of its configuration: `{hidden_size: 256, num_hidden_layers: 4}`. Vocabulary, number of classes and
    length are taken from the data."""
    task: Literal["classify", "next-token"] = "classify"
    """Task of the training: `classify` texts, or predict the `next-token` of a stream."""

    @property
    def takes(self) -> frozenset[str]:
        """Kinds of data that fit its task."""
        return frozenset({"texts" if self.task == "classify" else "stream"})


Model = Annotated[
    MlpModel | ConvnetModel | TextClassifierModel | LanguageModel | HuggingFaceModel,
    Field(discriminator="type"),
]
