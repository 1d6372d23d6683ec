"""The CPUs of the ranks on this host: reads the facts of the host, and passes the assignment to the ranks."""

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
"""Environment variable with the launcher's assignment for the ranks of a host, as JSON. attach/portions.py reads
it too."""
PCI = Path("/sys/bus/pci/devices")
NVIDIA, DISPLAY = "0x10de", "0x03"
"""Vendor of a PCI device, and the beginning of its class: VGA (0x0300) or 3D controller (0x0302); see pci.ids."""


def portions_here(
    host: Host, ranks: int, environment: Mapping[str, str], nvml: Any = pynvml, **places: Any
) -> Portions:
    """Return the CPUs of each rank with this environment, on this host.

    ranks: number of ranks on this host. places: further arguments of read_facts.
    """
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
    """Read the facts on the CPUs of this host, and on the GPUs that this environment sees.

    GPUs are not read if the study sets `device: cpu`. If NVML does not answer, the GPUs on the PCI bus are
    counted, but only with `device: cuda`, since `auto` may then mean the CPU. usable: CPUs of the job; None for
    those of this process. system, pci: folders of the kernel.
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
    """Return the facts on the GPUs; {} if no GPU is visible. Needs nvml_session. cpus: as in cpu_affinity."""
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
    """Return the number of NVIDIA GPUs on the PCI bus. A container sees all of them, not only its own."""
    return sum(
        read_file(folder / "vendor") == NVIDIA and (read_file(folder / "class") or "").startswith(DISPLAY)
        for folder in (pci.iterdir() if pci.is_dir() else ())
    )


def tell(decided: Portions) -> dict[str, str]:
    """Return the environment variable that passes the assignment to the ranks."""
    return {PORTIONS: json.dumps(asdict(decided), separators=(",", ":"))}


def decided_for(host: Host, ranks: int, environment: Mapping[str, str], nvml: Any = pynvml) -> Portions:
    """Return the launcher's assignment for ranks with this environment, or compute it if no launcher made one."""
    return told(environment) or portions_here(host, ranks, environment, nvml)


def told(environment: Mapping[str, str]) -> Portions | None:
    """Return the launcher's assignment; None if no launcher started this process."""
    if PORTIONS not in environment:
        return None
    content = json.loads(environment[PORTIONS])
    return Portions(
        content["cores_per_rank"],
        tuple(tuple(cpus) for cpus in content["cpus"]),
        tuple(Far(**far) for far in content["far"]),
    )
