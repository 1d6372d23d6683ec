"""Removes the shared memory and the folders that killed processes of a run leave behind.

Other programs of this user have files of the same kinds. A file is removed only if it was created since the run
began and no living process can still need it. Only the standard library is imported: the keeper has to start fast.
"""

import contextlib
import os
import re
import shutil
import time
from collections.abc import Collection
from pathlib import Path

from scalestudy.launch.family import living, read_of

SHARED_MEMORY = Path("/dev/shm")
OF_LIBRARIES = ("torch_", "psm_", "sem.mp-", "nccl-", "wnsm_")
"""Prefixes of the names of shared memory from torch, Python's multiprocessing and NCCL."""
CREATOR = re.compile(r"torch_(\d+)_")
"""The process id in the names that torch gives."""
MAPPED = re.compile(rb"^\S+ \S+ \S+ \S+ (\d+) +/dev/shm/", re.MULTILINE)
"""Inode of shared memory that a process has mapped. Its name is another for a semaphore that sem_open created."""
HANDING_OVER_S = 1.0
"""Seconds for which memory may be mapped by no process, while one process hands it to another."""
CLOSING_S = 1.0
"""Seconds for which the kernel may list the sockets of a process after it was killed."""
POLL_S = 0.02
NAMESPACES = Path("/proc/self/ns")
HOST_PROCESSES, HOST_MEMORY = 0xEFFFFFFC, 0xEFFFFFFF
"""Numbers of the host's own namespaces (PROC_PID_INIT_INO and PROC_IPC_INIT_INO in Linux's proc_ns.h)."""


def shared_memory() -> set[str]:
    """Names of this user's shared memory that training libraries created."""
    return {path.name for path in _own(SHARED_MEMORY, OF_LIBRARIES)}


def remove_shared_memory(before: Collection[str]) -> None:
    """Remove shared memory that was created since `before` and that no living process has mapped or created.

    It is looked at twice, since another program may be handing it over. Nothing is removed in a container that has
    the host's memory but not its processes (`docker run --ipc=host`): users of the memory cannot be seen there.
    """
    if not (unused := _unused(before)) or _shares_memory_only():
        return
    time.sleep(HANDING_OVER_S)
    for name, _ in unused & _unused(before):
        with contextlib.suppress(OSError):
            (SHARED_MEMORY / name).unlink()


def sharing_folders(temporary: Path) -> set[Path]:
    """This user's folders of Python's multiprocessing in the temporary folder."""
    return _own(temporary, ("pymp-",))


def remove_sharing_folders(temporary: Path, before: set[Path]) -> None:
    """Remove such folders, created since `before`, that contain only sockets that no process listens on.

    Loader workers create them to hand over batches. A worker that is killed leaves its folder behind.
    """
    until = time.monotonic() + CLOSING_S
    while (left := sharing_folders(temporary) - before) and time.monotonic() < until:
        open_sockets = Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace")
        for folder in left:
            with contextlib.suppress(OSError):
                held = list(folder.iterdir())
                if held and all(path.is_socket() and str(path) not in open_sockets for path in held):
                    shutil.rmtree(folder)
        time.sleep(POLL_S)


def _own(folder: Path, prefixes: tuple[str, ...]) -> set[Path]:
    """This user's files whose names begin so, without those that are removed meanwhile."""
    found = set()
    with contextlib.suppress(OSError):
        for entry in [entry for entry in os.scandir(folder) if entry.name.startswith(prefixes)]:
            with contextlib.suppress(OSError):
                if entry.stat(follow_symlinks=False).st_uid == os.getuid():
                    found.add(Path(entry.path))
    return found


def _unused(before: Collection[str]) -> set[tuple[str, int]]:
    """Names and inodes of the memory that was created since `before` and that no living process has."""
    left = shared_memory().difference(before)
    if not left:
        return set()
    alive = set(living())
    maps = [read_of(pid, "maps") for pid in alive]
    inodes = {found for text in maps for found in MAPPED.findall(text)}
    found = set()
    for name in left:
        creator = CREATOR.match(name)
        if creator and int(creator[1]) in alive:
            continue
        with contextlib.suppress(OSError):
            inode = (SHARED_MEMORY / name).stat().st_ino
            if b"%d" % inode not in inodes:
                found.add((name, inode))
    return found


def _shares_memory_only() -> bool:
    """Whether the shared memory is the host's, but the processes that can be seen are not all of the host's."""
    with contextlib.suppress(OSError):
        return (NAMESPACES / "ipc").stat().st_ino == HOST_MEMORY and (
            NAMESPACES / "pid"
        ).stat().st_ino != HOST_PROCESSES
    return True
