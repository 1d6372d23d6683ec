"""Console logs with a table whose cells are separated by spaces, under a header that may be printed again:

    Step (% Done)       Train Iter (time)    ETA (time)            epoch     train_loss  time
    4090 (81.78%)       43.140 ms            39 s, 300.687 ms      0         2.513201    08:10

Each row becomes a line of any trainer, `Step: 4090 (81.78%) | Train Iter (time): 43.140 ms`, or a line per epoch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from scalestudy.importers.logs.console import any_trainer, epoch_rows
from scalestudy.importers.logs.console.form import LEARNED_FROM, MEASURED, Form, form_of_lines
from scalestudy.importers.logs.lines import numbered_lines
from scalestudy.importers.logs.model import Given, Log
from scalestudy.importers.logs.parts import parts_of
from scalestudy.importers.logs.quantities import meaning_of

_WIDE, _ANY = re.compile(rb"(?: *\t|  )[ \t]*"), re.compile(rb"\s+")
_NAME = re.compile(rb"[A-Za-z%#](?:(?!: )[^=|])*")
_PERCENT = re.compile(rb" ?\([^)]*%[^)]*\)")
_UNIT = re.compile(rb"(?i)(?P<name>.+?) ?[(\[](?P<unit>ms|us|s|secs?|seconds|min|minutes)[)\]]")
FEWEST, MOST_CELLS = 2, 60
"""Rows that show a table, and cells of a row."""


def reads(path: Path) -> bool:
    """Return whether a log has such a table, of steps or of epochs with their times."""
    return _form_of(path) is not None or epoch_rows.shows_epochs(islice(joined(path), LEARNED_FROM))


def read(path: Path, given: Given) -> list[Log]:
    """Return the run of a log. Raises UserError as any_trainer.read and epoch_rows.read do."""
    if form := _form_of(path):
        return any_trainer.read_lines(path, given, form, lambda _: joined(path))
    return epoch_rows.read(path, given, joined)


def joined(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (number, line with the names of its columns in front of its cells) of the rows of the table."""
    between, names = _header_of(path)
    if not names:
        return
    for number, line in numbered_lines(path):
        for part in parts_of(line):
            cells = between.split(part.strip())
            if len(cells) == len(names) and cells[0][:1].isdigit():
                pairs = (
                    b"%b: %b%b" % (name, cell, unit)
                    for (name, unit), cell in zip(names, cells, strict=True)
                    if name
                )
                yield number, b" | ".join(pairs) + b"\n"


def _form_of(path: Path) -> Form | None:
    """The form of the rows; None if they have no step, or no time or throughput."""
    form = form_of_lines(islice(joined(path), LEARNED_FROM))
    return form if form and "step" in form.read and MEASURED & set(form.read) else None


def _header_of(path: Path) -> tuple[re.Pattern[bytes], list[tuple[bytes, bytes]]]:
    """(what separates cells, name and unit of each column) of the table; no names if there is none."""
    for between in (_WIDE, _ANY):
        names: list[tuple[bytes, bytes]] = []
        rows = 0
        for _, line in islice(numbered_lines(path), LEARNED_FROM):
            cells = between.split(line.strip(), MOST_CELLS)
            if not names:
                names = _names(cells)
            elif len(cells) == len(names) and cells[0][:1].isdigit():
                rows += 1
                if rows == FEWEST:
                    return between, names
    return _WIDE, []


def _names(cells: list[bytes]) -> list[tuple[bytes, bytes]]:
    """(name, unit of a time) of each column, '' for the place in a program that has printed a line.

    None of them if the cells are no header of a table of steps or epochs.
    """
    if not 1 < len(cells) < MOST_CELLS or not all(map(_NAME.fullmatch, cells)):
        return []
    names = [b"" if b":" in cell else _PERCENT.sub(b"", cell).strip() for cell in cells]
    counts = names[0].decode("utf-8", "replace")
    meaning = meaning_of(counts)
    if counts.lower() != "epoch" and (meaning is None or meaning.quantity != "step"):
        return []
    found = [_UNIT.fullmatch(name) for name in names]
    return [
        (one["name"], b" " + one["unit"]) if one else (name, b"") for name, one in zip(names, found, strict=True)
    ]
