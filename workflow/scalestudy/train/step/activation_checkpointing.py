"""Activation checkpointing: keep the inputs of every block, and compute the rest again in the backward pass."""

from __future__ import annotations

from torch import nn
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    apply_activation_checkpointing,
    checkpoint_wrapper,
)

from scalestudy.train.workloads.blocks import blocks_of


def checkpoint_activations(model: nn.Module) -> None:
    """Put every block of the model into a wrapper that recomputes it; the numbers of a step stay what they are."""
    blocks = set(blocks_of(model))
    apply_activation_checkpointing(
        model, checkpoint_wrapper_fn=checkpoint_wrapper, check_fn=lambda module: module in blocks
    )
