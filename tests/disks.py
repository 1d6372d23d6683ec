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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import wait_for

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


@dataclass(frozen=True)
class Ext4:
    """A disk of ext4 in the place of a folder, from an image file. It gets at once only what is asked for."""

    folder: Path
    image: Path

    def mount(self) -> None:
        """The kernel itself writes nothing for ten minutes: a power cut leaves what was asked for, and no more."""
        options = "loop,errors=remount-ro,commit=600"
        subprocess.run(["mount", "-o", options, str(self.image), str(self.folder)], check=True)

    def unmount(self) -> None:
        """As soon as the processes of a study that was killed have let go of it."""
        silent = subprocess.DEVNULL
        wait_for(lambda: not subprocess.run(["umount", str(self.folder)], stderr=silent).returncode, seconds=60)

    def break_down(self) -> None:
        """As the kernel does where it finds an error: nothing is written from now on, to open files either."""
        subprocess.run(["mount", "-o", "remount,abort", str(self.folder)], check=True)

    def repair(self) -> None:
        self.unmount()
        subprocess.run(["e2fsck", "-fy", str(self.image)], check=False, stdout=subprocess.DEVNULL)
        self.mount()

    def cut_power(self) -> Callable[[], None]:
        """What is on the disk at this moment, kept: calling it later makes the disk that again."""
        kept = self.image.with_suffix(".cut")
        subprocess.run(["cp", "--sparse=always", str(self.image), str(kept)], check=True)

        def again() -> None:
            self.unmount()
            kept.replace(self.image)
            self.mount()

        return again


@contextlib.contextmanager
def ext4(folder: Path, *, size_mib: int = 64) -> Iterator[Ext4]:
    """A disk of ext4 in the place of a folder, which is made; skips the test where nothing can be mounted."""
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
