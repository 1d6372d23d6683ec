"""Takes the rows of a console log by their form, many at once where all of them have it, else line by line."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.logs.console.blocks import RowPattern, numbers, times
from scalestudy.importers.logs.console.durations import in_seconds
from scalestudy.importers.logs.console.form import MEASURED, WHERE_SAID, Form, is_no_training
from scalestudy.importers.logs.console.phrases import STAMP
from scalestudy.importers.logs.console.running_means import Means
from scalestudy.importers.logs.lines import real_or_nan, seconds_of_stamp
from scalestudy.importers.logs.model import Given, Rows
from scalestudy.importers.logs.parts import parts_of
from scalestudy.importers.logs.quantities import TIMES
from scalestudy.importers.logs.stated import rank_of, stated_sizes

Block = list[tuple[int, bytes]]
"""Lines with their numbers."""
FEWEST = 500
"""Lines from which on they are tried at once."""
SAME = 0.02
"""Relative difference up to which a ratio of printed rates is a number of devices."""
_NOTHING: dict[str, Any] = dict.fromkeys(("step", "step_time_s", "work_per_s", "clock_s", "work", "loss"), nan) | {
    "total": None
}
_OF_A_ROW = ("step", "step_time_s", "work_per_s")
"""What two lines have in common of which the second repeats the first."""


class RowReader:
    """Takes the rows of a log."""

    def __init__(self, path: Path, form: Form, given: Given) -> None:
        self.path, self.form = path, form
        self.said = stated_sizes(path, lambda line: form.key in line)
        unit = TIMES[given.time or "s"]
        self._fields = tuple((name, find, needed, _factor(form, name, unit)) for name, find, needed in form.fields)
        self._rest = dict(form.rest)
        self._stamped = form.stamped and "clock_s" not in form.read
        self._only_stamps = not MEASURED & set(form.read)
        place = form.read.get("step")
        self._epochs = "epoch" in form.read or (place is not None and place.position and place.in_epoch)
        self._pattern = RowPattern(form, form.rest)
        self.means, self.has_means = Means(), any(name == "mean" for name, _, _ in form.fields)
        self.first_rank: bytes | None = None
        self.others = self.odd = self.again = 0
        self.by_rates = False
        self._devices: float | None = None
        """Number of devices that the rows have."""
        self._row: tuple[Any, ...] = ()
        self._last, self._epoch, self._done = 0.0, 0, 0.0
        self.optimizer_steps: list[float] = []
        """Optimizer step of each row, where rows count iterations."""

    def take_all(self, block: Block, rows: Rows) -> None:
        """Take lines at once where they are all alike, else in halves, and few lines one by one."""
        if self.by_rates and "rate_of_device" in self._rest:
            del self._rest["rate_of_device"]
            self._pattern = RowPattern(self.form, self._rest)  # the devices are known
        if self._take_block(block, rows):
            return
        if len(block) >= 2 * FEWEST:
            half = len(block) // 2
            self.take_all(block[:half], rows)
            self.take_all(block[half:], rows)
            return
        for number, line in block:
            for part in parts_of(line):
                self._take(number, in_seconds(part) if self.form.durations else part, rows)

    def _take_block(self, block: Block, rows: Rows) -> bool:
        """Take many lines at once; False if they have to be taken one by one."""
        found = self._pattern.found_in(b"".join([line for _, line in block]), len(block))
        if found is None:
            return False
        texts, place = list(zip(*found, strict=True)), self._pattern.place
        columns = {"line": np.array([number for number, _ in block], float)}
        for name, _, _, factor in self._fields:
            if name != "epoch":
                as_numbers = times if name == "step_time_s" and self.form.durations else numbers
                columns[name] = as_numbers(texts[place[f"{name}_value"]]) * factor
        if self.form.durations and np.isnan(columns.get("step_time_s", 0)).any():
            return False
        if "steps_per_s" in columns:
            columns["step_time_s"] = _time_of(columns.pop("steps_per_s"))
        if self._stamped:
            stamps = zip(*(texts[place[part]] for part in ("day", "time", "fraction")), strict=True)
            columns["clock_s"] = np.array([seconds_of_stamp(*stamp) for stamp in stamps])
        row = np.stack([columns.get(name, np.full(len(block), nan)) for name in _OF_A_ROW], axis=1)
        again = (row == np.vstack([[self._row or (nan, nan, nan)], row[:-1]])) | (np.isnan(row))
        kept = ~again.all(axis=1) if not self.form.whole_epochs else np.ones(len(block), bool)
        self.again += int((~kept).sum())
        self._row = tuple(map(float, row[-1]))
        counted = columns.get("step", row[:, 0])
        if self._epochs or self.form.whole_epochs:
            columns["step"] = self._steps_of(counted, texts, kept)
        if "mean" in columns:
            self.means.add(columns["mean"][kept], (columns.get("step", counted) - counted)[kept])
        for name in self._rest:
            rates = columns.get("work_per_s", np.full(len(block), nan))
            self._take_rest(name, numbers(texts[place[f"{name}_value"]])[kept].tolist(), rates[kept].tolist())
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

    def _take(self, number: int, line: bytes, rows: Rows) -> None:
        at, begin, values = 0, WHERE_SAID, _NOTHING.copy()
        for name, find, needed, factor in self._fields:
            found = find(line, at)
            if found is None:
                if needed:
                    self.odd += not is_no_training(line[:WHERE_SAID])
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
        if own := rank_of(line) or self._label_of(line):
            if self.first_rank is None:
                self.first_rank = own
            if own != self.first_rank:
                self.others += 1
                return
        if self._stamped:
            if stamp := STAMP.search(line):
                values["clock_s"] = seconds_of_stamp(*stamp.group("day", "time", "fraction"))
            elif self._only_stamps:
                return
        if "steps_per_s" in values:
            values["step_time_s"] = float(_time_of(np.array([values["steps_per_s"]]))[0])
        row = tuple(values[name] for name in _OF_A_ROW)
        if row == self._row and not self.form.whole_epochs:
            self.again += 1
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
        if self.has_means:
            self.means.add([values.get("mean", nan)], [self._done])
        for name, find in self._rest.items():
            if found := find(line):
                self._take_rest(name, [_number(found["value"])], [values["work_per_s"]])

    def _label_of(self, line: bytes) -> bytes | None:
        """The rank with which a line begins, if rows begin with one."""
        found = self.form.label.search(line) if self.form.label else None
        return found[1] if found else None

    def _take_rest(self, name: str, values: Sequence[float], rates: Sequence[float]) -> None:
        """Note what rows have besides their times and rates; nan where one has no such number."""
        for value, rate in zip(values, rates, strict=True):
            if name == "optimizer_step":
                if isfinite(value):
                    self.optimizer_steps.append(value)
            elif name != "rate_of_device":
                if name == "devices" and value >= 1 and self._devices not in (None, value):
                    raise UserError(
                        f"{self.path}: its rows have {self._devices:.0f} devices and then {value:.0f}: a log is"
                        " one run. Make a file of the rows of each"
                    )
                if value >= 1:
                    self.said[name] = int(value)
                    self._devices = value if name == "devices" else self._devices
            elif not self.by_rates and value > 0 and rate / value > 0.5:
                devices = rate / value
                if abs(devices / round(devices) - 1) < SAME:
                    self.said.setdefault("devices", round(devices))
                    self.by_rates = True

    def _step(self, values: dict[str, Any]) -> float:
        """The step since the start of the training, where the log counts those of an epoch."""
        step: float = values["step"]
        if self.form.whole_epochs:
            self._done += step
            return self._done
        if self._epochs:
            epoch = int(values["epoch"])
            if step <= self._last and epoch > self._epoch and values["total"]:
                self._done += (epoch - self._epoch) * int(values["total"])
            self._epoch, self._last = epoch, step
        return self._done + step


def _time_of(steps_per_s: np.ndarray) -> np.ndarray:
    """The time of a step by the number of steps in a second."""
    with np.errstate(divide="ignore"):
        return np.where(steps_per_s > 0, 1 / steps_per_s, nan)


def _factor(form: Form, name: str, unit: float) -> float:
    """What a printed number is multiplied with; unit: that of a time without one."""
    name = "step_time_s" if name == "mean" else name
    if name not in form.read:
        return 1.0
    factor = form.read[name].factor
    return unit if factor is None else factor


def _number(text: bytes) -> float:
    return real_or_nan(text.replace(b",", b"") if b"," in text else text)
