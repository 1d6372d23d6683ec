"""The CPUs of the ranks on this host: reads what the host tells, and tells the ranks what was decided."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pynvml

from scalestudy.record.host.affinity import Facts, Far, Portions, portions
from scalestudy.record.host.cgroup import cpu_quota_cores
from scalestudy.record.host.cpus import SYSTEM, all_cpus, core_threads, read_file, sockets
from scalestudy.record.host.nvml import NvmlError, cpu_affinity, nvml_session, visible_gpus
from scalestudy.study.config.conditions import Host

PORTIONS = "SCALESTUDY_PORTIONS"
"""Variable: what the launcher decided for the ranks of a host, as JSON. attach/portions.py reads it too."""
PCI = Path("/sys/bus/pci/devices")
NVIDIA, DISPLAY = "0x10de", "0x03"
"""Vendor of a PCI device, and the beginning of its class: VGA (0x0300) or 3D controller (0x0302), as pci.ids has
them."""


def portions_here(
    host: Host, ranks: int, environment: Mapping[str, str], nvml: Any = pynvml, **places: Any
) -> Portions:
    """The CPUs of each rank with this environment, on this host. ranks: of this host. places: for read_facts."""
    facts = read_facts(host, environment, nvml, **places)
    return portions(facts, ranks, cores_per_rank=host.cores_per_rank, pin=host.pin)


def read_facts(
    host: Host,
    environment: Mapping[str, str],
    nvml: Any = pynvml,
    *,
    usable: Sequence[int] | None = None,
    system: Path = SYSTEM,
    pci: Path = PCI,
) -> Facts:
    """What this host tells of its CPUs, and of the GPUs that such an environment sees.

    No GPU is asked for where the study says `device: cpu`. Where NVML does not answer, GPUs are counted by the
    kernel if the study says `device: cuda`, since `auto` may mean the CPU then. usable: CPUs of the job; this
    process's own if None. system, pci: folders of the kernel.
    """
    gpus: dict[str, Any] = {}
    if host.device != "cpu":
        try:
            with nvml_session(nvml):
                gpus = _gpus(environment, nvml, cpus=all_cpus(system), pci=pci)
        except NvmlError:
            gpus = {"gpus": present_gpus(pci)} if host.device == "cuda" else {}
    return Facts(
        usable=tuple(sorted(os.sched_getaffinity(0) if usable is None else usable)),
        cores=core_threads(system),
        sockets=sockets(system),
        quota_cores=cpu_quota_cores(),
        **gpus,
    )


def _gpus(environment: Mapping[str, str], nvml: Any, *, cpus: int, pci: Path) -> dict[str, Any]:
    """The facts of the GPUs, within nvml_session; {} where none is visible. cpus: of the host."""
    visible = visible_gpus(environment, nvml)
    if not visible:
        return {}
    boards = {gpu.uuid: cpu_affinity(gpu, cpus, nvml) for gpu in visible_gpus({}, nvml)}
    order = list(boards)
    are_boards = all(gpu.uuid in boards for gpu in visible)
    return {
        "near": tuple(cpu_affinity(gpu, cpus, nvml) for gpu in visible),
        "boards": tuple(boards.values()),
        "visible": tuple(order.index(gpu.uuid) for gpu in visible) if are_boards else (),
        "gpus": max(len(boards), present_gpus(pci)),
    }


def present_gpus(pci: Path = PCI) -> int:
    """NVIDIA's GPUs on the PCI bus. A container sees all of them there, also those that are not its own."""
    return sum(
        read_file(folder / "vendor") == NVIDIA and (read_file(folder / "class") or "").startswith(DISPLAY)
        for folder in (pci.iterdir() if pci.is_dir() else ())
    )


def tell(decided: Portions) -> dict[str, str]:
    """The variable by which ranks are told what was decided for them."""
    return {PORTIONS: json.dumps(asdict(decided), separators=(",", ":"))}


def decided_for(host: Host, ranks: int, environment: Mapping[str, str], nvml: Any = pynvml) -> Portions:
    """What the launcher decided for the ranks with this environment, or what it would decide where none did."""
    return told(environment) or portions_here(host, ranks, environment, nvml)


def told(environment: Mapping[str, str]) -> Portions | None:
    """What the launcher decided; None where no launcher started this process."""
    if PORTIONS not in environment:
        return None
    content = json.loads(environment[PORTIONS])
    return Portions(
        content["cores_per_rank"],
        tuple(tuple(cpus) for cpus in content["cpus"]),
        tuple(Far(**far) for far in content["far"]),
    )
