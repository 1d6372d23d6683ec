"""Tracks which tensors are on the device of a rank. On a CPU they cannot be distinguished otherwise.

A tensor counts as on the device if it was made or moved with an explicit device, or derives from such a tensor. If
devices are GPUs, a tensor without an explicit device is on the host. Tensors are identified by their storage,
which includes views and tensors in modules.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode

TORCH = Path(torch.__file__).parent
ON_THE_WAY = {
    *(TORCH / "distributed" / name for name in ("distributed_c10d.py", "c10d_logger.py")),
    *(TORCH / "overrides.py", Path(__file__), Path(__file__).with_name("strict_backend.py")),
}
"""Files with the frames between a call of a collective and the group."""


class HandedOut(TorchFunctionMode):
    """While entered, records the storage of every tensor that is on the device.

    It uses weak references: memory is freed as usual, but the address of a freed storage is not reused.
    """

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[int, StorageWeakRef] = {}

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        named = kwargs.get("device") is not None or any(isinstance(one, torch.device) for one in args)
        if named or any(map(self.holds, tensors(args))) or any(map(self.holds, tensors(list(kwargs.values())))):
            self.note(result)
        return result

    def note(self, values: Any) -> None:
        """Record all tensors of a value as on the device."""
        for tensor in tensors(values):
            with torch._C.DisableTorchFunction():
                storage = tensor.untyped_storage()
            if storage._cdata not in self._known:
                self._known[storage._cdata] = StorageWeakRef(storage)

    def holds(self, tensor: Tensor) -> bool:
        """Return whether a tensor is on the device."""
        with torch._C.DisableTorchFunction():
            return tensor.untyped_storage()._cdata in self._known


def tensors(values: Any) -> Iterator[Tensor]:
    """Return all tensors of a value and of the lists and tuples in it."""
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, list | tuple):
        for one in values:
            yield from tensors(one)


def asked_by_torch() -> bool:
    """Return whether torch's own code, such as DDP's reducer, called a collective, rather than ours.

    This includes what collectives of objects send: torch puts it on the device of the group.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        path = Path(frame.f_code.co_filename)
        if frame.f_code.co_name.endswith(("_object", "_object_list")):
            return True
        if path not in ON_THE_WAY:
            return path.is_relative_to(TORCH)
    return True
