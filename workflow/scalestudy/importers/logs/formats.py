"""All formats of logs, and which one a file has: recognised by what is in it, never by its name."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.importers.logs.console import any_trainer, epoch_rows, progress, spaced_table, spread_rows
from scalestudy.importers.logs.console.form import (
    FEWEST_TO_SEE,
    LEARNED_FROM,
    MEASURED,
    Form,
    form_of,
    timed_without_steps,
)
from scalestudy.importers.logs.console.several_runs import begins_again, check_one_run
from scalestudy.importers.logs.declared import DECLARED
from scalestudy.importers.logs.lines import ESCAPES, head_of, numbered_lines, opened
from scalestudy.importers.logs.model import Given, Log
from scalestudy.importers.logs.readers import (
    deepspeed,
    fairseq,
    kineto,
    megatron,
    mlflow_store,
    mllog,
    nanotron,
    olmo,
    tensorboard_log,
    torchtitan,
    trainer_state,
)
from scalestudy.importers.logs.tabular import csv_log, json_log
from scalestudy.importers.logs.tabular.printed import has_markup, shows_scaling
from scalestudy.importers.markup.notebooks import may_be_notebook, notebook_in
from scalestudy.importers.tables import MOST_BYTES, decoded
from scalestudy.importers.unopened import STARTS, why_unopened

Read = Callable[[Path, Given], list[Log]]
BESIDE = 500
"""Lines after the first one that is known in which another format may show: Megatron-DeepSpeed prints both."""


MANY_ROWS = 8
"""Lines of steps that no text with a table of scaling has."""
SHOWN, MOST_SHOWN = 60, 5000
"""Characters of a text that a message has; first lines that it may be from."""
STEP = re.compile(r"(?i)\b(?:step|iter|iteration|epoch|batch)\b\W{0,3}\d")


@dataclass(frozen=True)
class Format:
    """A console log, which one of its lines shows. The first one in FORMATS counts where a log has lines of
    two."""

    name: str
    """For `--format`."""
    kind: str
    mark: re.Pattern[bytes]
    read: Read


FORMATS = (
    Format("mlperf", mllog.KIND, re.compile(rb":::MLLOG \{"), mllog.read),
    Format("megatron", megatron.KIND, megatron.MARK, megatron.read),
    Format("nanotron", nanotron.KIND, nanotron.MARK, nanotron.read),
    Format("torchtitan", torchtitan.KIND, torchtitan.MARK, torchtitan.read),
    Format("olmo", olmo.KIND, olmo.MARK, olmo.read),
    Format("fairseq", fairseq.KIND, fairseq.MARK, fairseq.read),
    Format("deepspeed", deepspeed.KIND, deepspeed.MARK, deepspeed.read),
    Format("trainer-console", trainer_state.CONSOLE, trainer_state.MARK, trainer_state.read_console),
)
BY_HEAD: dict[str, tuple[Callable[[bytes], str], Callable[..., list[Log]]]] = {
    "tensorboard": (tensorboard_log.recognise, tensorboard_log.read),
    "trainer-state": (trainer_state.recognise, trainer_state.read),
    "kineto": (kineto.recognise, kineto.read),
    "json": (json_log.recognise, json_log.read),
    "csv": (csv_log.recognise, csv_log.read),
}
"""Name -> (the kind of a file from its first bytes, '' if it is none; its reader)."""
TABLE = "table"
CONSOLE = "console"
OF_ANY_TRAINER: dict[str, Read] = {
    CONSOLE: any_trainer.read,
    "progress-bar": progress.read,
    "rows-of-lines": spread_rows.read,
    "epochs": epoch_rows.read,
    "spaced-table": spaced_table.read,
}
"""Name -> reader of a console log without a format of its own."""
WITH_RESTARTS = (*(one.read for one in FORMATS), any_trainer.read, spread_rows.read, spaced_table.read)
"""Readers of console logs whose rows have the steps of a run."""
READ = (*(one.name for one in FORMATS), *OF_ANY_TRAINER, *BY_HEAD, "mlflow", TABLE)
"""Names of all formats, as declared.py lists them."""


def is_table(path: Path, name: str | None) -> bool:
    """Return whether a file has tables of scaling, with a row per number of devices, and is no log.

    name: of its format, as the user says.
    """
    if name is not None or path.is_dir():
        return name == TABLE
    head = head_of(path)
    if b"\x00" in head or head.startswith(STARTS) or any(one.mark.search(head) for one in FORMATS):
        return False
    if notebook := _notebook(path, head):
        return shows_scaling(notebook)
    if any(recognise(head) for known, (recognise, _) in BY_HEAD.items() if known != "csv"):
        return False
    whole = head[: head.rfind(b"\n") + 1] or head
    try:
        try:
            text = decoded(whole)
        except UnicodeDecodeError:  # the reader names the byte
            text = whole.decode("latin-1")
        return shows_scaling(text) and (has_markup(text) or not _has_many_rows(path))
    except csv.Error:
        return False


def _notebook(path: Path, head: bytes) -> str:
    """The text of a file, which may be longer than its head, if it is a notebook; else ''."""
    if not may_be_notebook(head.decode("latin-1")):
        return ""
    try:
        with opened(path) as file:
            text = decoded(file.read(MOST_BYTES))
    except UnicodeDecodeError:
        return ""
    return text if notebook_in(text) else ""


def _has_many_rows(path: Path) -> bool:
    """Whether many lines of a file have a step number and a time or a throughput, as those of a log."""
    form = form_of(path)
    if form is None or form.learned_from < MANY_ROWS or "step" not in form.read:
        return False
    return bool(MEASURED & set(form.read))


def read_log(path: Path, given: Given, *, name: str | None = None) -> list[Log]:
    """Return the runs in a file, or in a folder that a tool wrote. name: of the format, instead of recognising it.

    Raises UserError that names the file, and the line where there is one.
    """
    read = _reader(path, name)
    logs = read(path, given)
    if read in WITH_RESTARTS:
        for log in logs:
            lines = log.columns["line"]
            check_one_run(path, int(lines[0]), begins_again(lines, log.columns["step"]))
    return logs


def _reader(path: Path, name: str | None) -> Read:
    if path.is_dir() or name == "mlflow":
        return mlflow_store.read
    head = head_of(path)
    if why := why_unopened(head):
        raise UserError(f"{path}: {why}")
    for one in FORMATS:
        if one.name == name:
            return one.read
    for known, (recognise, read) in BY_HEAD.items():
        if name in (None, known) and (kind := recognise(head)):
            return partial(read, kind=kind)
    if name not in (None, *OF_ANY_TRAINER):
        raise UserError(f"{path}: is not in the format {name}")
    if b"\x00" in head:
        raise UserError(f"{path}: is a binary file of no known format")
    if name:
        return OF_ANY_TRAINER[name]
    found = _by_lines(path, LEARNED_FROM)
    if found is None and (of_any := _of_any_trainer(path)):
        return of_any
    found = found or _by_lines(path)
    if found is None:
        raise UserError(f"{path}: {_why_not(path, head)}. The formats of --format are {', '.join(DECLARED)}")
    return found.read


def _of_any_trainer(path: Path) -> Read | None:
    """What reads a console log without a format of its own: rows with a time or a throughput come before bars, and
    bars before rows with nothing but a time stamp, and before one row with the time since the start."""
    form = form_of(path)
    measured = form is not None and bool(MEASURED & set(form.read))
    if form and measured and not _is_of_all_steps(form):
        return any_trainer.read
    if progress.shows_bars(path):
        return progress.read
    if measured:
        return any_trainer.read
    if spread_rows.form_of(path):
        return spread_rows.read
    if epoch_rows.shows_epochs(islice(numbered_lines(path), LEARNED_FROM)):
        return epoch_rows.read
    if spaced_table.reads(path):
        return spaced_table.read
    if form:
        return any_trainer.read
    lines = islice(numbered_lines(path), LEARNED_FROM)
    return epoch_rows.read_stamped if epoch_rows.shows_stamped_epochs(lines) else None


def _is_of_all_steps(form: Form) -> bool:
    """Whether a log has one row only, whose time is that since the start."""
    time = form.read.get("step_time_s")
    return form.learned_from == 1 and time is not None and time.since_start


def _why_not(path: Path, head: bytes) -> str:
    """Why a text is no log with step times."""
    lines = [line for line in head.decode("utf-8", "replace").splitlines()[:MOST_SHOWN] if line.strip()]
    names = csv_log.names_of(lines[0]) if lines else []
    is_header = len(names) > 1 and not any(
        re.search(r"[=]|: |^\s*[\d.]+%?(?:\s|$)|\d-\d\d", name) for name in names
    )
    if is_header and len(lines) > 1 and len(csv_log.names_of(lines[1])) == len(names):
        named = [name.strip()[:SHOWN] for name in names if name.strip()]
        shown = ", ".join(named[:12]) + (" ..." if len(named) > 12 else "")
        return f"a table without a step number, a time of a step, a throughput or a time stamp; it has {shown}"
    if timed := timed_without_steps(path):
        shown = timed.decode("utf-8", "replace").strip()[:SHOWN]
        return (
            f"`{shown}` has a time, and a number without a name: such numbers count steps if those of at least"
            f" {FEWEST_TO_SEE} lines rise by the same number. Write `step` in front of them, or"
            " import more of the log"
        )
    counted = next((line.strip()[:SHOWN] for line in lines if STEP.search(line)), None)
    if counted:
        return f"no line has both a step number and a time, a throughput or a time stamp; one reads `{counted}`"
    kinds = ", ".join(one.kind for one in FORMATS)
    return (
        "no known format. It has no header of a table, no JSON of rows, no line that names a step number and a"
        f" time, and no line of a {kinds}"
    )


def _by_lines(path: Path, first: int | None = None) -> Format | None:
    """The format of a console log, by the first lines that show one. first: lines that are looked at."""
    any_mark = re.compile(b"|".join(b"(?:" + one.mark.pattern + b")" for one in FORMATS))
    seen: set[str] = set()
    until = first or 0
    for number, line in numbered_lines(path):
        if until and number > until:
            break
        if b": " not in line and b"=" not in line:
            continue
        plain = ESCAPES.sub(b"", line) if b"\x1b" in line else line
        if any_mark.search(plain):
            until = until if seen else number + BESIDE
            seen.update(one.name for one in FORMATS if one.mark.search(plain))
    return next((one for one in FORMATS if one.name in seen), None)
