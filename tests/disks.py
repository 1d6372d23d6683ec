"""Disks with something wrong with them, made for real: full ones, read-only ones, ones that went away.

Mounting needs root. Where a test cannot mount, it is skipped and says so.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

UNPRIVILEGED = ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", "--inh-caps=-all")
"""Before a command: it runs as this user, but root's right to write everywhere is gone."""
NO_EXTRA = ("mount", "umount", "setpriv")


def state_of(folder: Path) -> dict[str, bytes]:
    """Content of every file below a folder, by its relative name."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


@functools.cache
def why_no_mounts() -> str:
    """Why nothing can be mounted here; '' where it can."""
    if os.geteuid() != 0:
        return "mounting a small disk needs root"
    if missing := [name for name in NO_EXTRA if shutil.which(name) is None]:
        return f"{', '.join(missing)} missing; on Debian: apt-get install util-linux"
    folder = Path(tempfile.mkdtemp())
    tried = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], capture_output=True, text=True
    )
    if tried.returncode == 0:
        subprocess.run(["umount", str(folder)], check=True)
    folder.rmdir()
    return "" if tried.returncode == 0 else f"nothing can be mounted here: {tried.stderr.strip()}"


@contextlib.contextmanager
def disk(folder: Path, *, size: str = "64m", options: str = "") -> Iterator[Path]:
    """A small disk in the place of a folder, which is made; skips the test where nothing can be mounted."""
    if why := why_no_mounts():
        pytest.skip(why)
    folder.mkdir(parents=True, exist_ok=True)
    given = f"size={size}" + (f",{options}" if options else "")
    subprocess.run(["mount", "-t", "tmpfs", "-o", given, "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        if os.path.ismount(folder):
            subprocess.run(["umount", "-l", str(folder)], check=True)


@contextlib.contextmanager
def full(folder: Path) -> Iterator[None]:
    """Meanwhile there is no byte left on the disk of a folder."""
    filler = folder / ".filler"
    with filler.open("wb", buffering=0) as file:
        for block in (1 << 20, 4096, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(bytes(block))
    try:
        yield
    finally:
        filler.unlink(missing_ok=True)


@contextlib.contextmanager
def without_inodes(folder: Path) -> Iterator[None]:
    """Meanwhile no file can be made on the disk of a folder, though it has room."""
    made = []
    with contextlib.suppress(OSError):
        while True:
            made.append(folder / f".filler-{len(made)}")
            made[-1].touch(exist_ok=False)
    try:
        yield
    finally:
        for path in made:
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Meanwhile the disk of a folder cannot be written to."""
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(folder)], check=True)


@contextlib.contextmanager
def not_ours(folder: Path) -> Iterator[None]:
    """Meanwhile folder and files belong to somebody else, for whoever runs behind UNPRIVILEGED."""
    paths = [folder, *folder.rglob("*")]
    modes = {path: path.stat().st_mode for path in paths}
    for path in paths:
        os.chown(path, 65534, 65534)
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        yield
    finally:
        for path, mode in modes.items():
            os.chown(path, 0, 0)
            path.chmod(mode)
