"""Commands that are killed alone, for tests: what belongs to them is found by a variable that it inherits."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from conftest import BIN

MARK = "KILLED_ALONE_TEST"
"""A variable that every process of a test inherits."""


def of_place(place: Path) -> dict[int, str]:
    """Processes that were started from a command in this folder, without zombies: id -> command line."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            environment, words = (path / "environ").read_bytes(), (path / "cmdline").read_bytes()
        except OSError:
            continue
        if f"{MARK}={place}".encode() in environment.split(b"\0") and words:
            found[int(path.name)] = words.replace(b"\0", b" ").decode(errors="replace")
    return found


def start(place: Path, *words: str, at: Path | None = None, **more: str) -> subprocess.Popen[bytes]:
    """Start `scalestudy` in a session of its own."""
    environment = os.environ | {MARK: str(place), "TMPDIR": str(place / "tmp")} | more
    with (place / "said.txt").open("ab") as said:
        return subprocess.Popen(
            [str(BIN / "scalestudy"), *words],
            cwd=at or place,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )


def ranks(place: Path) -> list[int]:
    """Processes that train, without the command that started them."""
    found = {pid: words for pid, words in of_place(place).items() if "bin/scalestudy " not in words}
    return [pid for pid, words in found.items() if "scalestudy.train" in words or "train.py" in words]


def kill_alone(process: subprocess.Popen[bytes], signum: int) -> None:
    os.kill(process.pid, signum)
    process.wait(timeout=60)


def nothing_left(place: Path) -> bool:
    """Whether no process is left. The one that ranks are forked from serves later runs, and does not count."""
    return not [pid for pid, words in of_place(place).items() if "forked.parent" not in words]


def left_in_temporary(place: Path) -> list[str]:
    """Names of temporary files, without torch's cache and those that the next call removes (test_temporary.py)."""
    kept = ("snakemake", "torchinductor_")
    return [path.name for path in (place / "tmp").iterdir() if not path.name.startswith(kept)]
