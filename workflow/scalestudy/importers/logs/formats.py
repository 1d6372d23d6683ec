"""All formats of logs, and which one a file has: recognised by what is in it, never by its name."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.importers.logs import (
    csv_log,
    deepspeed,
    json_log,
    kineto,
    megatron,
    mlflow_store,
    mllog,
    nanotron,
    tensorboard_log,
    torchtitan,
    trainer_state,
)
from scalestudy.importers.logs.lines import ESCAPES, head_of, numbered_lines
from scalestudy.importers.logs.model import Given, Log
from scalestudy.importers.logs.printed import shows_scaling
from scalestudy.importers.tables import decoded

Read = Callable[[Path, Given], list[Log]]
BINARY = {
    b"\x80\x02": "a pickle",
    b"\x80\x03": "a pickle",
    b"\x80\x04": "a pickle",
    b"\x80\x05": "a pickle",
    b"PK\x03\x04": "a zip archive, as torch.save and Excel write it",
    b"PAR1": "a parquet file",
}
"""Beginnings of files that are never opened: reading a pickle runs the code in it."""
BESIDE = 500
"""Lines after the first one that is known in which another format may show: Megatron-DeepSpeed prints both."""


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
    Format("deepspeed", deepspeed.KIND, deepspeed.MARK, deepspeed.read),
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
NAMES = (*(one.name for one in FORMATS), *BY_HEAD, "mlflow", TABLE)


def is_table(path: Path, name: str | None) -> bool:
    """Return whether a file has tables of scaling, with a row per number of devices, and is no log.

    name: of its format, as the user says.
    """
    if name is not None or path.is_dir():
        return name == TABLE
    head = head_of(path)
    if b"\x00" in head or head.startswith(tuple(BINARY)) or any(one.mark.search(head) for one in FORMATS):
        return False
    if any(recognise(head) for known, (recognise, _) in BY_HEAD.items() if known != "csv"):
        return False
    whole = head[: head.rfind(b"\n") + 1] or head
    try:
        try:
            return shows_scaling(decoded(whole))
        except UnicodeDecodeError:  # the reader names the byte
            return shows_scaling(whole.decode("latin-1"))
    except csv.Error:
        return False


def read_log(path: Path, given: Given, *, name: str | None = None) -> list[Log]:
    """Return the runs in a file, or in a folder that a tool wrote. name: of the format, instead of recognising it.

    Raises UserError that names the file, and the line where there is one.
    """
    return _reader(path, name)(path, given)


def _reader(path: Path, name: str | None) -> Read:
    if path.is_dir() or name == "mlflow":
        return mlflow_store.read
    head = head_of(path)
    for start, what in BINARY.items():
        if head.startswith(start):
            raise UserError(f"{path}: is {what}, which is never opened; export it as CSV or JSON lines")
    for one in FORMATS:
        if one.name == name:
            return one.read
    for known, (recognise, read) in BY_HEAD.items():
        if name in (None, known) and (kind := recognise(head)):
            return partial(read, kind=kind)
    if name is not None:
        raise UserError(f"{path}: is not in the format {name}")
    if b"\x00" in head:
        raise UserError(f"{path}: is a binary file of no known format")
    found = _by_lines(path)
    if found is None:
        kinds = ", ".join(one.kind for one in FORMATS)
        raise UserError(
            f"{path}: no known format. It has no header of a table, no JSON of rows, and no line of a {kinds}. The"
            f" formats of --format are {', '.join(NAMES)}"
        )
    return found.read


def _by_lines(path: Path) -> Format | None:
    """The format of a console log, by the first lines that show one."""
    any_mark = re.compile(b"|".join(b"(?:" + one.mark.pattern + b")" for one in FORMATS))
    seen: set[str] = set()
    until = 0
    for number, line in numbered_lines(path):
        if until and number > until:
            break
        if b": " not in line and b"=" not in line:
            continue
        plain = ESCAPES.sub(b"", line) if b"\x1b" in line else line
        if any_mark.search(plain):
            until = until or number + BESIDE
            seen.update(one.name for one in FORMATS if one.mark.search(plain))
    return next((one for one in FORMATS if one.name in seen), None)
