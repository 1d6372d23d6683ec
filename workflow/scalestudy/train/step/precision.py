"""The arithmetic of a run: autocast, the precision of fp32 matrix products, and loss scaling."""

import torch

from scalestudy.study.spec import TrainSpec
from scalestudy.train.place.placement import Placement, PlacementError


def set_arithmetic(spec: TrainSpec, place: Placement) -> None:
    """Set whether fp32 matrix products and convolutions use TF32: with 'tf32' both do, otherwise neither does.

    torch's default on CUDA is TF32 for convolutions only. Raises PlacementError if the device has no TF32.
    """
    tf32 = spec.precision == "tf32"
    if tf32 and place.device.type != "cuda":
        raise PlacementError("precision tf32 needs a CUDA device, but this rank runs on a CPU. Use fp32")
    torch.set_float32_matmul_precision("high" if tf32 else "highest")
    torch.backends.cudnn.allow_tf32 = tf32


def autocast(spec: TrainSpec, place: Placement) -> torch.autocast | None:
    """Return the autocast context, or None: even a disabled or empty context costs microseconds per step.

    FSDP uses its own mixed-precision policy instead.
    """
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(spec.precision)
    if dtype is None or spec.strategy == "fsdp":
        return None
    return torch.autocast(place.device.type, dtype=dtype)


def scaled_on(spec: TrainSpec, place: Placement) -> str | None:
    """Return the device type for loss scaling against underflow; None if gradients do not underflow."""
    return place.device.type if spec.precision == "fp16" else None
