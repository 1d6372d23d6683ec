"""A Transformer encoder that classifies texts of different length: short samples are mostly padding."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from scalestudy.study.config.datasets import Data
from scalestudy.study.config.models import TextClassifierModel
from scalestudy.train.workloads.transformer import Block, initialise

PADDING = 0
"""The token that stands where a text has ended."""


class TextClassifier(nn.Module):
    """Tokens and learned positions, Transformer layers, mean over the text, one linear layer."""

    def __init__(self, config: TextClassifierModel, data: Data) -> None:
        super().__init__()
        width = config.d_model
        assert data.tokens is not None, "the config gives texts to a model that takes them"
        self.embedding = nn.Embedding(data.tokens, width)
        self.positions = nn.Parameter(torch.empty(data.shape[0], width))
        self.blocks = nn.ModuleList(
            Block(width, config.heads, config.feedforward, dropout=config.dropout, causal=False)
            for _ in range(config.num_layers)
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, data.classes)
        initialise(self, layers=config.num_layers)

    def forward(self, inputs: Tensor) -> Tensor:
        """Tokens (B, L), integers, 0 after the end of a text, L as in the data or less -> logits (B, classes)."""
        present = inputs != PADDING
        # A query that may look at nothing gives NaN. Of a text without any token nothing is counted in the mean,
        # so it does not matter what its queries see.
        visible = present | ~present.any(dim=1, keepdim=True)
        mask = visible[:, None, None, :]
        x = self.embedding(inputs) + self.positions[: inputs.shape[1]]
        for block in self.blocks:
            x = block(x, mask)
        x = self.norm(x) * present.unsqueeze(-1)
        logits: Tensor = self.head(x.sum(dim=1) / present.sum(dim=1, keepdim=True).clamp(min=1))
        return logits


def build_text_classifier(config: TextClassifierModel, data: Data) -> nn.Module:
    """The classifier of a config entry."""
    return TextClassifier(config, data)
