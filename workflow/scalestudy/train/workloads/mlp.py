"""A fully connected network: few operations per parameter, so synchronisation weighs heavily."""

from __future__ import annotations

import itertools
from math import prod

from torch import nn

from scalestudy.study.config.datasets import Data
from scalestudy.study.config.models import MlpModel
from scalestudy.train.workloads.layers import Layers


def build_mlp(config: MlpModel, data: Data) -> nn.Module:
    """All numbers of a sample -> the hidden widths, ReLU after each -> classes."""
    widths = [prod(data.shape), *config.hidden]
    layers: list[nn.Module] = [nn.Flatten()]
    for wide, narrow in itertools.pairwise(widths):
        layers += [nn.Linear(wide, narrow), nn.ReLU()]
    return Layers(*layers, nn.Linear(widths[-1], data.classes))
