"""A convolutional network without downsampling: every parameter is used at all positions of an image."""

from __future__ import annotations

from torch import nn

from scalestudy.study.config.datasets import Data
from scalestudy.study.config.models import ConvnetModel
from scalestudy.train.workloads.layers import Layers

POOLED = 2


def build_convnet(config: ConvnetModel, data: Data) -> nn.Module:
    """num_layers 3x3 convolutions with ReLU at full resolution, normalised if so configured, average pooling to
    2 x 2, one linear layer.

    Images (B, channels, height, width), height and width 2 or more -> logits (B, classes).
    """
    layers: list[nn.Module] = []
    for depth in range(config.num_layers):
        inputs = data.shape[0] if depth == 0 else config.channels
        layers.append(nn.Conv2d(inputs, config.channels, kernel_size=3, padding=1))
        if config.norm == "batch":
            layers.append(nn.BatchNorm2d(config.channels))
        layers.append(nn.ReLU())
    return Layers(
        *layers,
        nn.AdaptiveAvgPool2d(POOLED),
        nn.Flatten(),
        nn.Linear(config.channels * POOLED * POOLED, data.classes),
    )
