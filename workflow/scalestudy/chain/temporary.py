"""Removes temporary folders of processes that were killed.

Every process of Snakemake 9.27 creates such a folder and removes it at its end, and so does a process that draws
figures. As soon as Snakemake reads our rules, it marks its folder with a lock, which the kernel releases however
the process ends. The solver of Snakemake's scheduler writes its files to that folder too.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

from scalestudy.record.lock import exclusive_now

MARK = "scalestudy.lock"
OF_FONTS = "scalestudy-font-"
"""Prefix of the folders of processes that draw figures."""
_held = ExitStack()
"""Locks that this process holds until its end."""


def mark_temporary(workflow: object) -> None:
    """Mark the temporary folder of this Snakemake process. Does nothing where files cannot be locked."""
    folder = getattr(workflow, "_snakemake_tmp_dir", None)
    if folder is not None:
        mark(Path(folder.name))
        solve_in(Path(folder.name))


def solve_in(folder: Path) -> None:
    """Let PuLP write the files of its solvers to this folder. Snakemake has no option for that."""
    with contextlib.suppress(ImportError, AttributeError):
        import pulp
        from pulp.apis.core import LpSolver_CMD

        LpSolver_CMD.setTmpDir = lambda solver: setattr(solver, "tmpDir", str(folder))
        pulp.apis.LpSolverDefault.setTmpDir()


def mark(folder: Path) -> None:
    """Mark a folder as one of this process until its end. Does nothing where files cannot be locked.

    The mark gets its name once it is locked, so that no other process finds it unlocked and removes the folder.
    """
    with contextlib.suppress(OSError):
        _held.enter_context(exclusive_now(folder / f"{MARK}.new"))
        (folder / f"{MARK}.new").rename(folder / MARK)


def remove_dead_temporary() -> None:
    """Remove the marked folders of processes that have ended, and no others."""
    place = Path(tempfile.gettempdir())
    for folder in (*place.glob("snakemake*"), *place.glob(f"{OF_FONTS}*")):
        with contextlib.suppress(OSError):
            if (folder / MARK).exists():
                with exclusive_now(folder / MARK) as dead:
                    if dead:
                        shutil.rmtree(folder, ignore_errors=True)
