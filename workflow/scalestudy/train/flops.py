"""How many floating-point operations a sample costs: counted on the model itself, before anything is trained."""

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
    """FLOPs of one forward and backward pass of one sample, a multiply-add counted as two; None where the model
    does something that cannot be done without values.

    Counted are matrix products, convolutions, and the two products of attention. All else is left out: additions
    of biases, norms, activations, softmax, look-ups in embeddings, the loss, the optimizer. The first layer needs
    no gradient of its inputs, so none is counted. Attention counts as if every query saw every key, also where it
    is causal, and as if its backward pass computed nothing again: the model's operations, not those of a kernel.
    Activation checkpointing adds to what is executed, not to this number.

    Takes no memory for parameters, and leaves torch's random state as it is. Raises UserError as build_model does.
    """
    with _shapes_only():
        inputs = torch.zeros(1, *data.shape, dtype=torch.float32 if data.tokens is None else torch.int64)
        try:
            network = build_model(model, data)
            with FlopCounterMode(display=False) as counter:
                network(inputs).sum().backward()
        except UserError:
            raise
        except Exception:  # a value is asked for, or an operator cannot tell its shapes: no reason not to train
            return None
    total: int = counter.get_total_flops()
    return total


@contextmanager
def _shapes_only() -> Iterator[None]:
    """Tensors have a shape and no values; attention is the matrix products that it consists of.

    The meta device has such tensors too, but Hugging Face's masks look at values there, and not here. The counter
    takes the products for what they are, whatever kernel of attention a device would choose.
    """
    logger = logging.getLogger(FakeTensorMode.__module__)
    disabled, logger.disabled = logger.disabled, True  # it would write a traceback of what is handled above
    try:
        with FakeTensorMode(), sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        logger.disabled = disabled
