"""Temporary folders of Snakemake whose process was killed. A later call removes them.

Every process of Snakemake 9.27 makes one and removes it at its end. As soon as it reads our rules it marks its own
with a lock, which the kernel takes from it however it ends.
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
"""The lock of this process; until its end."""


def mark_temporary(workflow: object) -> None:
    """Mark the temporary folder of this process of Snakemake; nothing where files cannot be locked."""
    folder = getattr(workflow, "_snakemake_tmp_dir", None)
    if folder is not None:
        with contextlib.suppress(OSError):
            _held.enter_context(exclusive_now(Path(folder.name) / MARK))


def remove_dead_temporary() -> None:
    """Remove the marked folders of processes that have ended; no others, and none of a live process."""
    for folder in Path(tempfile.gettempdir()).glob("snakemake*"):
        with contextlib.suppress(OSError):
            if (folder / MARK).exists():
                with exclusive_now(folder / MARK) as dead:
                    if dead:
                        shutil.rmtree(folder, ignore_errors=True)
