"""A console log of any trainer: lines with a step number and named numbers with units.

`iter 10: loss 3.2, time 123.4ms`, `step: 10 | dt: 0.5 s | tok/sec: 4096`, `[1][50/7330] time: 0.59, ...`. Which
of the numbers are read is learned from the first rows (console_form.py), by the names and units that any table
has, and by what is known of widely used trainers (trainers.py). From then on a row is a line of the same form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.logs.console_blocks import LINES, RowPattern, numbers
from scalestudy.importers.logs.console_form import (
    MEASURED,
    WHERE_SAID,
    Form,
    form_of,
    is_no_training,
)
from scalestudy.importers.logs.corrected import in_optimizer_steps, in_steps, of_one_step, of_rows, without_start
from scalestudy.importers.logs.durations import in_seconds
from scalestudy.importers.logs.lines import lines_with, real_or_nan, seconds_of_stamp
from scalestudy.importers.logs.model import Given, Log, Rows
from scalestudy.importers.logs.parts import parts_of
from scalestudy.importers.logs.phrases import STAMP
from scalestudy.importers.logs.quantities import TIMES
from scalestudy.importers.logs.running_means import Means
from scalestudy.importers.logs.stated import facts_of, rank_of, stated_sizes
from scalestudy.importers.logs.trainers import ANY, OF_THE_LAST_STEP

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
    reader = _Reader(path, form, given)
    rows = Rows(path)
    lines = lines_of(form)
    while block := list(islice(lines, LINES)):
        if reader.take_block(block, rows):
            continue
        for number, line in block:
            for part in parts_of(line):
                reader.take(number, _plain(part, form) if form.durations else part, rows)
    if not len(rows):
        raise UserError(f"{path}: no complete line of the form of its first rows")
    return [reader.log(rows, given)]


def _plain(part: bytes, form: Form) -> bytes:
    """A line with the duration that is read as seconds."""
    at = part.find(form.read["step_time_s"].name.encode()) if "step_time_s" in form.read else -1
    if at < 0:
        return in_seconds(part)
    return part[:at] + in_seconds(part[at : at + OF_A_DURATION]) + part[at + OF_A_DURATION :]


class _Reader:
    """Takes the rows of a log."""

    def __init__(self, path: Path, form: Form, given: Given) -> None:
        self._path, self._form = path, form
        self._said = stated_sizes(path, lambda line: form.key in line)
        unit = TIMES[given.time or "s"]
        self._fields = tuple((name, find, needed, _factor(form, name, unit)) for name, find, needed in form.fields)
        self._rest = tuple(form.rest.items())
        self._stamped = form.stamped and "clock_s" not in form.read
        place = form.read.get("step")
        self._epochs = "epoch" in form.read or (place is not None and place.position and place.in_epoch)
        self._pattern = RowPattern(form)
        self._means, self._has_means = Means(), any(name == "mean" for name, _, _ in form.fields)
        self._first_rank: bytes | None = None
        self._others = self._odd = self._again = 0
        self._by_rates = False
        self._row: tuple[Any, ...] = ()
        self._last, self._epoch, self._done = 0.0, 0, 0.0
        self._steps: list[float] = []
        """Optimizer step of each row, where rows count iterations."""

    def take_block(self, block: list[tuple[int, bytes]], rows: Rows) -> bool:
        """Take many lines at once; False if they have to be taken one by one."""
        found = self._pattern.found_in(b"".join([line for _, line in block]), len(block))
        if found is None:
            return False
        texts, place = list(zip(*found, strict=True)), self._pattern.place
        columns = {"line": np.array([number for number, _ in block], float)}
        for name, _, _, factor in self._fields:
            if name != "epoch":
                columns[name] = numbers(texts[place[f"{name}_value"]]) * factor
        if self._stamped:
            stamps = zip(*(texts[place[part]] for part in ("day", "time", "fraction")), strict=True)
            columns["clock_s"] = np.array([seconds_of_stamp(*stamp) for stamp in stamps])
        row = np.stack([columns.get(name, np.full(len(block), nan)) for name in _OF_A_ROW], axis=1)
        again = (row == np.vstack([[self._row or (nan, nan, nan)], row[:-1]])) | (np.isnan(row))
        kept = ~again.all(axis=1) if not self._form.whole_epochs else np.ones(len(block), bool)
        self._again += int((~kept).sum())
        self._row = tuple(map(float, row[-1]))
        counted = columns.get("step", row[:, 0])
        if self._epochs or self._form.whole_epochs:
            columns["step"] = self._steps_of(counted, texts, kept)
        if "mean" in columns:
            self._means.add(columns["mean"][kept], (columns.get("step", counted) - counted)[kept])
        rows.store({name: values[kept] for name, values in columns.items()})
        return True

    def _steps_of(self, steps: np.ndarray, texts: list[tuple[bytes, ...]], kept: np.ndarray) -> np.ndarray:
        """The steps since the start of the training of many rows."""
        place = self._pattern.place
        epochs = texts[place.get("step_epoch", place.get("epoch_value", 0))]
        totals = texts[place["step_total"]] if "step_total" in place else (b"",) * len(epochs)
        made = steps.copy()
        for at in np.flatnonzero(kept):
            made[at] = self._step({"step": float(steps[at]), "epoch": epochs[at], "total": totals[at]})
        return made

    def take(self, number: int, line: bytes, rows: Rows) -> None:
        at, begin, values = 0, WHERE_SAID, _NOTHING.copy()
        for name, find, needed, factor in self._fields:
            found = find(line, at)
            if found is None:
                if needed:
                    self._odd += not is_no_training(line[:WHERE_SAID])
                    return
                continue
            at = found.end()
            values[name] = _number(found["value"]) * factor
            if name == "step":
                begin = found.start()
                if self._epochs:
                    values.update(found.groupdict())
        if is_no_training(line[:begin]):
            return
        if own := rank_of(line):
            if self._first_rank is None:
                self._first_rank = own
            if own != self._first_rank:
                self._others += 1
                return
        if self._stamped and (stamp := STAMP.search(line)):
            values["clock_s"] = seconds_of_stamp(*stamp.group("day", "time", "fraction"))
        row = tuple(values[name] for name in _OF_A_ROW)
        if row == self._row and not self._form.whole_epochs:
            self._again += 1
            return
        self._row = row
        rows.add(
            number,
            self._step(values),
            values["step_time_s"],
            values["work_per_s"],
            values["clock_s"],
            values["work"],
            values["loss"],
        )
        if self._has_means:
            self._means.add([values.get("mean", nan)], [self._done])
        for name, find in self._rest:
            if found := find(line):
                value = _number(found["value"])
                if name == "optimizer_step":
                    self._steps.append(value)
                elif name == "rate_of_device":
                    self._devices_of(values["work_per_s"], value)
                elif value >= 1:
                    self._said[name] = int(value)

    def _devices_of(self, rate: float, each: float) -> None:
        """Note the number of devices that two rates give, if it is one."""
        devices = rate / each if each > 0 else nan
        if devices > 0.5 and abs(devices / round(devices) - 1) < SAME:
            self._said.setdefault("devices", round(devices))
            self._by_rates = True

    def _step(self, values: dict[str, Any]) -> float:
        """The step since the start of the training, where the log counts those of an epoch."""
        step: float = values["step"]
        if self._form.whole_epochs:
            self._done += step
            return self._done
        if self._epochs:
            epoch = int(values["epoch"])
            if step <= self._last and epoch > self._epoch and values["total"]:
                self._done += (epoch - self._epoch) * int(values["total"])
            self._epoch, self._last = epoch, step
        return self._done + step

    def log(self, rows: Rows, given: Given) -> Log:
        form, trainer, path = self._form, self._form.trainer, self._path
        rate, time = form.read.get("work_per_s"), form.read.get("step_time_s")
        columns, remarks, accumulation = rows.columns(), list(self._remarks()), None
        made = []
        means = self._means.between(columns, form.mean_digits) if time else None
        if means:
            made.append(means)
        elif trainer.counts_samples:
            made.append(in_steps(path, columns, given))
        elif trainer is ANY and time and not (time.of_a_step or time.averaged):
            made.append(of_one_step(path, columns, time.shown, has_rate=rate is not None))
        elif self._steps:
            made.append(in_optimizer_steps(columns, np.array(self._steps)))
        elif trainer.of_rows:
            made.append(of_rows(columns))
        elif trainer.window:
            made.append(without_start(columns, trainer.window))
        for one in made:
            columns, accumulation = one.columns, one.accumulation
            remarks += one.remarks
        running = trainer.each == "running"
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
            facts=facts_of(self._said, accumulation),
            unit=trainer.unit or (rate.unit if rate else ""),
            per=trainer.per or ("all" if self._by_rates else rate.per if rate else ""),
            each="last" if last else "mean",
            whole_run=running,
            remarks=remarks,
        )

    def _remarks(self) -> Iterator[str]:
        read = self._form.read
        shown = [f"{what} `{read[name].shown}`" for name, what in SHOWN.items() if name in read]
        yield f"a row was read as: {', '.join(shown)}" + ("" if MEASURED & set(read) else ", and its time stamp")
        if self._others:
            rank = (self._first_rank or b"").decode()
            yield f"{self._others} rows of other ranks are left out: those of rank {rank} count"
        if self._again:
            yield f"{self._again} lines repeat the row before and are left out"
        if self._by_rates:
            yield f"{self._said['devices']} devices, from the ratio of the two printed rates"
        if self._odd:
            yield f"{self._odd} lines of another form are left out"


OF_A_DURATION = 60
"""Bytes of a name and its duration."""
SAME = 0.02
"""Relative difference up to which a ratio of printed rates is a number of devices."""
_NOTHING: dict[str, Any] = dict.fromkeys(("step", "step_time_s", "work_per_s", "clock_s", "work", "loss"), nan) | {
    "total": None
}
_OF_A_ROW = ("step", "step_time_s", "work_per_s")
"""What two lines have in common of which the second repeats the first."""
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


def _factor(form: Form, name: str, unit: float) -> float:
    """What a printed number is multiplied with; unit: that of a time without one."""
    name = "step_time_s" if name == "mean" else name
    if name not in form.read:
        return 1.0
    factor = form.read[name].factor
    return unit if factor is None else factor


def _number(text: bytes) -> float:
    return real_or_nan(text.replace(b",", b"") if b"," in text else text)
