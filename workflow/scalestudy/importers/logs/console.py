"""A console log of any trainer: lines with a step number and named numbers with units.

`iter 10: loss 3.2, time 123.4ms`, `step: 10 | dt: 0.5 s | tok/sec: 4096`, `[1][50/7330] time: 0.59, ...`. Which
of the numbers are read is learned from the first rows (console_form.py), by the names and units that any table
has, and by what is known of widely used trainers (trainers.py). From then on a row is a line of the same form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.logs import samples_done
from scalestudy.importers.logs.clocks import median
from scalestudy.importers.logs.console_blocks import LINES
from scalestudy.importers.logs.console_form import (
    MEASURED,
    Form,
    form_of,
)
from scalestudy.importers.logs.console_rows import RowReader
from scalestudy.importers.logs.corrected import (
    in_optimizer_steps,
    in_steps,
    of_an_environment,
    of_one_step,
    of_rows,
    of_samples,
    time_of_steps,
    without_start,
)
from scalestudy.importers.logs.lines import lines_with, real_or_nan
from scalestudy.importers.logs.model import Given, Log, Rows
from scalestudy.importers.logs.phrase import Phrase
from scalestudy.importers.logs.progress import QUICKEST_S
from scalestudy.importers.logs.running_means import of_all_steps, of_falling
from scalestudy.importers.logs.stated import facts_of
from scalestudy.importers.logs.trainers import ANY, NUMBERED, OF_THE_LAST_STEP

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
    return [_log(reader, rows, given)]


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


def _log(reader: RowReader, rows: Rows, given: Given) -> Log:
    form, trainer, path = reader.form, reader.form.trainer, reader.path
    rate, time = form.read.get("work_per_s"), form.read.get("step_time_s")
    columns, remarks, accumulation = rows.columns(), list(_remarks(reader)), None
    rounding = {name: _rounding(form.read.get(name), columns[name]) for name in ("step_time_s", "work_per_s")}
    if form.shares and trainer is ANY:
        counted = samples_done.in_steps(path, columns, form.shares, given)
        columns, remarks = counted.columns, [*remarks, *counted.remarks]
        if form.shares[0] > 1 and counted.remarks:
            reader.said.setdefault("devices", form.shares[0])
    made = []
    means = reader.means.between(columns, form.mean_digits) if time else None
    if means:
        made.append(means)
    elif trainer.counts_samples:
        made.append(in_steps(path, columns, given))
    elif (
        time
        and (place := form.read.get("step"))
        and place.position
        and (columns["step_time_s"] < QUICKEST_S).all()
    ):
        made.append(of_samples(path, columns, time.shown, given))
    elif form.of_epochs and time:
        made.append(of_rows(columns, from_start=True))
        remarks.append(
            f"`{time.shown}` is the time of all steps of an epoch, and has more digits than that of one"
        )
    elif trainer in (ANY, NUMBERED) and time and not (time.of_a_step or time.averaged):
        started, named = time.since_start, bool(time.name)
        made.append(
            of_one_step(path, columns, time.shown, has_rate=rate is not None, since_start=started, has_name=named)
        )
    elif (
        trainer is ANY
        and time
        and (found := (of_all_steps if time.is_mean else of_falling)(columns, time.digits(time.value)))
    ):
        made.append(found)
    elif reader.optimizer_steps:
        made.append(in_optimizer_steps(columns, np.array(reader.optimizer_steps)))
    elif trainer.of_rows:
        made.append(of_rows(columns))
    elif trainer.window:
        made.append(without_start(columns, trainer.window))
    for one in made:
        columns, accumulation = one.columns, one.accumulation
        remarks += one.remarks
    if form.rewarded and median(time_of_steps(columns)) < QUICKEST_TRAINED_S:
        of_steps = of_an_environment(path, columns, given)
        columns, remarks = of_steps.columns, [*remarks, *of_steps.remarks]
    running = trainer.each == "running"
    whole_run = running or any(one.whole_run for one in made)
    if running:
        columns = {name: values[-1:] for name, values in columns.items()}
    last = not means and (trainer.each == "last" or (time is not None and time.averaged))
    if trainer.remark and (time or running) and not means:
        remarks.append(trainer.remark)
    elif last:
        remarks.append(OF_THE_LAST_STEP)
    return Log(
        path=path,
        kind=trainer.kind,
        columns=columns,
        facts=facts_of(reader.said, accumulation),
        unit=trainer.unit or (rate.unit if rate else ""),
        per=trainer.per or ("all" if reader.by_rates else rate.per if rate else ""),
        each="last" if last else "mean",
        whole_run=whole_run,
        rounding=rounding["work_per_s" if np.isnan(columns["step_time_s"]).all() else "step_time_s"],
        remarks=remarks,
    )


def _rounding(phrase: Phrase | None, values: np.ndarray) -> float:
    """The largest relative error of numbers by their last printed digit; 0 if many scatter, as it evens out."""
    if phrase is None or not phrase.factor or b"e" in phrase.value.lower() or not len(values):
        return 0.0
    last = 10.0 ** -phrase.digits(phrase.value)
    whole = np.abs(values / last - np.round(values / last)).max() < WHOLE
    known = len(values) < MANY or values.std() < last / 2
    return last / 2 / float(values.mean()) if whole and values.mean() > 0 and known else 0.0


def _remarks(reader: RowReader) -> Iterator[str]:
    read = reader.form.read
    shown = [f"{what} `{read[name].shown}`" for name, what in SHOWN.items() if name in read]
    yield f"a row was read as: {', '.join(shown)}" + ("" if MEASURED & set(read) else ", and its time stamp")
    if reader.others:
        rank = (reader.first_rank or b"").decode()
        yield f"{reader.others} rows of other ranks are left out: those of rank {rank} count"
    if reader.again:
        yield f"{reader.again} lines repeat the row before and are left out"
    if reader.by_rates:
        yield f"{reader.said['devices']} devices, from the ratio of the two printed rates"
    if reader.odd:
        yield f"{reader.odd} lines of another form are left out"


QUICKEST_TRAINED_S = 0.01
"""Seconds that a step takes at least where rows have a reward: shorter ones are those of an environment."""
MANY = 8
"""Numbers that scatter of which the rounding evens out."""
WHOLE = 1e-6
"""Difference to a whole number up to which a number has no further digits."""
SHOWN = {
    "epoch": "epoch",
    "step": "step",
    "step_time_s": "step time",
    "work_per_s": "throughput",
    "clock_s": "time since the start",
}


def _ask(path: Path, form: Form, given: Given) -> None:
    """Raises UserError for a time without a unit."""
    time = form.read.get("step_time_s")
    if time and time.factor is None and given.time is None:
        raise UserError(
            f"{path}: its rows have `{time.shown}`, a time without a unit; add --time s, --time ms or --time us"
        )
