"""Where a rank runs: its cores, its threads, its device. The same rules place the baseline and all other runs."""

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pynvml
import torch

from scalestudy.errors import first_line
from scalestudy.record.host.environment import NODE
from scalestudy.record.host.nvml import NvmlError, ask, nvml_session, visible_gpus
from scalestudy.record.host.portions import decided_for
from scalestudy.study.config.conditions import Host

NO_DEVICES = ("", "-1", "NoDevFiles")
"""Values of CUDA_VISIBLE_DEVICES that mean that the job has no GPU."""


class PlacementError(RuntimeError):
    """The machine does not have what the study requires for every rank."""


@dataclass(frozen=True)
class Placement:
    """One rank's place in the job."""

    rank: int
    world_size: int
    node: str
    """The scheduler's name of this host, else its own name."""
    local_rank: int
    local_world_size: int
    cores: tuple[int, ...]
    threads: int
    device: torch.device
    backend: str
    choice: str
    """How the device was chosen, as a sentence for the log."""

    @property
    def device_name(self) -> str:
        """'cpu', or the name of the GPU."""
        return "cpu" if self.device.type == "cpu" else torch.cuda.get_device_name(self.device)

    def environment(self) -> dict[str, Any]:
        """Return device, backend and communication versions; driver and links are in the block `hardware`."""
        several, cuda = self.world_size > self.local_world_size, self.device.type == "cuda"
        if self.world_size == 1:
            interconnect = "none: one process"
        elif cuda:
            interconnect = f"links between GPUs{' and network between hosts' if several else ''} (nccl)"
        else:
            interconnect = "network between hosts (gloo)" if several else "host memory (gloo over TCP on one host)"
        return {
            "device_type": self.device.type,
            "device": self.device_name,
            "device_choice": self.choice,
            "backend": self.backend if self.world_size > 1 else None,
            "threads_per_rank": self.threads,
            "interconnect": interconnect,
            "cuda": torch.version.cuda if cuda else None,
            "nccl": ".".join(map(str, torch.cuda.nccl.version())) if cuda else None,
            "cudnn": cudnn_version() if cuda else None,
        }


def cudnn_version() -> str | None:
    """Return the version of the cuDNN that torch has loaded, as '9.1.0'; None for a build without it.

    torch returns one number: 1000 x major + 100 x minor + patch up to cuDNN 8, with 10000 x major since cuDNN 9
    (CUDNN_VERSION in cudnn_version.h).
    """
    number = torch.backends.cudnn.version()
    if not number:
        return None
    major, rest = divmod(number, 10_000 if number >= 90_000 else 1000)
    return f"{major}.{rest // 100}.{rest % 100}"


def place_rank(host: Host) -> Placement:
    """Bind this process to its cores and device. Without torchrun's variables it is the only rank.

    Raises PlacementError if there are fewer cores or devices than the ranks need, or if the GPU cannot be used.
    """
    local_rank = int(os.environ.get("LOCAL_RANK", 0))
    local_world_size = int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    cores, threads = bind_cores(host, local_rank=local_rank, local_world_size=local_world_size)
    torch.set_num_threads(threads)
    device, choice = choose_device(host, local_rank=local_rank, local_world_size=local_world_size)
    if device.type == "cuda":
        use_gpu(device)
    return Placement(
        rank=int(os.environ.get("RANK", 0)),
        world_size=int(os.environ.get("WORLD_SIZE", 1)),
        node=os.environ.get(NODE) or platform.node(),
        local_rank=local_rank,
        local_world_size=local_world_size,
        cores=cores,
        threads=torch.get_num_threads(),
        device=device,
        backend="nccl" if device.type == "cuda" else "gloo",
        choice=choice,
    )


