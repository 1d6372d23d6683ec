"""Layers as backward meets them, where no run has told: their parameters, and their share of its time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from scalestudy.analyse.costs.buckets import Layer


def even_layers(parameters: float, count: int, backward_s: float) -> list[Layer]:
    """`count` layers alike in size and time, as a Transformer's blocks are."""
    if count < 1:
        raise ValueError(f"a network has at least one layer, not {count}")
    return [Layer(round(parameters / count), backward_s / count)] * count


def dense_layers(widths: Sequence[int], backward_s: float) -> list[Layer]:
    """Fully connected layers between these widths, the input's first; biases included.

    Backward takes two matrix products a layer, for its weights and for its input, but one for the first layer,
    whose input needs no gradient.
    """
    sizes = [above * below for above, below in pairwise(widths)]
    products = [size if place == 0 else 2 * size for place, size in enumerate(sizes)]
    total = sum(products)
    return [
        Layer(size + below, backward_s * product / total)
        for size, below, product in zip(sizes, widths[1:], products, strict=True)
    ]


def dense_backward_share(widths: Sequence[int]) -> float:
    """Backward's share of forward and backward of fully connected layers, by arithmetic alone."""
    sizes = [above * below for above, below in pairwise(widths)]
    backward = 2 * sum(sizes) - sizes[0]
    return backward / (sum(sizes) + backward)
