"""Checks the GPUs just before a run, through NVML: whether there are enough, and whether others use them."""

from collections.abc import Mapping
from typing import Any

import pynvml

from scalestudy.record.host.nvml import Gpu, NvmlError, ask, nvml_session, visible_gpus
from scalestudy.study.config.conditions import LEAST_CORES
from scalestudy.study.spec import RunSpec

USED_MEMORY_GIB = 1.0
"""A device with more memory in use than this, without the driver's own part, counts as occupied."""


def check_gpus(
    spec: RunSpec, environment: Mapping[str, str], nvml: Any = pynvml, *, cores: int
) -> tuple[str | None, list[dict[str, str]]]:
    """Return (refusal or None, warnings) for ranks with this environment. cores: physical cores of each rank.

    Only a study with `device: cuda` is refused here. With `auto`, torch chooses the device in the ranks and may
    use the CPU.
    """
    if spec.host.device == "cpu":
        return None, []
    try:
        with nvml_session(nvml):
            gpus = visible_gpus(environment, nvml)
            used = gpus[: spec.devices_per_node]
            found = [*(("GPU in use", occupied(gpu, nvml)) for gpu in used), ("unlike GPUs", unlike(used))]
            found.append(("few cores for a GPU", few_cores(spec, cores) if gpus else ""))
    except NvmlError as error:
        # CUDA may work without NVML; otherwise the ranks refuse to train.
        text = f"the GPUs could not be checked before this run: {error}"
        return None, [{"kind": "GPUs not checked", "text": text}] if spec.host.device == "cuda" else []
    warnings = [{"kind": kind, "text": text} for kind, text in found if text]
    return (too_few(spec, gpus, environment) if spec.host.device == "cuda" else None), warnings


def too_few(spec: RunSpec, gpus: list[Gpu], environment: Mapping[str, str]) -> str | None:
    """Why there are too few devices for the ranks, and what to do; None where there are enough."""
    ranks, visible = spec.devices_per_node, environment.get("CUDA_VISIBLE_DEVICES")
    if len(gpus) >= ranks:
        return None
    through = "" if visible is None else f" through CUDA_VISIBLE_DEVICES='{visible}'"
    return (
        f"host.device is cuda and {ranks} rank(s) need {ranks} CUDA device(s) on this host, but {len(gpus)} are"
        f" visible{through}. Request more devices, use a smaller scale, or set host.device: cpu"
    )


def few_cores(spec: RunSpec, cores: int) -> str:
    """A warning for ranks on GPUs that are bound to fewer than LEAST_CORES physical cores; else empty."""
    if not spec.host.pin or cores >= LEAST_CORES:
        return ""
    return (
        f"every rank on a GPU is bound to {cores} core(s); with fewer than {LEAST_CORES}, the GPU may wait for"
        f" input data and kernel launches. Request at least {LEAST_CORES} cores per GPU (host.cores_per_rank)"
    )


def occupied(gpu: Gpu, nvml: Any = pynvml) -> str:
    """A warning for a device with other processes, or with memory that an invisible process (in another container)
    uses; else empty."""
    used_gib = used_memory_gib(gpu, nvml)
    held = "an unknown part" if used_gib is None else f"{used_gib:.1f} GiB"
    processes = ask(nvml.nvmlDeviceGetComputeRunningProcesses, gpu.handle) or []
    if processes:
        pids = ", ".join(str(process.pid) for process in processes)
        return f"{gpu} was in use just before this run: {held} of its memory, by pid {pids}"
    if used_gib is not None and used_gib > USED_MEMORY_GIB:
        return f"{gpu} had {held} of its memory in use just before this run, by a process that is not visible here"
    return ""


def used_memory_gib(gpu: Gpu, nvml: Any = pynvml) -> float | None:
    """Memory in use on a device, without the driver's own part where the driver reports that; None if unknown."""
    memory = ask(nvml.nvmlDeviceGetMemoryInfo, gpu.handle, pynvml.nvmlMemory_v2)
    if memory is None:
        memory = ask(nvml.nvmlDeviceGetMemoryInfo, gpu.handle)
    return None if memory is None else memory.used / 2**30


def unlike(gpus: list[Gpu]) -> str:
    """A warning for ranks on different GPU models, else empty.

    Such ranks wait for the slowest one, and CUDA may number these devices differently from NVML.
    """
    names = sorted({gpu.name for gpu in gpus})
    return f"the ranks of this run get GPUs of different models: {', '.join(names)}" if len(names) > 1 else ""