def bind_cores(
    host: Host, *, local_rank: int, local_world_size: int, nvml: Any = pynvml
) -> tuple[tuple[int, ...], int]:
    """Bind this rank to the cores that the launcher assigned to it. Returns (its cores, its number of threads).

    A rank without a launcher uses the same assignment. Raises PlacementError if there are too few cores.
    """
    decided = decided_for(host, local_world_size, os.environ, nvml)
    each = decided.cores_per_rank
    if not host.pin:
        return decided.cpus[local_rank], each
    if any(len(cpus) < each for cpus in decided.cpus):
        raise PlacementError(
            f"{local_world_size} ranks x {each} cores need {local_world_size * each} cores on this host;"
            f" this job may use {len(os.sched_getaffinity(0))}. Request more cores, use fewer ranks, or set"
            " host.pin: false"
        )
    cores = decided.cpus[local_rank]
    os.sched_setaffinity(0, cores)
    return cores, each


def use_gpu(device: torch.device) -> None:
    """Make a GPU this process's current device. Raises PlacementError with the driver's reason if it cannot be.

    Memory that others have filled, an exclusive compute mode and a driver that does not fit end here.
    """
    try:
        torch.cuda.set_device(device)
    except RuntimeError as error:
        raise PlacementError(
            f"{device} cannot be used: {first_line(error).rstrip('.')}. Another process may use its memory, or"
            " have it for itself (nvidia-smi lists them)"
        ) from None


def unused_gpus(environment: Mapping[str, str], nvml: Any = pynvml) -> tuple[str, str]:
    """Return (why torch sees none of the GPUs that NVML lists for this job, why NVML lists none), as sentences.

    One of them is empty. Both are empty if CUDA_VISIBLE_DEVICES hides all GPUs, or the host has no GPU.
    """
    try:
        with nvml_session(nvml):
            gpus, driver = visible_gpus(environment, nvml), ask(nvml.nvmlSystemGetDriverVersion)
            present = len(visible_gpus({}, nvml))
    except NvmlError as error:
        return "", f"{error}."
    if not gpus:
        given = environment.get("CUDA_VISIBLE_DEVICES", "")
        named_none = f"CUDA_VISIBLE_DEVICES='{given}' matches none of the {present} GPU(s) of this host."
        return "", "" if given in NO_DEVICES or not present else named_none
    names = ", ".join(sorted({gpu.name for gpu in gpus}))
    made_for = f"made for CUDA {torch.version.cuda}" if torch.version.cuda else "a build without CUDA"
    return (
        f"this host has GPUs for this job ({len(gpus)}: {names}; driver {driver or 'unknown'}), but torch"
        f" {torch.__version__}, {made_for}, sees none. Install a build of torch that fits the driver, or set"
        " host.device: cpu to measure the CPU"
    ), ""


def choose_device(
    host: Host, *, local_rank: int, local_world_size: int, nvml: Any = pynvml
) -> tuple[torch.device, str]:
    """Return the device of this rank, and the reason for the choice.

    `auto` never mixes devices: it is an error if CUDA has too few devices for the ranks, or if the host has GPUs
    but torch sees none. A run silently made on the CPU would be compared with runs on GPUs.
    """
    visible = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if host.device == "cpu":
        return torch.device("cpu"), "device: cpu, as the study says; gloo"
    if visible == 0:
        unused, absent = unused_gpus(os.environ, nvml)
        if unused:
            raise PlacementError(unused)
        given = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        if host.device == "cuda":
            none = "host.device is cuda, but no CUDA device is visible to this job."
            ask_for = "Request a GPU, or set host.device: cpu"
            raise PlacementError(" ".join(filter(None, (none, absent, ask_for))))
        if given not in NO_DEVICES:
            why = absent or "Is it a build without CUDA, or one for a newer driver?"
            raise PlacementError(
                f"this job has GPUs (CUDA_VISIBLE_DEVICES={given}), but torch sees none. {why}"
                " Set host.device: cpu to measure the CPU"
            )
        return torch.device("cpu"), "device: auto -> cpu (no CUDA device is visible); gloo"
    if visible < local_world_size:
        raise PlacementError(
            f"{local_world_size} ranks need {local_world_size} CUDA devices on this host; {visible} visible."
            " Request more devices, use a smaller scale, or set host.device: cpu"
        )
    name = torch.cuda.get_device_name(local_rank)
    return torch.device("cuda", local_rank), (f"device: {host.device} -> cuda ({visible} visible, {name}); nccl")
