"""Console logs with a line per epoch and no steps: `Epoch 3/10 loss 2.1 time: 12.3s`, `Epoch Time: 0m 38s`.

The steps of an epoch follow from its samples, `--samples`, and the batch of a step. The time of an epoch is all of
its time, with the loading of its data, so it is the mean of its steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from math import isnan, nan
from pathlib import Path

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.logs.console.durations import in_seconds
from scalestudy.importers.logs.console.form import is_no_training
from scalestudy.importers.logs.console.phrases import STAMP, phrases
from scalestudy.importers.logs.lines import numbered_lines, real_or_nan, seconds_of_stamp
from scalestudy.importers.logs.model import Given, Log, Rows
from scalestudy.importers.logs.parts import parts_of
from scalestudy.importers.logs.quantities import TIMES
from scalestudy.importers.logs.stated import facts_of, stated_sizes
from scalestudy.importers.logs.steps.clocks import median
from scalestudy.importers.logs.trainers import ANY

LinesOf = Callable[[Path], Iterator[tuple[int, bytes]]]
KIND = "console log with a line per epoch"
_EPOCH = re.compile(rb"(?i)(?<![a-z])ep(?:och)?[ :=#_\[(]{1,4}(?P<epoch>\d{1,6})(?![\d.])")
_TIME = re.compile(
    rb"(?i)(?<![a-z])(?P<name>(?:train(?:ing)?|epoch|elapsed|total)?[ _]?"
    rb"(?:time|elapsed|duration|took|takes)(?: elapsed| taken)?|train(?:ed)?(?: in)?"
    rb"|(?:done|finished|completed) in)"
    rb"(?: (?:for|of) ep(?:och)? ?#?\d{1,6})?(?: (?:is|was))?"
    rb"(?P<said> ?[(\[](?:s|sec|secs|seconds|min|minutes|ms)[)\]])?['\"]?[ :=|]{1,4}"
    rb"(?P<value>\d{1,9}(?:\.\d{1,20})?)(?!\.?\d)"
    rb"(?P<unit> ?(?:ms|seconds|secs|sec|s|minutes|mins|min|m)(?![\w/]))?(?![\d:/%%])"
)
_ALONE = re.compile(rb"\((?P<value>\d{1,9}(?:\.\d{1,20})?)(?P<unit> ?(?:ms|s|secs?|seconds|min|minutes))\)")
"""A time that is all that parentheses have."""
_BETWEEN_DASHES = re.compile(rb"- (?P<value>\d{1,9}(?:\.\d{1,20})?)(?P<unit>ms|s|min) - ")
"""The time of an epoch as Keras prints it: `Epoch 1/6 - 62s - loss: 0.5`."""
_LOSS = re.compile(rb"(?i)loss['\"]?[ :=]{1,3}(?P<value>\d[\d.]*(?:e[-+]?\d+)?)")
_SAYS_TIME = re.compile(rb"(?i)time|elapsed|duration|too?k")
"""In the name of a time that may have no unit."""
SAME, STEADY = 0.1, 0.01
"""Relative difference to the samples that are given, and spread of those of all epochs, by their throughput."""
FEWEST, FEWEST_STAMPED = 2, 3
"""Epochs that a log has to have, with their times, and with nothing but time stamps."""


def shows_epochs(lines: Iterable[tuple[int, bytes]]) -> bool:
    """Return whether lines with their numbers have several epochs with their times."""
    found = (_row(part) for _, line in lines for part in parts_of(line))
    seen: set[float] = set()
    for row in filter(None, found):
        seen.add(row[0])
        if len(seen) == FEWEST:
            return True
    return False


def shows_stamped_epochs(lines: Iterable[tuple[int, bytes]]) -> bool:
    """Return whether lines with their numbers have several epochs with a loss and a time stamp."""
    seen: set[float] = set()
    for _, line in lines:
        for part in parts_of(line):
            if found := _stamped(part):
                seen.add(found[0])
        if len(seen) == FEWEST_STAMPED:
            return True
    return False


def read_stamped(path: Path, given: Given) -> list[Log]:
    """Return the run of a log whose lines of epochs have no time but time stamps. Raises UserError as `read`."""
    lines: list[int] = []
    found: list[tuple[float, float, float]] = []
    for number, line in numbered_lines(path):
        for row in filter(None, map(_stamped, parts_of(line))):
            if not found or row[0] != found[-1][0]:
                lines.append(number)
                found.append(row)
    epochs, stamps, losses = np.array(found).T
    batch, steps = _sizes(path, given, stated_sizes(path, lambda line: False))
    rows = Rows(path)
    for at, number in enumerate(lines):
        rows.add(number, (epochs[at] - epochs[0] + 1) * steps, clock_s=stamps[at], loss=losses[at])
    said = f"a line is an epoch of {steps:.0f} steps: the time between two lines counts, with its validation"
    facts = facts_of(stated_sizes(path, lambda line: False) | {"batch": batch})
    return [Log(path=path, kind=KIND, columns=rows.columns(), facts=facts, remarks=[said])]


def _sizes(path: Path, given: Given, said: dict[str, int], printed: float = nan) -> tuple[int, float]:
    """(batch, steps of an epoch). Raises UserError that asks for what is not known, or contradicts.

    printed: samples of an epoch by its printed time and throughput.
    """
    batch = given.batch or said.get("batch") or given.batch_on(given.devices or said.get("devices"))
    if batch is None:
        option = given.option("batch", path)
        raise UserError(f"{path}: a line is an epoch, and the samples of a step are not in it; add {option}")
    samples = given.samples if given.samples is not None else printed
    if isnan(samples):
        option = given.option("samples", path)
        raise UserError(f"{path}: a line is an epoch, and its samples are not in it; add {option}")
    if abs(samples / printed - 1) > SAME:
        raise UserError(
            f"{path}: an epoch has {printed:.0f} samples by its throughput and its time, and not {samples:.0f};"
            " correct --samples, or leave it out"
        )
    return batch, max(1.0, float(round(samples / batch)))


def _rate_of(line: bytes) -> float:
    """The samples per second of all devices that a line has; nan without any."""
    rate = phrases(line, ANY).get("work_per_s")
    return real_or_nan(rate.value) if rate and rate.unit == "samples" and rate.per != "device" else nan


def _stamped(line: bytes) -> tuple[float, float, float] | None:
    """(epoch, time stamp, loss) of a line; None for another line."""
    epoch, stamp, loss = _EPOCH.search(line), STAMP.search(line), _LOSS.search(line)
    if epoch is None or stamp is None or loss is None or is_no_training(line[: epoch.start()]):
        return None
    clock = seconds_of_stamp(*stamp.group("day", "time", "fraction"))
    return float(epoch["epoch"]), clock, real_or_nan(loss["value"])


def read(path: Path, given: Given, lines_of: LinesOf = numbered_lines) -> list[Log]:
    """Return the run of a log. Raises UserError that asks for what the log does not say.

    lines_of: returns the lines of a file with their numbers.
    """
    said = stated_sizes(path, lambda line: False)
    lines: list[int] = []
    epochs: list[float] = []
    times: list[float] = []
    losses: list[float] = []
    rates: list[float] = []
    shown, unit = "", ""
    for number, line in lines_of(path):
        for part in parts_of(line):
            found = _row(part)
            if found is None or (epochs and found[0] == epochs[-1]):
                continue
            epoch, time, here = found
            if not shown:
                shown, unit = time[0].decode("utf-8", "replace").strip(), here
            loss = _LOSS.search(part)
            lines.append(number)
            epochs.append(epoch)
            times.append(real_or_nan(time["value"]) * TIMES.get(here, 1.0))
            losses.append(real_or_nan(loss["value"]) if loss else nan)
            rates.append(_rate_of(part))
    if not lines:
        raise UserError(f"{path}: no line has both an epoch and its time, as in `Epoch 1/6 - 62s - loss: 0.5`")
    if not unit:
        if given.time is None:
            raise UserError(
                f"{path}: its lines have `{shown}`, a time without a unit; add --time s, --time ms or --time us"
            )
        times = [time * TIMES[given.time] for time in times]
    work = np.array(times) * np.array(rates)
    printed = median(work) if np.isfinite(work).all() and (np.abs(work / median(work) - 1) < STEADY).all() else nan
    batch, steps = _sizes(path, given, said, printed)
    each, remarks = _of_each(np.array(times), shown)
    if given.samples is None:
        remarks.append(f"an epoch has {printed:.0f} samples, from its throughput times its time")
    rows = Rows(path)
    for at, line_number in enumerate(lines):
        rows.add(line_number, (epochs[at] - epochs[0] + 1) * steps, step_time_s=each[at] / steps, loss=losses[at])
    remarks.append(f"a line is an epoch of {steps:.0f} steps, whose time is `{shown}`")
    return [
        Log(path=path, kind=KIND, columns=rows.columns(), facts=facts_of(said | {"batch": batch}), remarks=remarks)
    ]


def _row(line: bytes) -> tuple[float, re.Match[bytes], str] | None:
    """(epoch, its time, unit of the time) of a line; None for another line."""
    epoch = _EPOCH.search(line)
    if epoch is None or is_no_training(line[: epoch.start()]):
        return None
    for time in _TIME.finditer(in_seconds(line)):
        if not (time["unit"] or time["said"]) and not _SAYS_TIME.search(time["name"]):
            continue
        unit = (time["unit"] or time["said"] or b"").decode().strip(" ()[]").lower()
        return float(epoch["epoch"]), time, {"m": "min", "mins": "min"}.get(unit, unit)
    alone = list(_ALONE.finditer(line)) or list(_BETWEEN_DASHES.finditer(line))
    if len(alone) == 1 and _LOSS.search(line):
        return float(epoch["epoch"]), alone[0], alone[0]["unit"].decode().strip()
    return None


def _of_each(times: np.ndarray, shown: str) -> tuple[np.ndarray, list[str]]:
    """(time of each epoch, remarks): a time that rises with each epoch, by about as much, is since the start."""
    rises = np.diff(times)
    if len(times) > 2 and (rises > 0).all() and times[-1] > 2 * times[0] and rises.min() > 0.2 * rises.max():
        first = times[0] if times[0] < 3 * np.median(rises) else nan
        return np.concatenate([[first], rises]), [
            f"`{shown}` rises from line to line: it is the time since the start"
        ]
    return times, []
