"""Processes of others on the GPUs of a launch."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import pynvml

from scalestudy.record.host.nvml import Gpu, NvmlError, ask, nvml_session, visible_gpus
from scalestudy.study.spec import RunSpec


class GpuOthers:
    """Asks NVML again and again; without GPUs, or without an answer, there are none."""

    def __init__(self, spec: RunSpec, environment: Mapping[str, str], nvml: Any = pynvml) -> None:
        self._nvml, self._open = nvml, contextlib.ExitStack()
        self._gpus: list[Gpu] = []
        if spec.host.device == "cpu":
            return
        with contextlib.suppress(NvmlError):
            self._open.enter_context(nvml_session(nvml))
            self._gpus = visible_gpus(environment, nvml)[: spec.devices_per_node]

    def count(self, own: set[int]) -> int:
        """Processes of others that compute on the launch's GPUs now. own: processes of the launch.

        Where no process of the launch is among those of a GPU, numbers may be of another namespace: then one
        process of each GPU counts as the launch's.
        """
        return sum(self._on(gpu, own) for gpu in self._gpus)

    def _on(self, gpu: Gpu, own: set[int]) -> int:
        found = {process.pid for process in ask(self._nvml.nvmlDeviceGetComputeRunningProcesses, gpu.handle) or []}
        return len(found - own) if found & own else max(0, len(found) - 1)

    def close(self) -> None:
        """End the session with NVML."""
        self._open.close()
