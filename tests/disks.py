"""Real disks with faults: full, read-only, or gone.

Mounting needs root. Tests that cannot mount are skipped with the reason.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import wait_for

UNPRIVILEGED = ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner", "--inh-caps=-all")
"""Prefix of a command that drops root's right to write everywhere; the user stays the same."""
NO_EXTRA = ("mount", "umount", "setpriv")


def state_of(folder: Path) -> dict[str, bytes]:
    """Return relative name -> content of every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


@functools.cache
def why_no_mounts() -> str:
    """Return why nothing can be mounted here; '' if it can."""
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
    """Mount a small disk on a folder, which is created; skip the test if nothing can be mounted."""
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
    """Fill the disk of a folder completely during the context."""
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
    """Use up the inodes of a folder's disk during the context: it has space, but no file can be created."""
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
    """Make the disk of a folder read-only during the context."""
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(folder)], check=True)


@contextlib.contextmanager
def not_ours(folder: Path) -> Iterator[None]:
    """Let folder and files belong to another user during the context, for commands behind UNPRIVILEGED."""
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


@dataclass(frozen=True)
class Ext4:
    """An ext4 disk on a folder, from an image file. Only explicitly flushed data reach it at once."""

    folder: Path
    image: Path

    def mount(self) -> None:
        """Mount the disk. The kernel flushes nothing for ten minutes: a power cut leaves only flushed data."""
        options = "loop,errors=remount-ro,commit=600"
        subprocess.run(["mount", "-o", options, str(self.image), str(self.folder)], check=True)

    def unmount(self) -> None:
        """Unmount the disk as soon as the processes of a killed study have released it."""
        silent = subprocess.DEVNULL
        wait_for(lambda: not subprocess.run(["umount", str(self.folder)], stderr=silent).returncode, seconds=60)

    def break_down(self) -> None:
        """Shut the file system down as after an error: nothing can be written any more, even to open files."""
        subprocess.run(["mount", "-o", "remount,abort", str(self.folder)], check=True)

    def repair(self) -> None:
        self.unmount()
        subprocess.run(["e2fsck", "-fy", str(self.image)], check=False, stdout=subprocess.DEVNULL)
        self.mount()

    def cut_power(self) -> Callable[[], None]:
        """Save the present content of the disk. The returned function restores it, as after a power cut."""
        kept = self.image.with_suffix(".cut")
        subprocess.run(["cp", "--sparse=always", str(self.image), str(kept)], check=True)

        def again() -> None:
            self.unmount()
            kept.replace(self.image)
            self.mount()

        return again


@contextlib.contextmanager
def ext4(folder: Path, *, size_mib: int = 64) -> Iterator[Ext4]:
    """Mount an ext4 disk on a folder, which is created; skip the test if nothing can be mounted."""
    if why := why_no_mounts():
        pytest.skip(why)
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("mkfs.ext4 is missing; on Debian: apt-get install e2fsprogs")
    folder.mkdir(parents=True, exist_ok=True)
    disk = Ext4(folder, folder.with_suffix(".img"))
    with disk.image.open("wb") as file:
        file.truncate(size_mib << 20)
    subprocess.run(["mkfs.ext4", "-q", "-E", "lazy_itable_init=0", str(disk.image)], check=True)
    disk.mount()
    try:
        yield disk
    finally:
        if os.path.ismount(folder):
            subprocess.run(["umount", "-l", str(folder)], check=True)
