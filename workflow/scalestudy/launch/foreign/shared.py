"""Whether launches of a script feed each other: one would read, overwrite or append to what another wrote."""

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
"""Variable: workloads whose launches may share files, with commas between them; `*` for all."""
EVERY = "*"
SHARED_FILES = "shared files"
"""Kind of the warning of a run."""
NAMED = 5
"""Files or folders that a sentence names."""
_NUMBER = re.compile(r"\d+(\.\d+)?(e-?\d+)?")


class Feeds(Enum):
    """How a file goes from one launch to the next, and what to say of it: {it} for the file or files."""

    RESUMED = "the script looked for {it} first and wrote {it} later, so the next run finds {it}"
    READ = "the script read {it} and then wrote {it}, so the next run reads what this one wrote"
    LISTED = "the script listed the folder first and wrote {it} later, so the next run finds {it}"
    APPENDED = "each run appends to {it} or changes {it}"
    OUTPUT = "each run writes there"


READS = (Feeds.RESUMED, Feeds.READ, Feeds.LISTED)
"""The next launch meets what this one wrote."""


@dataclass(frozen=True)
class Shared:
    """Files of one folder, or a single one, that launches share."""

    name: str
    """Relative to the directory of the script where it lies there; a folder ends with a slash."""
    files: int
    how: Feeds

    @property
    def sentence(self) -> str:
        """What the launch did, and what the next one would do."""
        many = f"{self.name} ({self.files} files)" if self.files > 1 else self.name
        return f"{many}: {self.how.value.format(it='them' if self.files > 1 else 'it')}"


def shared_files(touched: FilesTouched) -> list[Shared]:
    """What other launches would share with one, those files first that they would read; empty for nothing."""
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
    """How a path goes from one launch to the next; None where it does not.

    Data and caches do not count: written before the first step or while a batch was read, and then read by the
    same launch, or looked for before. The next launch finds them as this one left them.
    """
    if not path.written or not (path.opened or path.looked_for or path.read_again):
        return None  # somebody else may have written it, such as the user's shell
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
    """Raise UserError where a finished launch of the same workload shares files with this one.

    Nothing is refused where the user allows it. results: of the study. allowed: value of the variable.
    """
    names = (os.environ.get(ALLOWED, "") if allowed is None else allowed).split(",")
    if spec.workload in names or EVERY in names:
        return
    for touched in finished_launches(spec, results):
        if shared := shared_files(touched):
            raise UserError(refusal(spec.workload, shared, run=touched.run, command=spec.command, results=results))


def finished_launches(spec: CommandSpec, results: Path) -> list[FilesTouched]:
    """What finished launches of the same workload touched, if the script and its use of `{out}` are the same."""
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
    """Why there must be no second launch, and what to do."""
    who = f"run {run}" if run else "the first look at the script"
    lines = [f"  {one.sentence}" for one in shared[:NAMED]]
    if len(shared) > NAMED:
        lines.append(f"  and {len(shared) - NAMED} more files or folders")
    reads = any(one.how in READS for one in shared)
    cost = "A run that resumes from another is measured wrongly." if reads else "Results of runs would be mixed."
    script = " ".join(command[:2] if command[0] == "-m" else command[:1])
    where = f"`workloads.{workload}.command` of the study" if results else "the command"
    advice = [
        f"- put {{out}} into {where} wherever {script} takes a folder or file for its output, such as"
        " `--output-dir {out}`: it is a folder of its own for each run. Where the script has no such"
        " argument, add one;",
    ]
    if results:
        advice.append(
            "- after any other change of the script's output, set the finished runs aside:"
            f" `scalestudy retry {os.path.relpath(results)} --outcome ok`;"
        )
    advice.append(
        "- or accept it: `scalestudy run` with --allow-shared, or `allow_shared: true` in the workload. The report"
        " then says that runs share files."
    )
    if reads and not results:
        names = ", ".join(one.name for one in shared if one.how in READS)
        advice.insert(0, f"- remove what the look left, or the first run begins with it: {names};")
    measured = "It was measured and is kept; no further run of the workload is started." if run else ""
    return "\n".join(
        [
            f"workloads.{workload}: runs would share files. {who[0].upper()}{who[1:]} left these outside its own"
            f" folder ({{out}}):",
            *lines,
            " ".join(filter(None, (cost, measured, "What to do:"))),
            *advice,
        ]
    )


def record_touched(spec: CommandSpec, directory: Path, results: Path) -> list[dict[str, str]]:
    """Write what a launch touched beside its record: the warning of the record, where it shares files.

    directory: of the launch. results: of its study.
    """
    touched = gather_touched(spec, directory, directory / ATTACHED, results)
    write_document(directory / FILE, touched)
    return shared_warnings(touched, finished_launches(spec, results))


def shared_warnings(touched: FilesTouched, others: Sequence[FilesTouched]) -> list[dict[str, str]]:
    """The warning of the record of a run that shares files. others: finished launches of the same workload."""
    found = [one.sentence for one in shared_files(touched)]
    written = {path.path: other.run for other in others for path in other.paths if feeds(path)}
    resumed = [path.path for path in touched.paths if path.read and path.path in written]
    said = [f"read {name}, which run {written[name]} wrote" for name in resumed[:NAMED]]
    said += [f"{sentence}" for sentence in found[:NAMED]]
    if not said:
        return []
    return [{"kind": SHARED_FILES, "text": f"files outside {{out}} are shared by runs. {'; '.join(said)}"}]


def _words_with_out(command: Sequence[str]) -> set[str]:
    """Words that hold `{out}`, without numbers, which differ from scale to scale."""
    return {_NUMBER.sub("0", PurePath(word).as_posix()) for word in command if "{out}" in word}
