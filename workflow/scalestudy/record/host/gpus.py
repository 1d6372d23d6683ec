"""The facts on GPUs that a paper reports: model, memory, bus, limits, modes, and the link of every pair."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pynvml

from scalestudy.record.host.cpus import all_cpus, in_short
from scalestudy.record.host.links import UNREADABLE, write_nvlinks
from scalestudy.record.host.nvml import Gpu, NvmlError, ask, cpu_affinity, nvml_session, visible_gpus

# As `nvidia-smi topo -m` spells them.
ANCESTORS = {
    pynvml.NVML_TOPOLOGY_INTERNAL: "PIX",
    pynvml.NVML_TOPOLOGY_SINGLE: "PIX",
    pynvml.NVML_TOPOLOGY_MULTIPLE: "PXB",
    pynvml.NVML_TOPOLOGY_HOSTBRIDGE: "PHB",
    pynvml.NVML_TOPOLOGY_NODE: "NODE",
    pynvml.NVML_TOPOLOGY_SYSTEM: "SYS",
}
# nvmlNvlinkVersion_t; older bindings return its numbers but have no names for them.
NVLINK_VERSIONS = {1: "1.0", 2: "2.0", 3: "2.2", 4: "3.0", 5: "3.1", 6: "4.0", 7: "5.0", 8: "6.0"}


def gpu_facts(environment: Mapping[str, str], nvml: Any = pynvml) -> dict[str, Any]:
    """Return `note` (empty if NVML works), `devices` and `links` of the GPUs that this environment sees."""
    try:
        with nvml_session(nvml):
            gpus = visible_gpus(environment, nvml)
            driver = ask(nvml.nvmlSystemGetDriverVersion)
            devices = [{"driver": driver} | _device(gpu, nvml) for gpu in gpus]
            links = {f"{a.index}-{b.index}": link(a, b, nvml) for a, b in combinations(gpus, 2)}
    except NvmlError as error:
        return {"note": str(error), "devices": [], "links": {}}
    return {"note": "" if gpus else "no GPU is visible", "devices": devices, "links": links}


def _device(gpu: Gpu, nvml: Any) -> dict[str, Any]:
    """Return the facts of one device; None for what it does not report. `current_` marks a momentary reading."""
    handle = gpu.handle
    memory = ask(nvml.nvmlDeviceGetMemoryInfo, handle)
    capability = ask(nvml.nvmlDeviceGetCudaComputeCapability, handle)
    near = cpu_affinity(gpu, all_cpus(), nvml)
    limit_mw = ask(nvml.nvmlDeviceGetEnforcedPowerLimit, handle)
    return {
        "name": gpu.name,
        "uuid": gpu.uuid,
        "memory_gib": None if memory is None else round(memory.total / 2**30, 1),
        "compute_capability": None if capability is None else ".".join(map(str, capability)),
        "pcie_generation": ask(nvml.nvmlDeviceGetMaxPcieLinkGeneration, handle),
        "pcie_width": ask(nvml.nvmlDeviceGetMaxPcieLinkWidth, handle),
        "current_pcie_generation": ask(nvml.nvmlDeviceGetCurrPcieLinkGeneration, handle),
        "current_pcie_width": ask(nvml.nvmlDeviceGetCurrPcieLinkWidth, handle),
        "power_limit_w": None if limit_mw is None else limit_mw / 1e3,
        "max_sm_clock_mhz": ask(nvml.nvmlDeviceGetMaxClockInfo, handle, pynvml.NVML_CLOCK_SM),
        "max_memory_clock_mhz": ask(nvml.nvmlDeviceGetMaxClockInfo, handle, pynvml.NVML_CLOCK_MEM),
        "current_sm_clock_mhz": ask(nvml.nvmlDeviceGetClockInfo, handle, pynvml.NVML_CLOCK_SM),
        "current_memory_clock_mhz": ask(nvml.nvmlDeviceGetClockInfo, handle, pynvml.NVML_CLOCK_MEM),
        "current_temperature_c": ask(nvml.nvmlDeviceGetTemperature, handle, pynvml.NVML_TEMPERATURE_GPU),
        "persistence_mode": _on_or_off(ask(nvml.nvmlDeviceGetPersistenceMode, handle)),
        "ecc_mode": _on_or_off(ask(nvml.nvmlDeviceGetEccMode, handle)),
        "cpus": None if near is None else in_short(near),
        "mig_mode": _on_or_off(ask(nvml.nvmlDeviceGetMigMode, handle)),
    }


def _on_or_off(mode: Any) -> str | None:
    """Return 'on' or 'off' for a mode; of NVML's pair (now, after the next reset), the present one counts."""
    if mode is None:
        return None
    return "on" if (mode[0] if isinstance(mode, list | tuple) else mode) else "off"


def link(first: Gpu, second: Gpu, nvml: Any = pynvml) -> str:
    """Return the link of two devices: 'NV18 (NVLink 4.0)', or the class of their common PCIe ancestor."""
    count = _direct_nvlinks(first, second, nvml) or min(_switched_nvlinks(gpu, nvml) for gpu in (first, second))
    if count:
        versions = {ask(nvml.nvmlDeviceGetNvLinkVersion, first.handle, number) for number in _active(first, nvml)}
        return write_nvlinks(
            count, [NVLINK_VERSIONS[known] for known in sorted(versions & NVLINK_VERSIONS.keys())]
        )
    level = ask(nvml.nvmlDeviceGetTopologyCommonAncestor, first.handle, second.handle)
    return ANCESTORS.get(level, UNREADABLE)


def _active(gpu: Gpu, nvml: Any) -> list[int]:
    """Return the numbers of a device's active NVLinks."""
    return [
        number
        for number in range(pynvml.NVML_NVLINK_MAX_LINKS)
        if ask(nvml.nvmlDeviceGetNvLinkState, gpu.handle, number) == pynvml.NVML_FEATURE_ENABLED
    ]


def _direct_nvlinks(first: Gpu, second: Gpu, nvml: Any) -> int:
    """Return the number of NVLinks that connect the two devices directly."""
    there = _place(ask(nvml.nvmlDeviceGetPciInfo, second.handle))
    ends = [_place(ask(nvml.nvmlDeviceGetNvLinkRemotePciInfo, first.handle, n)) for n in _active(first, nvml)]
    return 0 if there is None else ends.count(there)


def _switched_nvlinks(gpu: Gpu, nvml: Any) -> int:
    """Return the number of NVLinks to a switch, through which a device reaches every other device on it."""
    kinds = [ask(nvml.nvmlDeviceGetNvLinkRemoteDeviceType, gpu.handle, number) for number in _active(gpu, nvml)]
    return kinds.count(pynvml.NVML_NVLINK_DEVICE_TYPE_SWITCH)


def _place(pci: Any) -> tuple[int, int, int] | None:
    return None if pci is None else (pci.domain, pci.bus, pci.device)
