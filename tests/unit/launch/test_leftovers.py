"""What a killed run leaves behind is removed, and nothing of another program."""

from __future__ import annotations

import contextlib
import mmap
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from scalestudy.launch import leftovers
from scalestudy.launch.leftovers import (
    HANDING_OVER_S,
    SHARED_MEMORY,
    remove_shared_memory,
    remove_sharing_folders,
    shared_memory,
    sharing_folders,
)

OTHER_PROCESSES = ["--pid", "--fork", "--mount-proc"]


@pytest.fixture
def memory() -> Iterator[Callable[[str], Path]]:
    """Creates a file of shared memory with this name."""
    made: list[Path] = []

    def make(name: str) -> Path:
        made.append(SHARED_MEMORY / name)
        made[-1].write_bytes(b"x" * 4096)
        return made[-1]

    yield make
    for path in made:
        path.unlink(missing_ok=True)


@pytest.fixture
def ended() -> int:
    """The id of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def test_shared_memory_that_nobody_has_is_removed_and_other_files_stay(
    memory: Callable[[str], Path], ended: int
) -> None:
    before = shared_memory()
    left = [memory(f"psm_{os.getpid()}"), memory(f"torch_{ended}_1_0")]
    others = [
        memory(f"data-{os.getpid()}"),
        memory(f"torch_{os.getpid()}_1_0"),
        memory(f"psm_mapped{os.getpid()}"),
    ]
    with others[-1].open("r+b") as file, mmap.mmap(file.fileno(), 4096):
        remove_shared_memory(before)
    assert [path.exists() for path in left] == [False, False]
    assert [path.exists() for path in others] == [True, True, True]


def test_a_semaphore_that_waits_for_its_other_process_stays() -> None:
    """Only the one that created it has mapped it, under the name that glibc gave it at first."""
    call = (
        "import multiprocessing, sys\n"
        "from scalestudy.launch.leftovers import remove_shared_memory, shared_memory\n"
        "before = shared_memory()\n"
        "context = multiprocessing.get_context('spawn')\n"
        "lock = context.Lock()\n"
        "other = context.Process(target=repr, args=(lock,))\n"
        "remove_shared_memory(before)\n"
        "other.start()\n"  # it opens the semaphore by its name
        "other.join()\n"
        "sys.exit(other.exitcode)\n"
    )
    subprocess.run([sys.executable, "-c", call], check=True)


def test_memory_that_is_handed_over_stays(memory: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """A program creates it, closes it, and another process opens it a moment later."""
    before = shared_memory()
    path = memory(f"psm_over{os.getpid()}")
    with contextlib.ExitStack() as stack:

        def meanwhile(seconds: float) -> None:
            assert seconds == HANDING_OVER_S
            file = stack.enter_context(path.open("r+b"))
            stack.enter_context(mmap.mmap(file.fileno(), 4096))

        monkeypatch.setattr(leftovers, "time", SimpleNamespace(sleep=meanwhile))
        remove_shared_memory(before)
    assert path.exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root starts processes in other namespaces")
@pytest.mark.parametrize(
    ("namespaces", "kept"),
    [
        ([], False),
        (["--pid", "--fork", "--mount-proc"], True),
        (["--pid", "--fork", "--mount-proc", "--ipc"], False),
    ],
    ids=["host", "memory-of-the-host", "container"],
)
def test_memory_whose_users_cannot_be_seen_stays(
    memory: Callable[[str], Path], namespaces: list[str], kept: bool
) -> None:
    """A container that was started with --ipc=host has the memory of others and sees none of their processes."""
    path = memory(f"psm_seen{os.getpid()}")
    before = shared_memory() - {path.name}
    call = f"from scalestudy.launch.leftovers import remove_shared_memory; remove_shared_memory({before})"
    subprocess.run([*(["unshare", *namespaces] if namespaces else []), sys.executable, "-c", call], check=True)
    assert path.exists() == kept


def test_a_folder_of_a_killed_loader_worker_is_removed_and_one_in_use_stays(tmp_path: Path) -> None:
    places = [tmp_path / f"pymp-{name}" for name in ("old", "dead", "listening", "empty", "other")]
    sockets = []
    places[0].mkdir()
    before = sharing_folders(tmp_path)
    for place in places:
        place.mkdir(exist_ok=True)
        if place.name != "pymp-empty":
            sockets.append(socket.socket(socket.AF_UNIX))
            sockets[-1].bind(str(place / "listener"))
        if place.name in ("pymp-old", "pymp-dead"):
            sockets[-1].close()
    (places[-1] / "data").write_text("x")
    remove_sharing_folders(tmp_path, before)
    assert [place.name for place in places if not place.exists()] == ["pymp-dead"]
    for one in sockets:
        one.close()


def test_what_others_remove_meanwhile_hides_nothing(tmp_path: Path) -> None:
    """If the list were empty, memory and folders of other programs would count as created by the run."""
    memory, folder = SHARED_MEMORY / f"torch_{os.getpid()}_kept", tmp_path / "pymp-kept"
    busy = f"""
import os
while True:
    for path in ({str(memory)!r} + "_other", {str(tmp_path / "pymp-other")!r}):
        os.close(os.open(path, os.O_CREAT))
        os.unlink(path)
"""
    memory.touch()
    folder.mkdir()
    process, until, looks, empty = subprocess.Popen([sys.executable, "-c", busy]), time.monotonic() + 4, 0, 0
    try:
        while time.monotonic() < until:
            looks += 1
            empty += memory.name not in shared_memory()
            empty += folder not in sharing_folders(tmp_path)
    finally:
        process.kill()
        process.wait()
        memory.unlink()
        Path(f"{memory}_other").unlink(missing_ok=True)
    assert (empty, looks > 100) == (0, True)
