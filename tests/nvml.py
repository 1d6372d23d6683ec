"""A substitute for the functions of pynvml, for tests without a GPU.

It returns what a driver returns, in the same types and units, and raises NVML's own errors for everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ctypes import c_ulonglong
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pynvml


@dataclass(frozen=True)
class Board:
    """A GPU of the simulated machine; it is its own handle."""

    uuid: str
    bus: int = 0
    name: str = "NVIDIA H100 80GB HBM3"
    used_gib: float = 0.0
    reserved_gib: float = 0.6
    pids: Sequence[int] = ()
    nvlinks: Sequence[int | None] = ()
    """PCI bus at the other end of each active NVLink; None is a switch."""
    cpus: Sequence[int] | None = None
    """CPUs of the NUMA node that it is attached to; None if driver or machine do not report them."""
    instances: Sequence[str] = ()
    """UUIDs of its MIG instances."""
    answers: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Instance:
    """A MIG instance on a board; it is its own handle, and has fewer facts than its board."""

    uuid: str
    board: Board

    @property
    def name(self) -> str:
        return f"{self.board.name} MIG 1g.10gb"


ANSWERS = {
    "nvmlDeviceGetCudaComputeCapability": (9, 0),
    "nvmlDeviceGetMaxPcieLinkGeneration": 5,
    "nvmlDeviceGetMaxPcieLinkWidth": 16,
    "nvmlDeviceGetCurrPcieLinkGeneration": 1,
    "nvmlDeviceGetCurrPcieLinkWidth": 16,
    "nvmlDeviceGetEnforcedPowerLimit": 700_000,
    "nvmlDeviceGetPowerUsage": 71_500,
    "nvmlDeviceGetMaxClockInfo": {pynvml.NVML_CLOCK_SM: 1980, pynvml.NVML_CLOCK_MEM: 2619},
    "nvmlDeviceGetClockInfo": {pynvml.NVML_CLOCK_SM: 345, pynvml.NVML_CLOCK_MEM: 2619},
    "nvmlDeviceGetTemperature": {pynvml.NVML_TEMPERATURE_GPU: 31},
    "nvmlDeviceGetPersistenceMode": 1,
    "nvmlDeviceGetEccMode": [1, 1],
    "nvmlDeviceGetNvLinkVersion": 6,
}


def affinity(cpus: Sequence[int] | None, *, words: int) -> Any:
    """Return CPUs as nvmlDeviceGetCpuAffinity does, in the requested number of 64-bit words."""
    if words < 1:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_INVALID_ARGUMENT)
    if cpus is None:
        return None
    mask = (c_ulonglong * words)()
    for cpu in cpus:
        if cpu < words * 64:
            mask[cpu // 64] |= 1 << cpu % 64
    return mask


class FakeNvml:
    """Module functions of pynvml for some boards; `running` counts initialisations without a shutdown."""

    def __init__(
        self,
        *boards: Board,
        ancestor: int = pynvml.NVML_TOPOLOGY_SYSTEM,
        failing: int = 0,
    ) -> None:
        self.boards = boards
        self.ancestor = ancestor
        self.failing = failing
        self.running = 0

    def nvmlInit(self) -> None:  # noqa: N802
        if self.failing:
            raise pynvml.NVMLError(self.failing)
        self.running += 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.running -= 1

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """The other functions: facts of the machine or of a board, or 'Not Supported'."""

        def function(*arguments: Any) -> Any:
            if not self.running:
                raise pynvml.NVMLError(pynvml.NVML_ERROR_UNINITIALIZED)
            answer = self._machine(name, arguments)
            if answer is None:
                raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
            return answer

        return function

    def _machine(self, name: str, arguments: tuple[Any, ...]) -> Any:
        if name == "nvmlDeviceGetCount":
            return len(self.boards)
        if name == "nvmlSystemGetDriverVersion":
            return "570.124.06"
        if name == "nvmlDeviceGetHandleByIndex":
            return self.boards[arguments[0]]
        if name == "nvmlDeviceGetTopologyCommonAncestor":
            return self.ancestor
        if name == "nvmlDeviceGetHandleByUUID":
            (uuid,) = arguments
            known: dict[str, Board | Instance] = {board.uuid: board for board in self.boards}
            for board in self.boards:
                known |= {instance: Instance(instance, board) for instance in board.instances}
            if uuid not in known:
                raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
            return known[uuid]
        if arguments and isinstance(arguments[0], Instance):
            return self._instance(name, arguments[0])
        board, *which = arguments
        return self._board(name, board, *which) if isinstance(board, Board) else None

    def _instance(self, name: str, instance: Instance) -> Any:
        """Return a fact of a MIG instance, which has no PCI address, clocks or affinity of its own."""
        if name == "nvmlDeviceGetDeviceHandleFromMigDeviceHandle":
            return instance.board
        if name == "nvmlDeviceGetMemoryInfo":
            return SimpleNamespace(total=10 * 2**30, used=0)
        if name == "nvmlDeviceGetComputeRunningProcesses":
            return []
        named = {"nvmlDeviceGetUUID": instance.uuid, "nvmlDeviceGetName": instance.name}
        return named.get(name)

    def _board(self, name: str, board: Board, which: int = 0) -> Any:
        if name == "nvmlDeviceGetCpuAffinity":
            return affinity(board.cpus, words=which)
        if name in ("nvmlDeviceGetUUID", "nvmlDeviceGetName"):
            return board.uuid if name.endswith("UUID") else board.name
        if name == "nvmlDeviceGetMemoryInfo":
            driver_gib = 0 if which == pynvml.nvmlMemory_v2 else board.reserved_gib
            used = (board.used_gib + driver_gib) * 2**30
            return SimpleNamespace(total=80 * 2**30, used=used)
        if name == "nvmlDeviceGetComputeRunningProcesses":
            return [SimpleNamespace(pid=pid, usedGpuMemory=None) for pid in board.pids]
        if name == "nvmlDeviceGetPciInfo":
            return SimpleNamespace(domain=0, bus=board.bus, device=0)
        if name.startswith("nvmlDeviceGetNvLink") and which >= len(board.nvlinks):
            return None
        if name == "nvmlDeviceGetNvLinkState":
            return pynvml.NVML_FEATURE_ENABLED
        if name == "nvmlDeviceGetNvLinkRemotePciInfo":
            return SimpleNamespace(domain=0, bus=board.nvlinks[which] or 255, device=0)
        if name == "nvmlDeviceGetNvLinkRemoteDeviceType":
            is_switch = board.nvlinks[which] is None
            return pynvml.NVML_NVLINK_DEVICE_TYPE_SWITCH if is_switch else pynvml.NVML_NVLINK_DEVICE_TYPE_GPU
        answer = (ANSWERS | dict(board.answers)).get(name)
        if isinstance(answer, pynvml.NVMLError):
            raise answer
        return answer[which] if isinstance(answer, dict) else answer


def switched(count: int = 8) -> list[Board]:
    """HGX: 8 GPUs with 18 NVLinks each to switches; the CPUs are two sockets."""
    return [Board(f"GPU-{number}", bus=number + 1, nvlinks=[None] * 18) for number in range(count)]


def bridged() -> list[Board]:
    """4 GPUs on PCIe in two pairs, each connected by a bridge of 12 NVLinks."""
    return [Board(f"GPU-{number}", bus=number + 1, nvlinks=[(number ^ 1) + 1] * 12) for number in range(4)]


def on_pcie(count: int = 4, generation: int = 4) -> list[Board]:
    """GPUs without NVLink."""
    answers = {"nvmlDeviceGetMaxPcieLinkGeneration": generation}
    return [Board(f"GPU-{number}", bus=number + 1, name="NVIDIA L40S", answers=answers) for number in range(count)]


def sliced() -> list[Board]:
    """One GPU in MIG mode."""
    return [Board("GPU-0", bus=1, answers={"nvmlDeviceGetMigMode": [1, 1]})]
