"""A convolutional network without downsampling: every parameter is used at all 64 positions of an image."""

from __future__ import annotations

from torch import nn

from scalestudy.study.workloads import ConvnetModel

CLASSES, POOLED = 10, 2


def build_convnet(config: ConvnetModel) -> nn.Module:
    """num_layers 3x3 convolutions with ReLU at 8 x 8, average pooling to 2 x 2, one linear layer."""
    layers: list[nn.Module] = []
    for depth in range(config.num_layers):
        inputs = 1 if depth == 0 else config.channels
        layers += [nn.Conv2d(inputs, config.channels, kernel_size=3, padding=1), nn.ReLU()]
    return nn.Sequential(
        *layers,
        nn.AdaptiveAvgPool2d(POOLED),
        nn.Flatten(),
        nn.Linear(config.channels * POOLED * POOLED, CLASSES),
    )
