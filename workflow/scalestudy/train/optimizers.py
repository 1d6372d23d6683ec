"""The optimizers a study can name, and how their learning rate changes from step to step."""

import math
from collections.abc import Iterable

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from scalestudy.study.config.optimizers import AdamOptimizer, AdamWOptimizer, Optimizer


def build_optimizer(
    config: Optimizer, parameters: Iterable[nn.Parameter], *, factor: float = 1.0
) -> torch.optim.Optimizer:
    """The torch optimizer of a config entry; factor: what the global batch makes of its learning rate."""
    rate, decay = config.learning_rate * factor, config.weight_decay
    if isinstance(config, AdamOptimizer):
        return torch.optim.Adam(parameters, lr=rate, weight_decay=decay)
    if isinstance(config, AdamWOptimizer):
        return torch.optim.AdamW(parameters, lr=rate, weight_decay=decay)
    return torch.optim.SGD(parameters, lr=rate, momentum=config.momentum, weight_decay=decay)


def build_schedule(config: Optimizer, optimizer: torch.optim.Optimizer, *, steps: int) -> LambdaLR | None:
    """The schedule of a learning rate over `steps` steps in all; None where it does not change."""
    if not config.warmup_steps and config.decay == "none":
        return None
    return LambdaLR(optimizer, lambda step: learning_rate_share(config, step, steps=steps))


def learning_rate_share(config: Optimizer, step: int, *, steps: int) -> float:
    """Share of the full learning rate at a step, from 0: rises linearly over the warm-up, then falls to 0."""
    if step < config.warmup_steps:
        return (step + 1) / config.warmup_steps
    if config.decay == "none":
        return 1.0
    gone = min(1.0, (step - config.warmup_steps) / max(1, steps - config.warmup_steps))
    return 1 - gone if config.decay == "linear" else (1 + math.cos(math.pi * gone)) / 2
