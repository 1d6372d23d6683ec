"""Removes Snakemake's stale locks of a folder, which a killed call on this host left behind.

Snakemake 9.27 writes the names of its files to `.snakemake/locks` and removes them at its end. A call that is
killed leaves them behind, and every later call requires `--unlock`. So each call notes its own lock files, and
takes a lock that the kernel releases however the call ends.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import platform
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil

from scalestudy.record.files import sync, write_json
from scalestudy.record.lock import exclusive_now

FOLDER = Path(".snakemake")
_held = ExitStack()
"""Locks that this process holds until its end."""


def note_locks(persistence: object, folder: Path = FOLDER) -> None:
    """Note the lock files that Snakemake has just made for this process. Does nothing where locks do not work.

    persistence: of Snakemake's workflow. Only this object has the list of its own lock files.
    """
    files = getattr(persistence, "_lockfile", {}).values()
    note = folder / "holders" / f"{platform.node()}-{os.getpid()}.json"
    with contextlib.suppress(OSError):
        note.parent.mkdir(parents=True, exist_ok=True)
        if _held.enter_context(exclusive_now(note.with_suffix(".lock"))):
            write_json(note, {"host": platform.node(), "locks": [_identity(Path(file)) for file in files]})
            sync(note.parent)  # a lock that a power cut left would belong to nobody without its note


def release_dead_locks(folder: Path = FOLDER) -> list[str]:
    """Remove the lock files of calls on this host that were killed. Returns messages about it.

    A lock file of a live call, of another host, or of a call without a note is never touched.
    """
    said = []
    for note in _notes(folder):
        content = _read(note)
        if content.get("host") != platform.node():
            continue
        with contextlib.suppress(OSError), exclusive_now(note.with_suffix(".lock")) as dead:
            if not dead:
                continue
            left = [path for path in _lock_files(folder) if _identity(path) in content.get("locks", [])]
            for path in left:
                path.unlink()
            for path in (note, note.with_suffix(".lock")):
                path.unlink(missing_ok=True)
            if left:
                said.append("an earlier call was killed on this host; its lock of this folder was removed")
    return said


def live_calls(folder: Path = FOLDER) -> list[str]:
    """A message for each call that holds a lock of this folder. Call `release_dead_locks` first.

    A call that has started this one, as a study starts the trial of its advice, is not another one.
    """
    said = []
    above = {process.pid for process in psutil.Process().parents()}
    for note in _notes(folder):
        content = _read(note)
        if not any(_identity(path) in content.get("locks", []) for path in _lock_files(folder)):
            continue
        host, pid = content.get("host"), note.stem.rpartition("-")[2]
        if host == platform.node() and pid.isdigit() and int(pid) in above:
            continue
        try:
            began = datetime.datetime.fromtimestamp(note.stat().st_mtime).astimezone()
        except OSError:
            continue  # it has just ended
        who = f"process {pid} on host {host}"
        since = f"began here on {began:%Y-%m-%d at %H:%M}"
        if host == platform.node():
            said.append(f"another call is using this folder: {who} {since}; wait until it ends, or stop it")
        else:
            said.append(
                f"another call may be using this folder: {who} {since}; if it has ended, remove its lock with"
                " --unlock"
            )
    return said


def _notes(folder: Path) -> list[Path]:
    return sorted((folder / "holders").glob("*.json"))


def _lock_files(folder: Path) -> list[Path]:
    return sorted((folder / "locks").glob("*.lock"))


def _read(note: Path) -> dict[str, Any]:
    try:
        content = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _identity(path: Path) -> list[Any] | None:
    """What distinguishes a file from a later one with the same name; None where it does not exist."""
    try:
        state = path.stat()
    except OSError:
        return None
    return [path.name, state.st_ino, state.st_mtime_ns]
