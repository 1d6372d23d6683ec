"""Which devices launches will run on, as far as that is known before one is made."""

import os

from scalestudy.record.host.nvml import NvmlError, nvml_session, visible_gpus
from scalestudy.study.config.conditions import Host


def runs_on_cuda(host: Host) -> bool:
    """Whether launches of a study run on CUDA devices: as `host.device` says, or where a GPU is visible."""
    if host.device != "auto":
        return host.device == "cuda"
    try:
        with nvml_session():
            return bool(visible_gpus(os.environ))
    except NvmlError:
        return False
