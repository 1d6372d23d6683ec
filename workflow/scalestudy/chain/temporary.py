"""Removes temporary folders of Snakemake processes that were killed.

Every process of Snakemake 9.27 creates such a folder and removes it at its end. As soon as the process reads our
rules, it marks its folder with a lock, which the kernel releases however the process ends.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

from scalestudy.record.lock import exclusive_now

MARK = "scalestudy.lock"
_held = ExitStack()
"""The lock that this process holds until its end."""


def mark_temporary(workflow: object) -> None:
    """Mark the temporary folder of this Snakemake process. Does nothing where files cannot be locked."""
    folder = getattr(workflow, "_snakemake_tmp_dir", None)
    if folder is not None:
        with contextlib.suppress(OSError):
            _held.enter_context(exclusive_now(Path(folder.name) / MARK))


def remove_dead_temporary() -> None:
    """Remove the marked folders of processes that have ended, and no others."""
    for folder in Path(tempfile.gettempdir()).glob("snakemake*"):
        with contextlib.suppress(OSError):
            if (folder / MARK).exists():
                with exclusive_now(folder / MARK) as dead:
                    if dead:
                        shutil.rmtree(folder, ignore_errors=True)
