"""Random data of the shape a model wants, made where they are used: no file, no copy, no waiting.

Every rank makes the same ones from a seed of its own, so that the ranks share an order as with real data.
"""

from __future__ import annotations

import torch
from torch import Tensor

from scalestudy.study.config.datasets import SyntheticData, SyntheticTokens
from scalestudy.study.config.models import Model
from scalestudy.train.data.split import Split

SEED = 0


def make_split(data: SyntheticData, model: Model, *, device: torch.device) -> Split:
    """Normal numbers, or tokens from 1 on (0 is padding); random classes, or a language model's next token."""
    generator = torch.Generator(device).manual_seed(SEED)
    train = _make(data, model, data.samples, generator, device)
    validation = _make(data, model, data.validation_samples, generator, device)
    return Split(*train, *validation, sample_delay_s=data.sample_delay_us * 1e-6)


def _make(
    data: SyntheticData, model: Model, samples: int, generator: torch.Generator, device: torch.device
) -> tuple[Tensor, Tensor]:
    def integers(low: int, high: int, *shape: int) -> Tensor:
        return torch.randint(low, high, shape, generator=generator, device=device)

    if not isinstance(data, SyntheticTokens):
        inputs = torch.randn((samples, *data.shape), generator=generator, device=device)
        return inputs, integers(0, data.classes, samples)
    tokens = integers(1, data.vocabulary, samples, data.sequence_length + 1)
    if "stream" in model.takes:
        return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
    return tokens[:, :-1].contiguous(), integers(0, data.classes, samples)
