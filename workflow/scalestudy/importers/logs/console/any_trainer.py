"""A console log of any trainer: lines with a step number and named numbers with units.

`iter 10: loss 3.2, time 123.4ms`, `step: 10 | dt: 0.5 s | tok/sec: 4096`, `[1][50/7330] time: 0.59, ...`. Which
of the numbers are read is learned from the first rows (form.py), by the names and units that any table
has, and by what is known of widely used trainers (trainers.py). From then on a row is a line of the same form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.importers.logs.console.blocks import LINES
from scalestudy.importers.logs.console.form import MEASURED, Form, form_of
from scalestudy.importers.logs.console.log import log_of
from scalestudy.importers.logs.console.phrase import Phrase
from scalestudy.importers.logs.console.rows import RowReader
from scalestudy.importers.logs.lines import lines_with, real_or_nan
from scalestudy.importers.logs.model import Given, Log, Rows

KIND = "console log"


def read(path: Path, given: Given) -> list[Log]:
    """Return the run of a log, of the first rank that prints a row. Raises UserError if no line is a row."""
    return read_lines(path, given, form_of(path), lambda form: lines_with(path, form.key))


def read_lines(
    path: Path, given: Given, form: Form | None, lines_of: Callable[[Form], Iterator[tuple[int, bytes]]]
) -> list[Log]:
    """Return the run of the rows among lines with their numbers. Raises UserError as `read` does."""
    if form is None:
        raise UserError(f"{path}: no line with a step number and a time, a throughput or a time stamp")
    _ask(path, form, given)
    reader = RowReader(path, form, given)
    rows = Rows(path)
    lines = lines_of(form)
    while block := list(islice(lines, LINES)):
        reader.take_all(block, rows)
    if not len(rows):
        raise UserError(f"{path}: no complete line of the form of its first rows")
    if len(rows) == 1:
        _check_line(path, form, int(rows.columns()["line"][0]), lines_of(form))
    return [log_of(reader, rows, given)]


def _check_line(path: Path, form: Form, number: int, lines: Iterator[tuple[int, bytes]]) -> None:
    """Raises UserError if the only line that is a row has several, as of a log whose lines were joined.

    number: of that line.
    """
    line = next((line for here, line in lines if here == number), b"")
    measured = next((form.read[name] for name in MEASURED if name in form.read), None)
    if measured is None or "step" not in form.read:
        return
    steps, times = (list(_all(one, line)) for one in (form.read["step"], measured))
    if len(steps) > 1 and len(times) == len(steps) and steps == sorted(set(steps)):
        raise UserError(
            f"{path}, line {number}: has {len(steps)} rows on one line, the last one of step {steps[-1]:.0f};"
            " import the log with a line for each row"
        )


def _all(phrase: Phrase, line: bytes) -> Iterator[float]:
    """All numbers of a line that are found as this one is."""
    find, at = phrase.finder(), 0
    while found := find(line, at):
        yield real_or_nan(found["value"])
        at = found.end()


def _ask(path: Path, form: Form, given: Given) -> None:
    """Raises UserError for a time without a unit."""
    time = form.read.get("step_time_s")
    if time and time.factor is None and given.time is None:
        raise UserError(
            f"{path}: its rows have `{time.shown}`, a time without a unit; add --time s, --time ms or --time us"
        )
