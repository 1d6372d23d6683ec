"""A fully connected network: few operations per parameter, so synchronisation weighs heavily."""

from __future__ import annotations

import itertools

from torch import nn

from scalestudy.study.workloads import MlpModel

INPUTS, CLASSES = 8 * 8, 10


def build_mlp(config: MlpModel) -> nn.Module:
    """64 -> hidden_dim (num_layers times, ReLU) -> 10."""
    widths = [INPUTS] + [config.hidden_dim] * config.num_layers
    layers: list[nn.Module] = [nn.Flatten()]
    for wide, narrow in itertools.pairwise(widths):
        layers += [nn.Linear(wide, narrow), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(widths[-1], CLASSES))
