"""The models a study can name: one module each, found by the `type` of its config entry."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

from scalestudy.study.workloads import Model
from scalestudy.train.workloads.convnet import build_convnet
from scalestudy.train.workloads.mlp import build_mlp

BUILDERS: dict[str, Callable[..., nn.Module]] = {"mlp": build_mlp, "convnet": build_convnet}


def build_model(config: Model) -> nn.Module:
    """The network of a workload, initialised from torch's current seed; images (N, 1, 8, 8) -> logits (N, 10)."""
    return BUILDERS[config.type](config)
