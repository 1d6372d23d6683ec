"""Clock, power, temperature and energy at the end of a block. Reading them between timed parts must be fast."""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pynvml

from scalestudy.record.host.cpus import SYSTEM, cpuinfo_mhz
from scalestudy.record.host.nvml import board_of, visible_gpus
from scalestudy.record.host.rapl import POWERCAP, CpuEnergy

MOST_CPUS = 8
"""A rank that is not bound may run on hundreds of CPUs; the mean clock of this many is read instead."""
SLOWEST_CLOCK_S = 200e-6
"""On a host with many CPUs and no cpufreq, reading the clock takes milliseconds; there it is not read again."""
OUT_OF_USE = {
    pynvml.NVML_ERROR_GPU_IS_LOST: "It has fallen off the bus. The kernel's log (dmesg) has its Xid. Restart the"
    " node, or use another one",
    pynvml.NVML_ERROR_RESET_REQUIRED: "Reset it (nvidia-smi --gpu-reset), or use another node",
}
"""Errors after which a GPU remains unusable, and what to do. Source: nvmlReturn_t in nvml.h: "The GPU has fallen
off the bus or has otherwise become inaccessible", "The GPU requires a reset before it can be used again"."""


class Sensors:
    """Sensors of one rank: its GPU, if it has one, and the cores it may run on when this object is made.

    uuid: the GPU's UUID from torch; '' if torch does not report it. CUDA may number GPUs in another order than
    NVML. cpu_energy: whether this rank reads the energy of the host's processors; one rank of each host does.
    """

    def __init__(
        self, device_index: int | None, *, uuid: str = "", cpu_energy: bool = False, nvml: Any = pynvml
    ) -> None:
        self._nvml = nvml
        self._handle = self._gpu(device_index, uuid)
        self._reasons = self._question_of_reasons()
        self._clock = self._clock_source()
        self._cpu_energy = CpuEnergy(POWERCAP) if cpu_energy else None

    def read(self) -> dict[str, float | None]:
        """Return all readings by name; None for what cannot be read. Never raises."""
        power_mw = self._ask("nvmlDeviceGetPowerUsage")
        energy_mj = self._ask("nvmlDeviceGetTotalEnergyConsumption")  # since the driver was loaded; from Volta on
        return {
            "gpu_power_w": None if power_mw is None else power_mw / 1e3,
            "gpu_sm_clock_mhz": self._ask("nvmlDeviceGetClockInfo", pynvml.NVML_CLOCK_SM),
            "gpu_temperature_c": self._ask("nvmlDeviceGetTemperature", pynvml.NVML_TEMPERATURE_GPU),
            "cpu_clock_mhz": self._clock(),
            "gpu_slowdown_reasons": self._ask(self._reasons) if self._reasons else None,
            "gpu_energy_j": None if energy_mj is None else energy_mj / 1e3,
            "cpu_energy_j": None if self._cpu_energy is None else self._cpu_energy.joules(),
        }

    def trouble(self) -> str:
        """Return why the GPU cannot be used any more, in sentences; '' if NVML reports nothing. Never raises."""
        if self._handle is None:
            return ""
        try:
            self._nvml.nvmlDeviceGetTemperature(self._handle, pynvml.NVML_TEMPERATURE_GPU)
        except pynvml.NVMLError as error:
            if error.value in OUT_OF_USE:
                return f"NVML reports for its GPU: {error}. {OUT_OF_USE[error.value]}"
        except Exception:
            pass  # sensors only observe
        return ""

    def _gpu(self, device_index: int | None, uuid: str) -> Any:
        """Return NVML's handle of a CUDA device; NVML stays initialised for the lifetime of the process.

        None for a slice of a GPU (MIG): the sensors cover the whole board, which other slices share.
        """
        if device_index is None:
            return None
        try:
            self._nvml.nvmlInit()
            if uuid:
                return board_of(uuid, self._nvml)
            return board_of(visible_gpus(os.environ, self._nvml)[device_index].uuid, self._nvml)
        except Exception:
            # Sensors only observe: whatever a driver does here, training continues without them.
            return None

    def _question_of_reasons(self) -> str:
        """Return this driver's name of the function that reports why clocks are reduced; '' if it has none."""
        for name in ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"):
            if self._ask(name) is not None:
                return name
        return ""

    def _ask(self, function: str, *which: int) -> float | None:
        if self._handle is None:
            return None
        try:
            return float(getattr(self._nvml, function)(self._handle, *which))
        except Exception:
            return None

    @staticmethod
    def _clock_source() -> Callable[[], float | None]:
        """Return the fastest function that reads the clock on this host."""
        cpus = sorted(os.sched_getaffinity(0))
        few = cpus[:: -(-len(cpus) // MOST_CPUS)]
        paths = [SYSTEM / f"cpu/cpu{cpu}/cpufreq/scaling_cur_freq" for cpu in few]
        sources: tuple[Callable[[], float | None], ...] = (lambda: _cpufreq_mhz(paths), cpuinfo_mhz)
        for source in sources:
            begin = time.perf_counter()
            known = source() is not None
            if known and time.perf_counter() - begin < 2 * SLOWEST_CLOCK_S:  # the first reading is the slowest
                return source
        return lambda: None


def _cpufreq_mhz(paths: list[Path]) -> float | None:
    khz = []
    for path in paths:
        with contextlib.suppress(OSError, ValueError), path.open("rb", buffering=0) as file:
            khz.append(int(file.read()))
    return sum(khz) / len(khz) / 1e3 if khz else None
