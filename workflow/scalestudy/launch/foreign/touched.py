"""Files outside its own folder that a run of a script wrote, read and looked for: files.json of its record.

The processes note the files that they open (attach/paths.py). The script's folder is also compared before and
after the run, which shows what programs and libraries wrote without Python.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from scalestudy.launch.foreign.files import ASKED, report_paths
from scalestudy.record.document import Document, Part
from scalestudy.study.spec import CommandSpec

FILE = "files.json"
BEFORE = "before.list"
KEPT = 1000
"""Largest number of paths of a run that were only read or looked for."""
COMPARED = 20000
COMPARED_S = 3.0
"""Largest number of files of the script's folder that are compared, and the time limit for it in seconds."""
CLOCKS_S = 2.0
"""Largest lag of a file system's clock behind ours."""
WRITES = "wau>"
NO_OUTPUT = ("__pycache__", "node_modules")


class TouchedPath(Part):
    """One path. Events before it was written show what the next run would do with it."""

    path: str
    """Relative to the directory of the script if it is inside."""
    written: bool
    """Whether the run created or changed it, and left it."""
    looked_for: bool
    """Looked for while it did not exist, before it was written."""
    read: bool
    """Read before it was written, or without being written."""
    listed: bool
    """Its folder was listed before it was written."""
    folder_looked_for: bool
    """Its folder, or another file in it, was looked for while that did not exist, before it was written."""
    read_again: bool
    """Read after it was written."""
    appended: bool
    """Opened for appending or changing."""
    in_training: bool
    """Written after the first step, and not while a batch was read."""
    opened: bool
    """Whether a process of the run was seen to write it, or passed its name to a program. Otherwise it was found
    by comparing folders, and another program may have written it."""


class FilesTouched(Document):
    """files.json: files that a run of a script wrote, read and looked for outside the folder of `{out}`."""

    made_by: ClassVar[str] = "scalestudy retry"

    schema_version: Literal[1] = 1
    run: str
    """Id of the run."""
    workload: str
    command: tuple[str, ...]
    directory: str
    """Directory of the script, absolute."""
    script_sha256: str
    """SHA-256 of the script's file; empty where it was not found."""
    paths: tuple[TouchedPath, ...]


def remember(spec: CommandSpec, directory: Path, results: Path | None = None) -> None:
    """Note the files in the script's folder before the run. directory: of the run. results: of its study."""
    (directory / BEFORE).write_text("\0".join(_files(Path(spec.directory), results)), encoding="utf-8")


def gather_touched(
    spec: CommandSpec, directory: Path, attached: Path, results: Path | None = None
) -> FilesTouched:
    """The files that a run touched, from the notes in its folder. Arguments as for `remember`."""
    place = Path(spec.directory).resolve()
    start = (attached / ASKED).stat().st_mtime - CLOCKS_S
    known = _together(_events(attached))
    before = set((directory / BEFORE).read_text(encoding="utf-8").split("\0"))
    (directory / BEFORE).unlink()
    trained = min(_trained(attached), default=float("inf"))
    for name in _files(place, results):
        seen = known.setdefault(name, _Known())
        folder = known.get(name.rpartition(os.sep)[0])
        if name not in before and not seen.written and not (folder and folder.full):
            seen.written, seen.unseen = _changed(name), True
    for name, seen in known.items():
        if seen.named and not seen.written and _changed(name) >= start:
            seen.written, seen.unseen = _changed(name), True
    listed = {path: seen.listed for path, seen in known.items() if seen.listed}
    named = {path for path, seen in known.items() if seen.named}
    missing: dict[str, float] = {}
    for path, seen in known.items():
        if seen.missing:
            for name in (path, path.rpartition(os.sep)[0]):
                missing[name] = min(seen.missing, missing.get(name, seen.missing))
    paths = [
        _described(path, seen, (listed, missing, named), place, start, trained)
        for path, seen in known.items()
        if seen.written or seen.missing or seen.read
    ]
    found = [path for path in paths if path.written]
    others = [path for path in paths if not path.written and (path.looked_for or path.read)]
    return FilesTouched(
        run=spec.run_id,
        workload=spec.workload,
        command=spec.command,
        directory=str(place),
        script_sha256=script_sha256(spec),
        paths=tuple(found + others[:KEPT]),
    )


def script_sha256(spec: CommandSpec) -> str:
    """SHA-256 of the file that the command names; empty where it is not found."""
    words, place = spec.command, Path(spec.directory)
    stem = place.joinpath(*words[1].split(".")) if words[0] == "-m" and len(words) > 1 else place / words[0]
    for path in (stem, stem.with_name(f"{stem.name}.py"), stem / "__main__.py"):
        if path.is_file():
            return hashlib.sha256(path.read_bytes()).hexdigest()
    return ""


