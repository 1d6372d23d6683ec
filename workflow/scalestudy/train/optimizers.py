"""The optimizers a study can name."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn

from scalestudy.study.workloads import AdamOptimizer, Optimizer


def build_optimizer(config: Optimizer, parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """The torch optimizer of a config entry."""
    if isinstance(config, AdamOptimizer):
        return torch.optim.Adam(parameters, lr=config.learning_rate)
    return torch.optim.SGD(parameters, lr=config.learning_rate, momentum=config.momentum)
