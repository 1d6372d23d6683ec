"""Loss and accuracy of the two kinds of tasks: one class for a sample, one next token at every position."""

import torch.nn.functional as F
from torch import Tensor


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy, nats: logits (B, C) with targets (B,), or logits (B, L, V) with targets (B, L)."""
    if targets.dim() == 1:
        return F.cross_entropy(logits, targets)
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def correct_of(logits: Tensor, targets: Tensor) -> tuple[Tensor, int]:
    """(how many predictions are right, how many there are); shapes as in `loss_of`.

    The first stays on the device, so that nobody waits for it who does not read it.
    """
    return (logits.argmax(dim=-1) == targets).sum(), targets.numel()
