"""Networks of layers one after another: the fully connected one, and the convolutional one."""

import itertools
from math import prod

from torch import Tensor, nn

from scalestudy.study.config.datasets import Data
from scalestudy.study.config.models import ConvnetModel, MlpModel

POOLED = 2


class Layers(nn.Sequential):
    """nn.Sequential with a forward pass of its own: torch.compile leaves out those of torch's own containers."""

    def forward(self, inputs: Tensor) -> Tensor:
        """The first layer's inputs -> the last one's outputs."""
        for layer in self:
            inputs = layer(inputs)
        return inputs


def build_mlp(config: MlpModel, data: Data) -> nn.Module:
    """All numbers of a sample -> the hidden widths, ReLU after each -> classes.

    Few operations per parameter, so synchronisation weighs heavily.
    """
    widths = [prod(data.shape), *config.hidden]
    layers: list[nn.Module] = [nn.Flatten()]
    for wide, narrow in itertools.pairwise(widths):
        layers += [nn.Linear(wide, narrow), nn.ReLU()]
    return Layers(*layers, nn.Linear(widths[-1], data.classes))


def build_convnet(config: ConvnetModel, data: Data) -> nn.Module:
    """num_layers 3x3 convolutions with ReLU at full resolution, normalised if so configured, average pooling to
    2 x 2, one linear layer. Every parameter is used at all positions of an image.

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
