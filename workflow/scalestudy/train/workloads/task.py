"""Loss and accuracy of the two kinds of tasks: one class per sample, or the next token at every position."""

import torch.nn.functional as F
from torch import Tensor


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the mean cross-entropy in nats: logits (B, C), targets (B,), or logits (B, L, V), targets (B, L)."""
    if targets.dim() == 1:
        return F.cross_entropy(logits, targets)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def correct_of(logits: Tensor, targets: Tensor) -> tuple[Tensor, int]:
    """Return (number of correct predictions, number of predictions); shapes as in `loss_of`.

    The first stays on the device, so that only reading it waits for the device.
    """
    return (logits.argmax(dim=-1) == targets).sum(), targets.numel()
