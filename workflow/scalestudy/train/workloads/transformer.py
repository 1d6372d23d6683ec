"""The Transformer layer, the text classifier and the language model made of it, and their initialisation."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from scalestudy.study.config.datasets import Data
from scalestudy.study.config.models import LanguageModel, TextClassifierModel
from scalestudy.train.workloads.initial import InitialisedByName

PADDING = 0
"""The token after the end of a text."""


class Attention(nn.Module):
    """Multi-head self-attention. One linear layer gives queries, keys and values."""

    def __init__(self, width: int, heads: int, *, causal: bool) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Map (B, L, width) to (B, L, width).

        mask: booleans that expand to (B, heads, L, L), true where a query may attend; not with `causal`.
        """
        batch, length, width = x.shape
        qkv = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        x = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=self.causal)
        out: Tensor = self.out(x.transpose(1, 2).reshape(batch, length, width))
        return out


class Block(nn.Module):
    """Pre-norm Transformer layer: attention and feed-forward network with GELU, each added to its input.

    Dropout is applied to what is added, but not to attention weights: fused CPU kernels do not support it.
    """

    def __init__(self, width: int, heads: int, feedforward: int, *, dropout: float, causal: bool) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads, causal=causal)
        self.feedforward_norm = nn.LayerNorm(width)
        self.feedforward_in = nn.Linear(width, feedforward)
        self.feedforward_out = nn.Linear(feedforward, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Map (B, L, width) to (B, L, width). mask: as in Attention."""
        x = x + self.dropout(self.attention(self.attention_norm(x), mask))
        hidden = F.gelu(self.feedforward_in(self.feedforward_norm(x)))
        out: Tensor = x + self.dropout(self.feedforward_out(hidden))
        return out


class GptInitialised(InitialisedByName):
    """GPT-2's initialisation: normal with mean 0 and standard deviation 0.02, biases 0.

    The two projections of each Block that write to the residual stream are divided by sqrt(2 layers), so that the
    stream does not grow with depth. Source: Radford et al. (2019), Language Models are Unsupervised Multitask
    Learners, section 2.3; the 0.02 is from their released code.
    """

    layers: int

    @torch.no_grad()
    def initialise_parameter(self, name: str, parameter: Tensor) -> bool:
        if parameter.dim() > 1:
            writes = name.endswith(("attention.out.weight", "feedforward_out.weight"))
            parameter.normal_(std=0.02 / (2 * self.layers) ** 0.5 if writes else 0.02)
        elif name.endswith("bias"):
            parameter.zero_()
        else:
            return False
        return True


class TextClassifier(GptInitialised):
    """A text classifier: tokens and learned positions, Transformer layers, mean over the text, one linear layer.

    Texts have different lengths: short samples are mostly padding.
    """

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
        self.layers = config.num_layers
        self.initialise()

    def forward(self, inputs: Tensor) -> Tensor:
        """Map tokens (B, L) to logits (B, classes).

        Tokens are integers, 0 after the end of a text; L is at most the length in the data.
        """
        present = inputs != PADDING
        # A query that may attend to nothing gives NaN. A text without any token does not contribute to the mean,
        # so it does not matter what its queries attend to.
        visible = present | ~present.any(dim=1, keepdim=True)
        mask = visible[:, None, None, :]
        x = self.embedding(inputs) + self.positions[: inputs.shape[1]]
        for block in self.blocks:
            x = block(x, mask)
        x = self.norm(x) * present.unsqueeze(-1)
        logits: Tensor = self.head(x.sum(dim=1) / present.sum(dim=1, keepdim=True).clamp(min=1))
        return logits


class Decoder(GptInitialised):
    """A language model as in GPT: tokens and learned positions, causal Transformer layers, tied output embedding.

    The embedding is a single parameter of this module itself, used twice. So it is not in a block that FSDP shards
    separately, and DDP sees it once.
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
        self.layers = layers
        self.initialise()

    def forward(self, inputs: Tensor) -> Tensor:
        """Map integer tokens (B, L), L at most the data's, to logits of the next token (B, L, vocabulary)."""
        x = self.dropout(self.embedding(inputs) + self.positions[: inputs.shape[1]])
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.embedding.weight)
