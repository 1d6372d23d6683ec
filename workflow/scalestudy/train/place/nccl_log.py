"""Has NCCL say over what its channels go, in files of its own, where the user has not set up its log.

A line for each channel and peer, written while NCCL connects: nothing is printed during the training. A file,
because NCCL does not flush what it prints on standard output, and a rank ends by `os._exit`. NCCL does not buffer
a file (NVIDIA/nccl, src/debug.cc). The launcher reads the files (launch/nccl_log.py) and removes them.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from pathlib import Path

from scalestudy.record.parts import NCCL_LOG_PREFIX, NCCL_LOG_SUFFIX
from scalestudy.train.place.placement import Placement

OF_ITS_LOG = ("NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_DEBUG_SUBSYS")
CONF_FILE = "NCCL_CONF_FILE"
CONF_FILES = ("/etc/nccl.conf", "~/.nccl.conf")
"""Where NCCL reads variables that the environment lacks (its user guide, "Environment Variables")."""
SUBSYSTEMS = "P2P,SHM,NET"
"""Those that say which transport a channel takes. Warnings are of no subsystem and are always written."""


def log_transports(place: Placement, directory: Path, environment: MutableMapping[str, str] = os.environ) -> None:
    """Ask NCCL for its transports before it makes a communicator. directory: of the launch, shared by its nodes.

    Nothing is set where the user has set any of OF_ITS_LOG, or names one in a file of NCCL's.
    """
    if place.world_size == 1 or place.backend != "nccl" or _is_set(environment):
        return
    # In the name of the file NCCL replaces %h and %p by host and process.
    folder = str(directory.resolve()).replace("%", "%%")
    file = f"{folder}/{NCCL_LOG_PREFIX}%h-%p{NCCL_LOG_SUFFIX}"
    environment.update(dict(zip(OF_ITS_LOG, ("INFO", file, SUBSYSTEMS), strict=True)))


def _is_set(environment: MutableMapping[str, str]) -> bool:
    """Whether the user has set up NCCL's log, by a variable or in a file."""
    if any(name in environment for name in OF_ITS_LOG):
        return True
    for file in (*CONF_FILES, environment.get(CONF_FILE, "")):
        try:
            text = Path(file).expanduser().read_text(encoding="utf-8", errors="replace") if file else ""
        except (OSError, RuntimeError):  # none, not ours to read, or no home
            continue
        if OF_ITS_LOG[0] in text:
            return True
    return False
