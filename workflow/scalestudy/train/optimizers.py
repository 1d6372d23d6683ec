"""The optimizers that a study can name, and the schedules of their learning rates."""

import math
from collections.abc import Iterable

import torch
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from scalestudy.study.config.optimizers import AdamOptimizer, AdamWOptimizer, Optimizer


def build_optimizer(
    config: Optimizer, parameters: Iterable[nn.Parameter], *, factor: float = 1.0
) -> torch.optim.Optimizer:
    """Return the torch optimizer of a config entry. factor: scales the learning rate for the global batch."""
    rate, decay = config.learning_rate * factor, config.weight_decay
    if isinstance(config, AdamOptimizer):
        return torch.optim.Adam(parameters, lr=rate, weight_decay=decay)
    if isinstance(config, AdamWOptimizer):
        return torch.optim.AdamW(parameters, lr=rate, weight_decay=decay)
    return torch.optim.SGD(parameters, lr=rate, momentum=config.momentum, weight_decay=decay)


def build_schedule(config: Optimizer, optimizer: torch.optim.Optimizer, *, steps: int) -> LambdaLR | None:
    """Return the learning-rate schedule over `steps` steps in total; None for a constant learning rate."""
    if not config.warmup_steps and config.decay == "none":
        return None
    return LambdaLR(optimizer, lambda step: learning_rate_share(config, step, steps=steps))


def learning_rate_share(config: Optimizer, step: int, *, steps: int) -> float:
    """Return the share of the full learning rate at a step, counted from 0.

    It rises linearly over the warm-up, then decays to 0 unless `decay` is 'none'.
    """
    if step < config.warmup_steps:
        return (step + 1) / config.warmup_steps
    if config.decay == "none":
        return 1.0
    gone = min(1.0, (step - config.warmup_steps) / max(1, steps - config.warmup_steps))
    return 1 - gone if config.decay == "linear" else (1 + math.cos(math.pi * gone)) / 2
