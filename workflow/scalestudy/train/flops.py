"""The floating-point operations per sample, counted on the model itself before training."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from scalestudy.errors import UserError
from scalestudy.study.config.datasets import Data
from scalestudy.study.config.models import Model
from scalestudy.train.workloads import build_model


def flops_per_sample(model: Model, data: Data) -> int | None:
    """Return the FLOPs of one forward and backward pass of one sample; None if the model needs actual values.

    A multiply-add counts as two. Matrix products, convolutions, and the two products of attention are counted.
    Everything else is left out: bias additions, norms, activations, softmax, embedding look-ups, the loss, the
    optimizer. The gradient of the first layer's inputs is not needed and not counted. Attention is counted as if
    every query saw every key, even if it is causal, and without recomputation in the backward pass: these are the
    operations of the model, not of a kernel. Activation checkpointing adds executed operations, but none here.

    Needs no memory for parameters and does not change torch's random state. Raises UserError as build_model does.
    """
    with _shapes_only():
        inputs = torch.zeros(1, *data.shape, dtype=torch.float32 if data.tokens is None else torch.int64)
        try:
            network = build_model(model, data)
            with FlopCounterMode(display=False) as counter:
                network(inputs).sum().backward()
        except UserError:
            raise
        except Exception:  # values are needed, or an operator's shapes are unknown: this does not prevent training
            return None
    total: int = counter.get_total_flops()
    return total


@contextmanager
def _shapes_only() -> Iterator[None]:
    """Within this context, tensors have shapes but no values, and attention runs as plain matrix products.

    The meta device has such tensors too, but there, unlike here, Hugging Face's masks read values. As plain matrix
    products, attention is counted in the same way for every attention kernel that a device might choose.
    """
    logger = logging.getLogger(FakeTensorMode.__module__)
    disabled, logger.disabled = logger.disabled, True  # it would log a traceback of the exception handled above
    try:
        with FakeTensorMode(), sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        logger.disabled = disabled
