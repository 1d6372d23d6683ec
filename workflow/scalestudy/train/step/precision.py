"""The arithmetic of a run: what autocast does, what fp32 is in matrix products, whether losses are scaled."""

import torch

from scalestudy.study.spec import TrainSpec
from scalestudy.train.place.placement import Placement, PlacementError


def set_arithmetic(spec: TrainSpec, place: Placement) -> None:
    """fp32 means fp32, in convolutions too, where torch's default on CUDA is TF32; tf32 means TF32 in both.

    Raises PlacementError where the device has no TF32.
    """
    tf32 = spec.precision == "tf32"
    if tf32 and place.device.type != "cuda":
        raise PlacementError("precision tf32 is arithmetic of CUDA devices; this rank runs on a CPU. Use fp32")
    torch.set_float32_matmul_precision("high" if tf32 else "highest")
    torch.backends.cudnn.allow_tf32 = tf32


def autocast(spec: TrainSpec, place: Placement) -> torch.autocast | None:
    """Autocast, or None: a disabled one, or a context that does nothing, costs microseconds a step.

    FSDP has a policy of its own.
    """
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(spec.precision)
    if dtype is None or spec.strategy == "fsdp":
        return None
    return torch.autocast(place.device.type, dtype=dtype)


def scaled_on(spec: TrainSpec, place: Placement) -> str | None:
    """Type of the device whose losses are scaled against underflow; None where gradients do not underflow."""
    return place.device.type if spec.precision == "fp16" else None
