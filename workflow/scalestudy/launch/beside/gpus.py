"""Counts foreign processes on the GPUs of a run."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import pynvml

from scalestudy.record.host.nvml import Gpu, NvmlError, ask, nvml_session, visible_gpus
from scalestudy.study.spec import RunSpec


class GpuOthers:
    """Queries NVML repeatedly. Without GPUs, or where NVML does not answer, the count is 0."""

    def __init__(self, spec: RunSpec, environment: Mapping[str, str], nvml: Any = pynvml) -> None:
        self._nvml, self._open = nvml, contextlib.ExitStack()
        self._gpus: list[Gpu] = []
        if spec.host.device == "cpu":
            return
        with contextlib.suppress(NvmlError):
            self._open.enter_context(nvml_session(nvml))
            self._gpus = visible_gpus(environment, nvml)[: spec.devices_per_node]

    def count(self, own: set[int]) -> int:
        """Number of foreign processes that compute on the run's GPUs now. own: ids of the run's own processes.

        Where none of the run's processes is listed for a GPU, NVML may report ids of another namespace. One
        process of that GPU then counts as the run's own.
        """
        return sum(self._on(gpu, own) for gpu in self._gpus)

    def _on(self, gpu: Gpu, own: set[int]) -> int:
        found = {process.pid for process in ask(self._nvml.nvmlDeviceGetComputeRunningProcesses, gpu.handle) or []}
        return len(found - own) if found & own else max(0, len(found) - 1)

    def close(self) -> None:
        """End the session with NVML."""
        self._open.close()
