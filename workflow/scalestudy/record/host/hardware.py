"""The hardware of a run as one block: processor, memory, and GPUs with what joins them. Nothing here needs torch.

A key that begins with `current_` is a reading of the moment before the launch; it differs from run to run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psutil
import pynvml

from scalestudy.record.host.cgroup import cpu_quota_cores, memory_limit_gib
from scalestudy.record.host.cpus import cpu_facts
from scalestudy.record.host.gpus import gpu_facts


def hardware_facts(environment: Mapping[str, str], nvml: Any = pynvml) -> dict[str, Any]:
    """What ranks with this environment (its CUDA_VISIBLE_DEVICES counts) find on this host."""
    return {
        "cpu": cpu_facts() | {"quota_cores": cpu_quota_cores()},
        "memory": {
            "total_gib": round(psutil.virtual_memory().total / 2**30, 1),
            "limit_gib": memory_limit_gib(),
        },
        "gpu": gpu_facts(environment, nvml),
    }
