"""Sequential networks: a fully connected one and a convolutional one."""

import itertools
from math import prod

from torch import Tensor, nn

from scalestudy.study.config.datasets import Data
from scalestudy.study.config.models import ConvnetModel, MlpModel

POOLED = 2


class Layers(nn.Sequential):
    """nn.Sequential with its own forward pass: torch.compile skips the forward passes of torch's containers."""

    def forward(self, inputs: Tensor) -> Tensor:
        """Map the inputs of the first layer to the outputs of the last layer."""
        for layer in self:
            inputs = layer(inputs)
        return inputs


def build_mlp(config: MlpModel, data: Data) -> nn.Module:
    """Return a fully connected network: all values of a sample -> hidden layers, each with ReLU -> classes.

    It has few operations per parameter, so the cost of synchronisation is high.
    """
    widths = [prod(data.shape), *config.hidden]
    layers: list[nn.Module] = [nn.Flatten()]
    for wide, narrow in itertools.pairwise(widths):
        layers += [nn.Linear(wide, narrow), nn.ReLU()]
    return Layers(*layers, nn.Linear(widths[-1], data.classes))


def build_convnet(config: ConvnetModel, data: Data) -> nn.Module:
    """Return a convolutional network, whose convolutions use every parameter at all positions of an image.

    It has num_layers 3x3 convolutions with ReLU at full resolution, with batch normalisation if so configured,
    then average pooling to 2 x 2 and one linear layer. Images (B, channels, height, width), height and width 2 or
    more -> logits (B, classes).
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
