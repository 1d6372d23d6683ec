"""Determines which devices runs will use, before any run is made."""

import os

from scalestudy.record.host.nvml import NvmlError, nvml_session, visible_gpus
from scalestudy.study.config.conditions import Host


def runs_on_cuda(host: Host) -> bool:
    """Whether runs of a study use CUDA devices: as set by `host.device`, or if a GPU is visible."""
    if host.device != "auto":
        return host.device == "cuda"
    try:
        with nvml_session():
            return bool(visible_gpus(os.environ))
    except NvmlError:
        return False