@dataclass
class _Known:
    """Times of the first events of each kind at a path, in seconds since 1970; 0 for never."""

    missing: float = 0.0
    read: float = 0.0
    last_read: float = 0.0
    listed: float = 0.0
    written: float = 0.0
    appended: bool = False
    phases: set[str] = field(default_factory=set)
    unseen: bool = False
    named: bool = False
    """Whether a program was started with it as an argument."""
    full: bool = False
    """For a folder: whether some of its files were not noted."""

    def add(self, kind: str, phase: str, at: float) -> None:
        """Add an event of a process. Events are added in order of time."""
        if kind in WRITES:
            again = kind == "u" and self.written  # numpy.memmap opens files this way that it only reads
            self.appended |= kind == "a" or (kind == "u" and not again)
            self.written = self.written or at
            if not again:
                self.phases.add(phase)
        elif kind == "m":
            self.missing = self.missing or at
        elif kind in "+x":
            self.full |= kind == "+"
            self.named |= kind == "x"
        elif kind == "l":
            self.listed = self.listed or at
        else:
            self.read, self.last_read = self.read or at, at


def _events(attached: Path) -> list[tuple[float, str, str, str, str]]:
    """(seconds, kind, phase, path, source of a rename) of all processes, in order of time."""
    found = []
    for file in sorted(attached.glob("*.paths")):
        for line in file.read_text(encoding="utf-8", errors="replace").split("\n"):
            if line.count(" ") >= 3:
                kind, phase, at, path = line.split(" ", 3)
                source, _, target = path.rpartition("\0")
                found.append((float(at), kind, phase, target, source))
    return sorted(found, key=lambda event: event[0])


def _together(events: Iterable[tuple[float, str, str, str, str]]) -> dict[str, _Known]:
    """The events of each path. A renamed file has its new name."""
    known: dict[str, _Known] = {}
    for at, kind, phase, path, source in events:
        known.setdefault(path, _Known()).add(kind, phase, at)
        if kind == ">":
            for name in [name for name in known if name.startswith(source + os.sep)]:
                old = known.pop(name)
                target = known.setdefault(path + name[len(source) :], _Known())
                target.written = target.written or old.written
                target.phases |= old.phases
                target.appended |= old.appended
    return known


def _described(
    path: str,
    seen: _Known,
    of_folders: tuple[dict[str, float], dict[str, float], set[str]],
    place: Path,
    start: float,
    trained: float,
) -> TouchedPath:
    """The description of a path.

    of_folders: when each was listed; when it, or a file in it, was looked for and did not exist; and the paths
    that were arguments of programs.
    """
    listed, missing, named = of_folders
    written = seen.written if _changed(path) >= start else 0.0
    name = Path(path)
    inside = name.is_relative_to(place)
    # Python itself lists the folder of the script.
    folders = [folder for folder in name.parents if folder.is_relative_to(place) and folder != place]
    folders = folders if inside else [name.parent]
    until = seen.written or float("inf")
    return TouchedPath(
        path=str(name.relative_to(place)) if inside else path,
        written=bool(written),
        looked_for=0 < seen.missing < until,
        read=0 < seen.read < until and not seen.unseen,
        listed=any(0 < listed.get(str(folder), 0.0) < until for folder in folders),
        folder_looked_for=any(0 < missing.get(str(folder), 0.0) < until for folder in folders),
        read_again=bool(seen.written) and (seen.last_read > seen.written or (seen.unseen and seen.read > 0)),
        appended=seen.appended,
        in_training=written >= trained if seen.unseen else "t" in seen.phases,
        opened=not seen.unseen or seen.named or any(str(folder) in named for folder in folders),
    )


def _changed(path: str) -> float:
    """When a non-empty file was last changed, in seconds since 1970; 0 where there is no such file."""
    try:
        status = Path(path).stat()
    except OSError:
        return 0.0
    return status.st_mtime if stat.S_ISREG(status.st_mode) and status.st_size else 0.0


def _trained(attached: Path) -> Iterator[float]:
    """When each process made its first step."""
    for path in report_paths(attached):
        if found := json.loads(path.read_text(encoding="utf-8")).get("trained_from"):
            yield float(found)


def _files(place: Path, results: Path | None) -> Iterator[str]:
    """Files below a folder, within COMPARED and COMPARED_S, without hidden files, environments and results."""
    # The results of several studies in one folder are next to each other.
    apart = {str(results.resolve()), str(results.resolve().parent)} if results else set()
    count, until, waiting = 0, time.monotonic() + COMPARED_S, [str(place.resolve())]
    for folder in waiting:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        if any(entry.name == "pyvenv.cfg" for entry in entries):
            continue
        for entry in entries:
            name = entry.name
            if name[0] == "." or name in NO_OUTPUT or not name.isprintable() or entry.path in apart:
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            elif entry.is_file():
                count += 1
                yield entry.path
        if count > COMPARED or time.monotonic() > until:
            return
