"""The GPUs that a process may use, read through NVML, without a CUDA context and without disturbing a run."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pynvml

WORD_BITS = 64
"""Bits per word of NVML's CPU masks: pynvml's c_ulonglong."""


class NvmlError(RuntimeError):
    """NVML does not answer; the message is a sentence with the reason."""


@dataclass(frozen=True)
class Gpu:
    """A device, numbered as CUDA numbers it."""

    index: int
    """Its number among the visible devices; local rank r uses device r."""
    uuid: str
    name: str
    handle: Any

    def __str__(self) -> str:
        return f"GPU {self.index} ({self.name})"


@contextlib.contextmanager
def nvml_session(nvml: Any = pynvml) -> Iterator[None]:
    """Initialise NVML, and shut it down at the end of the context. nvml: the module, or a substitute in tests.

    Raises NvmlError if there is no driver or no library, or if a call fails.
    """
    try:
        nvml.nvmlInit()
    except pynvml.NVMLError as error:
        raise NvmlError(f"NVML does not answer: {error}") from None
    try:
        yield
    except pynvml.NVMLError as error:
        raise NvmlError(f"NVML does not answer: {error}") from None
    finally:
        with contextlib.suppress(pynvml.NVMLError):
            nvml.nvmlShutdown()


def ask(question: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of an NVML function; None if this device or driver does not support it."""
    try:
        return question(*arguments)
    except pynvml.NVMLError:
        return None


def visible_gpus(environment: Mapping[str, str], nvml: Any = pynvml) -> list[Gpu]:
    """Return the devices that a process with this environment sees, in its order; call it within nvml_session.

    CUDA_VISIBLE_DEVICES is read as CUDA reads it: numbers or (abbreviated) UUIDs, up to the first entry that
    matches no device. If a device is named twice, no device is visible. NVML counts in PCI order, as CUDA does
    for GPUs of one model.
    """
    present = list(_present(nvml))
    wanted = environment.get("CUDA_VISIBLE_DEVICES")
    if wanted is None:
        return [Gpu(index, *found) for index, found in enumerate(present)]
    chosen: list[tuple[str, str, Any]] = []
    for entry in wanted.split(","):
        found = _named(entry.strip(), present, nvml)
        if found is None:
            break
        if found in chosen:
            return []
        chosen.append(found)
    return [Gpu(index, *found) for index, found in enumerate(chosen)]


def cpu_affinity(gpu: Gpu, cpus: int, nvml: Any = pynvml) -> tuple[int, ...] | None:
    """Return the CPUs of the NUMA node that a device is attached to; None if NVML does not report them.

    cpus: the largest CPU number of the host plus 1. NVML returns words of 64 bits
    (https://docs.nvidia.com/deploy/nvml-api/group__nvmlAffinity.html). A MIG instance has no PCIe address of its
    own, so its GPU is queried.
    """
    board = ask(nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle, gpu.handle) or gpu.handle
    words = ask(nvml.nvmlDeviceGetCpuAffinity, board, -(-cpus // WORD_BITS))
    if words is None:
        return None
    near = [
        number * WORD_BITS + bit
        for number, word in enumerate(words)
        for bit in range(WORD_BITS)
        if int(word) >> bit & 1
    ]
    return tuple(near) or None


def board_of(uuid: str, nvml: Any = pynvml) -> Any:
    """Return NVML's handle of the whole GPU with this UUID; None for a MIG slice or an unknown UUID.

    uuid: with or without 'GPU-'. A process cannot use a GPU in MIG mode as a whole. torch may report the UUID of
    the slice or of its GPU.
    """
    plain = uuid.removeprefix("GPU-").lower()
    handles = (found for known, _, found in _present(nvml) if known.removeprefix("GPU-").lower() == plain)
    handle = next(handles, None)
    if handle is None:
        return None
    mode = ask(nvml.nvmlDeviceGetMigMode, handle)  # (now, after the next reset); NVMLError without MIG
    return None if mode and mode[0] == pynvml.NVML_DEVICE_MIG_ENABLE else handle


def _present(nvml: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield (UUID, name, handle) of every device that this process may open."""
    for number in range(nvml.nvmlDeviceGetCount()):
        handle = ask(nvml.nvmlDeviceGetHandleByIndex, number)
        if handle is not None:
            yield nvml.nvmlDeviceGetUUID(handle), nvml.nvmlDeviceGetName(handle), handle


def _named(entry: str, present: list[tuple[str, str, Any]], nvml: Any) -> tuple[str, str, Any] | None:
    """Return the device that one entry of CUDA_VISIBLE_DEVICES names; None if it matches no device or several."""
    if entry.isdigit():
        return present[int(entry)] if int(entry) < len(present) else None
    if entry.startswith("MIG-"):
        handle = ask(nvml.nvmlDeviceGetHandleByUUID, entry)
        return None if handle is None else (entry, nvml.nvmlDeviceGetName(handle), handle)
    matching = [found for found in present if entry and found[0].startswith(entry)]
    return matching[0] if len(matching) == 1 else None
