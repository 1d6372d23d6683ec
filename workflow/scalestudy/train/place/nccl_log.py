"""Makes NCCL log the transports of its channels to files, unless the user has set up its log.

NCCL writes a line per channel and peer while it connects, and nothing during training. Files are used since NCCL
does not flush standard output, and a rank ends by `os._exit`; NCCL does not buffer a file (NVIDIA/nccl,
src/debug.cc). The launcher reads the files (launch/nccl_log.py) and removes them.
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
"""Files from which NCCL reads variables that the environment lacks (its user guide, "Environment Variables")."""
SUBSYSTEMS = "P2P,SHM,NET"
"""NCCL's subsystems that log the transport of a channel. Warnings have no subsystem and are always written."""


def log_transports(place: Placement, directory: Path, environment: MutableMapping[str, str] = os.environ) -> None:
    """Set NCCL's variables so that it logs its transports; call this before it makes a communicator.

    directory: the run's partial directory, shared by its nodes. Nothing is set if the user has set any of
    OF_ITS_LOG, or if a configuration file of NCCL contains NCCL_DEBUG.
    """
    if place.world_size == 1 or place.backend != "nccl" or _is_set(environment):
        return
    # NCCL replaces %h and %p in the file name by host and process.
    folder = str(directory.resolve()).replace("%", "%%")
    file = f"{folder}/{NCCL_LOG_PREFIX}%h-%p{NCCL_LOG_SUFFIX}"
    environment.update(dict(zip(OF_ITS_LOG, ("INFO", file, SUBSYSTEMS), strict=True)))


def _is_set(environment: MutableMapping[str, str]) -> bool:
    """Return whether the user has set up NCCL's log, by a variable or in a file."""
    if any(name in environment for name in OF_ITS_LOG):
        return True
    for file in (*CONF_FILES, environment.get(CONF_FILE, "")):
        try:
            text = Path(file).expanduser().read_text(encoding="utf-8", errors="replace") if file else ""
        except (OSError, RuntimeError):  # no such file, not readable, or no home folder
            continue
        if OF_ITS_LOG[0] in text:
            return True
    return False
