"""Whether runs of a script share files: whether one reads, overwrites or appends to what another wrote."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path, PurePath

from scalestudy.errors import UserError
from scalestudy.launch.foreign.start import ATTACHED
from scalestudy.launch.foreign.touched import FILE, FilesTouched, TouchedPath, gather_touched, script_sha256
from scalestudy.record.document import read_document, write_document
from scalestudy.study.spec import CommandSpec

ALLOWED = "SCALESTUDY_ALLOW_SHARED"
"""Variable: workloads whose runs may share files, separated by commas; `*` for all."""
EVERY = "*"
SHARED_FILES = "shared files"
"""Kind of the warning about shared files."""
NAMED = 5
"""Largest number of files or folders that a message lists."""
_NUMBER = re.compile(r"\d+(\.\d+)?(e-?\d+)?")


class Feeds(Enum):
    """How a file affects the next run, with a sentence about it; {it} is the file or files."""

    RESUMED = "the script looked for {it} first and wrote {it} later, so the next run finds {it}"
    READ = "the script read {it} and then wrote {it}, so the next run reads what this one wrote"
    LISTED = "the script listed the folder first and wrote {it} later, so the next run finds {it}"
    APPENDED = "each run appends to {it} or changes {it}"
    OUTPUT = "each run writes there"


READS = (Feeds.RESUMED, Feeds.READ, Feeds.LISTED)
"""The next run finds or reads what this one wrote."""


@dataclass(frozen=True)
class Shared:
    """A file, or the files of one folder, that runs share."""

    name: str
    """Relative to the directory of the script if it is inside; a folder ends with a slash."""
    files: int
    how: Feeds

    @property
    def sentence(self) -> str:
        """What the run did with the files, and how this affects the next one."""
        many = f"{self.name} ({self.files} files)" if self.files > 1 else self.name
        return f"{many}: {self.how.value.format(it='them' if self.files > 1 else 'it')}"


def shared_files(touched: FilesTouched) -> list[Shared]:
    """The files that other runs would share with this one, first those that they would read."""
    found = [(path.path, how) for path in touched.paths if (how := feeds(path))]
    order = list(Feeds)
    grouped: dict[tuple[str, Feeds], list[str]] = {}
    for path, how in found:
        grouped.setdefault((path.rpartition(os.sep)[0], how), []).append(path)
    shared = [
        Shared(paths[0], 1, how) if len(paths) == 1 else Shared(f"{folder or '.'}/", len(paths), how)
        for (folder, how), paths in grouped.items()
    ]
    return sorted(shared, key=lambda one: (order.index(one.how), one.name))


def feeds(path: TouchedPath) -> Feeds | None:
    """How a path affects the next run; None where it does not.

    Data and caches do not count: these are written before the first step or while a batch is read, and are read by
    the same run afterwards or looked for before. The next run finds them unchanged.
    """
    if not path.written or not (path.opened or path.looked_for or path.read_again):
        return None  # another program may have written it, such as the user's shell
    kept = path.looked_for or path.listed or path.read_again or path.folder_looked_for
    if kept and not (path.appended or path.in_training or path.read):
        return None
    if path.read:
        return Feeds.READ
    if path.looked_for:
        return Feeds.RESUMED
    if path.listed and not path.appended:
        return Feeds.LISTED
    return Feeds.APPENDED if path.appended else Feeds.OUTPUT


def refuse_shared(spec: CommandSpec, results: Path, *, allowed: str | None = None) -> None:
    """Raise UserError where a finished run of the same workload shares files with this one.

    Nothing is refused if the user allows it. results: of the study. allowed: value of the variable ALLOWED.
    """
    names = (os.environ.get(ALLOWED, "") if allowed is None else allowed).split(",")
    if spec.workload in names or EVERY in names:
        return
    for touched in finished_launches(spec, results):
        if shared := shared_files(touched):
            raise UserError(refusal(spec.workload, shared, run=touched.run, command=spec.command, results=results))


def finished_launches(spec: CommandSpec, results: Path) -> list[FilesTouched]:
    """Files of finished runs of the same workload, if the script and its use of `{out}` are the same."""
    digest, place, out = script_sha256(spec), str(Path(spec.directory).resolve()), _words_with_out(spec.command)
    found = []
    for path in sorted(results.glob(f"runs/{spec.workload}-*/{FILE}")):
        touched = read_document(path, FilesTouched)
        same = touched.workload == spec.workload and touched.directory == place and touched.run != spec.run_id
        if same and touched.script_sha256 == digest and _words_with_out(touched.command) == out:
            found.append(touched)
    return found


def refusal(
    workload: str, shared: Sequence[Shared], *, run: str, command: Sequence[str], results: Path | None
) -> str:
    """Why no second run may start, and what to do."""
    who = f"run {run}" if run else "the first look at the script"
    lines = [f"  {one.sentence}" for one in shared[:NAMED]]
    if len(shared) > NAMED:
        lines.append(f"  and {len(shared) - NAMED} more files or folders")
    reads = any(one.how in READS for one in shared)
    cost = "A run that resumes from another is measured wrongly." if reads else "Their results would be mixed."
    script = " ".join(command[:2] if command[0] == "-m" else command[:1])
    where = f"`workloads.{workload}.command` of the study" if results else "the command"
    advice = [
        f"- put {{out}} into {where} wherever {script} takes an output folder or file, such as"
        " `--output-dir {out}`; each run then gets its own folder. If the script has no such argument, add one;",
    ]
    if results:
        advice.append(
            "- or change the script's output in another way, and set the finished runs aside:"
            f" `scalestudy retry {os.path.relpath(results)} --outcome ok`;"
        )
    advice.append(
        "- or accept this: `scalestudy run` with --allow-shared, or `allow_shared: true` in the workload. The"
        " report then notes that runs share files."
    )
    if reads and not results:
        names = ", ".join(one.name for one in shared if one.how in READS)
        advice.insert(0, f"- remove the files of this first look, or the first run starts from them: {names};")
    measured = f"Run {run} was measured and is kept; no further run of the workload is started." if run else ""
    return "\n".join(
        [
            f"workloads.{workload}: runs would share files. {who[0].upper()}{who[1:]} left these outside its own"
            " folder ({out}):",
            *lines,
            " ".join(filter(None, (cost, measured, "What to do:"))),
            *advice,
        ]
    )


def record_touched(spec: CommandSpec, directory: Path, results: Path) -> list[dict[str, str]]:
    """Write files.json of a run. Returns the warning for its record, where it shares files.

    directory: of the run. results: of its study.
    """
    touched = gather_touched(spec, directory, directory / ATTACHED, results)
    write_document(directory / FILE, touched)
    return shared_warnings(touched, finished_launches(spec, results))


def shared_warnings(touched: FilesTouched, others: Sequence[FilesTouched]) -> list[dict[str, str]]:
    """The warning for the record of a run that shares files. others: finished runs of the same workload."""
    found = [one.sentence for one in shared_files(touched)]
    written = {path.path: other.run for other in others for path in other.paths if feeds(path)}
    resumed = [path.path for path in touched.paths if path.read and path.path in written]
    said = [f"read {name}, which run {written[name]} wrote" for name in resumed[:NAMED]]
    said += [f"{sentence}" for sentence in found[:NAMED]]
    if not said:
        return []
    return [{"kind": SHARED_FILES, "text": f"files outside {{out}} are shared by runs. {'; '.join(said)}"}]


def _words_with_out(command: Sequence[str]) -> set[str]:
    """Words that contain `{out}`, with every number as 0, since numbers differ between scales."""
    return {_NUMBER.sub("0", PurePath(word).as_posix()) for word in command if "{out}" in word}
