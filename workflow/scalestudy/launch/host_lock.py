"""Which lock a measurement holds while it runs."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from scalestudy.launch.slurm.job import job_id


def host_lock() -> Path:
    """The lock of this host's devices. Two measurements of one user never overlap, whoever started them.

    Inside a SLURM job the allocation separates jobs already, and a node may well hold several.
    """
    job = job_id(os.environ)
    name = f"scalestudy-{os.getuid()}{f'-job{job}' if job else ''}.lock"
    return Path(tempfile.gettempdir()) / name
