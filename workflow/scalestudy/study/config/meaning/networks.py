"""The networks of a study: at least the numbers that they hold, and the operations that they make."""

from __future__ import annotations

from itertools import pairwise
from math import prod

from scalestudy.study.config.models import (
    ConvnetModel,
    HuggingFaceModel,
    LanguageModel,
    MlpModel,
    TextClassifierModel,
)
from scalestudy.study.config.workloads import Workload


def embedded(workload: Workload) -> float:
    """Parameters of a table of tokens, which are looked up."""
    model = workload.model
    if isinstance(model, LanguageModel | TextClassifierModel):
        return float(model.shape[0] * (workload.data.tokens or 0))
    return 0.0


def operations(workload: Workload) -> float:
    """At least the operations of a sample in the forward and the backward pass; 0 where they are not known.

    Each weight that is applied makes two in the forward pass and four in the backward pass: for its gradient and
    for that of its input, which the data do not need.
    """
    model, data = workload.model, workload.data
    if isinstance(model, MlpModel):
        sizes = list(map(prod, pairwise((prod(data.shape), *model.hidden))))
        return 6.0 * sum(sizes) - 2.0 * sizes[0]
    if isinstance(model, ConvnetModel):
        sizes = [9 * size for size in map(prod, pairwise(_channels(model, data.shape[0])))]
        return prod(data.shape[1:]) * (6.0 * sum(sizes) - 2.0 * sizes[0])
    if isinstance(model, LanguageModel | TextClassifierModel):
        places, (width, _, layers, _) = prod(data.shape), model.shape
        weights = 6.0 * places * (parameters(workload) - embedded(workload))
        attention = 12.0 * places**2 * width * layers  # its scores, and their products with the values
        if isinstance(model, TextClassifierModel):
            return weights + attention
        # A token attends to those before it, which are half of them.
        return weights + attention / 2 + 6.0 * places * width * (data.tokens or 0)
    return 0.0


def _channels(model: ConvnetModel, of_input: int) -> tuple[int, ...]:
    return (of_input, *[model.channels] * model.num_layers)


def activations(workload: Workload) -> float:
    """At least the outputs of the layers for a sample, in numbers; 0 where they are not known."""
    model, data = workload.model, workload.data
    if isinstance(model, MlpModel):
        return float(sum(model.hidden))
    if isinstance(model, ConvnetModel):
        return float(prod(data.shape[1:]) * model.channels * model.num_layers)
    if isinstance(model, LanguageModel | TextClassifierModel):
        width, _, layers, _ = model.shape
        return float(prod(data.shape) * width * layers) + _scores(workload)
    return _scores(workload)


def _scores(workload: Workload) -> float:
    """Scores of the tokens at all positions, with their logarithms and gradients, if the next one is predicted."""
    model, data = workload.model, workload.data
    if isinstance(model, LanguageModel) or (isinstance(model, HuggingFaceModel) and model.task == "next-token"):
        return 3.0 * prod(data.shape) * (data.tokens or 0)
    return 0.0


def parameters(workload: Workload) -> float:
    """About the parameters of a network, without those of its outputs; 0 where they are not known."""
    model, data = workload.model, workload.data
    if isinstance(model, MlpModel):
        return float(sum(map(prod, pairwise((prod(data.shape), *model.hidden)))))
    if isinstance(model, ConvnetModel):
        return 9.0 * sum(map(prod, pairwise(_channels(model, data.shape[0]))))
    if isinstance(model, LanguageModel | TextClassifierModel):
        width, _, layers, feedforward = model.shape
        return float(layers * (4 * width**2 + 2 * width * feedforward)) + embedded(workload)
    return 0.0
