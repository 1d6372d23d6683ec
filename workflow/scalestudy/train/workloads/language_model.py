"""A GPT-style decoder of any size: from one for a test of seconds to one that needs FSDP."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from scalestudy.study.config.datasets import Data
from scalestudy.study.config.models import LanguageModel
from scalestudy.train.workloads.transformer import Block, initialise


class Decoder(nn.Module):
    """Tokens and learned positions, causal Transformer layers, and the embedding once more as the output layer.

    The embedding is one parameter of this module itself, used twice. So it is in no block that FSDP shards by
    itself, and DDP sees it once.
    """

    def __init__(self, config: LanguageModel, data: Data) -> None:
        super().__init__()
        width, heads, layers, feedforward = config.shape
        assert data.tokens is not None, "the config gives a stream to a model that takes one"
        self.embedding = nn.Embedding(data.tokens, width)
        self.positions = nn.Parameter(torch.empty(data.shape[0], width))
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(
            Block(width, heads, feedforward, dropout=config.dropout, causal=True) for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width)
        initialise(self, layers=layers)

    def forward(self, inputs: Tensor) -> Tensor:
        """Tokens (B, L), integers, L as in the data or less -> logits of the next token (B, L, vocabulary)."""
        x = self.dropout(self.embedding(inputs) + self.positions[: inputs.shape[1]])
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.embedding.weight)


def build_language_model(config: LanguageModel, data: Data) -> nn.Module:
    """The decoder of a config entry."""
    return Decoder(config, data)
