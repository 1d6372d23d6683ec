"""Random data of the shape a model wants, made where they are used: no file, no copy, no waiting.

Every rank makes the same ones from a seed of its own, so that the ranks share an order as with real data.
"""

from __future__ import annotations

import torch
from torch import Tensor

from scalestudy.study.config.datasets import SyntheticImages, SyntheticTokens, SyntheticVectors
from scalestudy.study.config.models import Model
from scalestudy.train.data.split import Split

Synthetic = SyntheticVectors | SyntheticImages | SyntheticTokens
SEED = 0


def make_split(data: Synthetic, model: Model, *, device: torch.device) -> Split:
    """Normal numbers, or tokens from 1 on (0 is padding); random classes, or a language model's next token."""
    generator = torch.Generator(device).manual_seed(SEED)
    parts: dict[str, Tensor] = {}
    for part, samples in (("train", data.samples), ("validation", data.validation_samples)):
        inputs, targets = _make(data, model, samples, generator, device)
        parts |= {f"{part}_inputs": inputs, f"{part}_targets": targets}
    return Split(**parts, sample_delay_s=data.sample_delay_us * 1e-6)


def _make(
    data: Synthetic, model: Model, samples: int, generator: torch.Generator, device: torch.device
) -> tuple[Tensor, Tensor]:
    where = {"generator": generator, "device": device}
    if not isinstance(data, SyntheticTokens):
        inputs = torch.randn((samples, *data.shape), **where)
        return inputs, torch.randint(data.classes, (samples,), **where)
    tokens = torch.randint(1, data.vocabulary, (samples, data.sequence_length + 1), **where)
    if "stream" in model.takes:
        return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
    return tokens[:, :-1].contiguous(), torch.randint(data.classes, (samples,), **where)
