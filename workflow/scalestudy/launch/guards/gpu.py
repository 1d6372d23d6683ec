"""The GPUs just before a launch, through NVML: whether there are enough, and whether somebody else is on them."""

from collections.abc import Mapping
from typing import Any

import pynvml

from scalestudy.record.host.nvml import Gpu, NvmlError, ask, nvml_session, visible_gpus
from scalestudy.study.config.conditions import LEAST_CORES
from scalestudy.study.spec import RunSpec

USED_MEMORY_GIB = 1.0
"""Memory in use, beyond what the driver keeps for itself, from which a device counts as occupied."""


def check_gpus(
    spec: RunSpec, environment: Mapping[str, str], nvml: Any = pynvml, *, cores: int
) -> tuple[str | None, list[dict[str, str]]]:
    """(refusal or None, warnings) for ranks with this environment. cores: physical ones of each rank.

    Only a study that insists on CUDA is refused here: `auto` may fall back to the CPU, and it is torch that knows.
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
        # Without NVML there may still be CUDA; the ranks refuse themselves where there is none.
        text = f"the GPUs could not be looked at before this launch: {error}"
        return None, [{"kind": "GPUs not checked", "text": text}] if spec.host.device == "cuda" else []
    warnings = [{"kind": kind, "text": text} for kind, text in found if text]
    return (too_few(spec, gpus, environment) if spec.host.device == "cuda" else None), warnings


def too_few(spec: RunSpec, gpus: list[Gpu], environment: Mapping[str, str]) -> str | None:
    """Why these devices do not do for the ranks, and what would; None where they do."""
    ranks, visible = spec.devices_per_node, environment.get("CUDA_VISIBLE_DEVICES")
    if len(gpus) >= ranks:
        return None
    through = "" if visible is None else f" through CUDA_VISIBLE_DEVICES='{visible}'"
    return (
        f"host.device is cuda and {ranks} rank(s) need {ranks} CUDA device(s) on this host; {len(gpus)} visible"
        f"{through}. Ask for more devices, use a smaller scale, or set host.device: cpu"
    )


def few_cores(spec: RunSpec, cores: int) -> str:
    """Ranks on GPUs that are bound to fewer than LEAST_CORES physical cores."""
    if not spec.host.pin or cores >= LEAST_CORES:
        return ""
    return (
        f"every rank on a GPU is bound to {cores} core(s); fewer than {LEAST_CORES} may keep the GPU waiting for"
        f" its input and its launches. Ask for {LEAST_CORES} or more for each GPU (host.cores_per_rank)"
    )


def occupied(gpu: Gpu, nvml: Any = pynvml) -> str:
    """Other processes on a device, and memory that is gone although no process is seen (another container's)."""
    used_gib = used_memory_gib(gpu, nvml)
    held = "an unknown part" if used_gib is None else f"{used_gib:.1f} GiB"
    processes = ask(nvml.nvmlDeviceGetComputeRunningProcesses, gpu.handle) or []
    if processes:
        pids = ", ".join(str(process.pid) for process in processes)
        return f"{gpu} was in use just before this launch: {held} of its memory, by pid {pids}"
    if used_gib is not None and used_gib > USED_MEMORY_GIB:
        return f"{gpu} had {held} of its memory in use just before this launch, by a process that is not seen here"
    return ""


def used_memory_gib(gpu: Gpu, nvml: Any = pynvml) -> float | None:
    """Memory in use on a device without the driver's own part, where the driver tells them apart."""
    memory = ask(nvml.nvmlDeviceGetMemoryInfo, gpu.handle, pynvml.nvmlMemory_v2)
    if memory is None:
        memory = ask(nvml.nvmlDeviceGetMemoryInfo, gpu.handle)
    return None if memory is None else memory.used / 2**30


def unlike(gpus: list[Gpu]) -> str:
    """Ranks on different models wait for the slowest; and then CUDA's numbers need not be NVML's."""
    names = sorted({gpu.name for gpu in gpus})
    return f"the ranks of this launch get GPUs of different models: {', '.join(names)}" if len(names) > 1 else ""
