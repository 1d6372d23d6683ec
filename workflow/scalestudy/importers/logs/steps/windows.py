"""The windows of a log: their steps, their times by the clock, and which of them count for the step time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from math import nan
from typing import Final

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.logs.model import Log

TOO_LONG: Final = 5.0
"""A window that takes this many times the median, by time stamps only, includes work other than steps."""
FIRST_STEP: Final = 1
"""Last step whose row, if it is the only one, has little but the start of the run in it."""
MOST_RAGGED, MOST_RAGGED_BY_CLOCK = 0.5, 0.25
"""Share of windows of another length than the usual one up to which they are left out. By time stamps only they
are often those of the end of an epoch, with a validation in them."""
UNEVEN: Final = 3.0
"""Upper over lower quartile of windows beyond which those that are longer are no pauses."""
HOUR: Final = 3600.0
MOST_ROWS: Final = 200_000
"""Rows of a run that are kept."""
MOST_RESTARTS: Final = 1000
LAST = ("line", "step", "clock_s", "work")
"""Columns of which a window of several rows has the last value."""
MUCH_LONGER: Final = 1.5
"""A first row that takes this many times the longest other one has the start in it, however few rows there are."""
FEWEST_TO_DROP: Final = 4
"""Rows from which the first one, which has the start of the run in it, does not count."""


@dataclass
class Windows:
    steps: np.ndarray
    """Steps of each window; nan where unknown."""
    clock_s: np.ndarray
    """Seconds of each window by its time stamps; nan for the first of a part of the log."""
    starts: np.ndarray
    """Whether a window is the first after a start or restart."""

    @property
    def step_time_s(self) -> np.ndarray:
        """Mean step time of each window by its time stamps; nan where unknown."""
        times: np.ndarray = self.clock_s / self.steps
        return times

    @property
    def usual_steps(self) -> int:
        """Steps of most windows between two rows."""
        between = np.where(self.starts, nan, self.steps)
        return most_common(self.steps if np.isnan(between).all() else between)


def thinned(log: Log) -> Log:
    """Return a log with at most about MOST_ROWS rows: rows that follow each other become one longer window."""
    step = log.columns["step"]
    many = -(-len(step) // MOST_ROWS)
    if many <= 1 or log.whole_run:
        return log
    known = step if not np.isnan(step).any() else np.arange(1.0, len(step) + 1)
    starts = np.flatnonzero(known[1:] <= known[:-1]) + 1
    if len(starts) > MOST_RESTARTS:
        return log  # refused as interleaved ranks
    edges = [0, *map(int, starts), len(known)]
    parts = [(begin, begin + (end - begin) // many * many) for begin, end in pairwise(edges)]

    def together(name: str, values: np.ndarray) -> np.ndarray:
        found = []
        for begin, end in parts:
            groups = values[begin:end].reshape(-1, many)
            if name == "work_per_s":
                found.append(many / (1 / groups).sum(axis=1))
            else:
                found.append(groups[:, -1] if name in LAST else groups.mean(axis=1))
        return np.concatenate(found)

    columns = {name: together(name, known if name == "step" else values) for name, values in log.columns.items()}
    remark = f"{len(step)} rows are joined to windows of {many} rows"
    return replace(log, columns=columns, remarks=[*log.remarks, remark])


def most_common(steps: np.ndarray) -> int:
    """The most common number of steps of a window."""
    known = steps[steps >= 1]
    return int(np.bincount(np.minimum(known, 10**6).astype(int)).argmax()) if len(known) else 1


def windows_of(log: Log, remarks: list[str]) -> Windows:
    """Steps and time of each window. A step number that falls is a restart, not a new run."""
    step, clock = log.columns["step"], log.columns["clock_s"]
    if log.whole_run:
        return Windows(log.columns["step"], np.full(len(step), nan), np.zeros(len(step), dtype=bool))
    if np.isnan(step).all():
        step = np.arange(1.0, len(step) + 1)
        remarks.append("rows have no step number: each counts as one step")
    change = np.diff(step, prepend=nan)
    same = change == 0
    if same.sum() > len(step) / 2:
        each = len(step) / len(np.unique(step))
        raise UserError(
            f"{log.name}, line {int(log.columns['line'][same.argmax()])}: each step is there about {each:.0f}"
            " times, without its rank: several ranks wrote into one log. Import the lines of one rank"
        )
    restart = change <= 0
    if restart.any():
        at = restart.argmax()
        line, back = int(log.columns["line"][at]), int(step[at])
        times = int(restart.sum())
        remarks.append(
            f"line {line}: the step number falls to {back}: a restart or a new"
            + " epoch"
            + (f", the first of {times}" if times > 1 else "")
            + ". It is the same run, and its first row does not count"
        )
    starts = restart.copy()
    if len(starts):
        starts[0] = True
    steps = np.where(starts, nan, change)
    if len(step) and not np.isnan(step[0]):
        usual = most_common(steps)
        steps[starts] = np.where(step[starts] <= usual, np.maximum(step[starts], 1), usual)
    passed = np.diff(clock, prepend=nan)
    passed = np.where(starts, nan, passed)
    return Windows(steps, passed, starts)


def _too_long(
    log: Log, windows: Windows, time_s: np.ndarray, counts: np.ndarray, remarks: list[str]
) -> np.ndarray:
    """Which windows take so much longer than the others that they include other work, or a clock that was set."""
    middle = float(np.median(time_s[counts]))
    long: np.ndarray = counts & (time_s > TOO_LONG * middle)
    if long.any() and (uneven := _quarters_of_uneven(time_s[counts & ~long])):
        remarks.append(
            f"the time between rows is uneven: a quarter takes less than {uneven[0]:.3g} s per step, and another"
            f" more than {uneven[1]:.3g} s. All windows count, also the {int(long.sum())} that take more than"
            f" {TOO_LONG:.0f} times the median"
        )
        return np.zeros(len(long), dtype=bool)
    if long.any():
        first = int(long.argmax())
        usual_s = middle * windows.steps[first]
        more_s = float(windows.clock_s[first] - usual_s)
        of_hours = abs(more_s / HOUR - round(more_s / HOUR)) * HOUR < max(60.0, 2 * usual_s)
        how = "as when a clock is set" if more_s > HOUR / 2 and of_hours else "as for an evaluation or a pause"
        many = "1 window takes" if long.sum() == 1 else f"{int(long.sum())} windows take"
        remarks.append(
            f"left out: {many} more than {TOO_LONG:.0f} times the median; the first"
            f" at line {int(log.columns['line'][first])}: {windows.clock_s[first]:.0f} s, {how}"
        )
    return long


def _quarters_of_uneven(time_s: np.ndarray) -> tuple[float, float] | None:
    """The quartiles of windows that differ so much that none is told from a pause; None for even ones."""
    low, high = map(float, np.quantile(time_s, (0.25, 0.75)))
    return (low, high) if high > UNEVEN * low else None


def _note_long(log: Log, time_s: np.ndarray, counts: np.ndarray, remarks: list[str]) -> None:
    """Say which of the stated times are much longer than the others. They count: a step may wait for its data."""
    if not counts.any():
        return
    long: np.ndarray = counts & (time_s > TOO_LONG * float(np.median(time_s[counts])))
    if long.any():
        longest = int(np.where(long, time_s, 0.0).argmax())
        many = "1 row takes" if long.sum() == 1 else f"{int(long.sum())} rows take"
        counting = "counts; it is" if long.sum() == 1 else "count; the longest is"
        remarks.append(
            f"{many} more than {TOO_LONG:.0f} times the median and {counting} at line"
            f" {int(log.columns['line'][longest])}: {time_s[longest]:.4g} s per step, perhaps with a validation"
        )


def counting(
    log: Log, windows: Windows, time_s: np.ndarray, *, clock_only: bool, remarks: list[str]
) -> np.ndarray:
    """Which windows count for the step time."""
    known: np.ndarray = np.isfinite(time_s) & (time_s > 0)
    if log.whole_run:
        return known
    if len(known) == 1 and log.columns["step"][0] <= FIRST_STEP:
        raise UserError(
            f"{log.name}: its only whole row is of step {log.columns['step'][0]:.0f}, which has the start of the"
            " run in it; import more of the log"
        )
    back = windows.clock_s < 0
    if back.any():
        line = int(log.columns["line"][back.argmax()])
        then = "this window is left out" if clock_only else "no step time depends on it"
        remarks.append(f"line {line}: the clock goes back by {-windows.clock_s[back.argmax()]:.0f} s; {then}")
    counts = known & ~(back & clock_only)
    per_row = windows.usual_steps
    ragged = counts & (windows.steps != per_row) & ~windows.starts
    if ragged.sum() > counts.sum() * (MOST_RAGGED_BY_CLOCK if clock_only else MOST_RAGGED):
        remarks.append("rows are means over different numbers of steps; each row counts alike")
    elif ragged.any():
        counts &= ~ragged
        left = "1 window" if ragged.sum() == 1 else f"{int(ragged.sum())} windows"
        usual = "1 step" if per_row == 1 else f"{per_row} steps"
        remarks.append(f"left out: {left} of another length than {usual}")
    if clock_only and counts.sum() > 2:
        counts &= ~_too_long(log, windows, time_s, counts, remarks)
    elif counts.sum() > 2:
        _note_long(log, time_s, counts & ~windows.starts, remarks)
    others = counts & ~windows.starts
    if counts.sum() >= FEWEST_TO_DROP:
        counts = others
    elif (counts & windows.starts).any() and others.any():
        longest_s, start_s = float(time_s[others].max()), float(time_s[counts & windows.starts].min())
        if start_s > MUCH_LONGER * longest_s:
            remarks.append(f"the first row, {start_s:.4g} s per step, has the start in it and is left out")
            counts = others
        elif float(time_s[counts & windows.starts].max()) * MUCH_LONGER < float(time_s[others].min()):
            remarks.append(
                f"the first row, {start_s:.4g} s per step, is much shorter than all others and is left out"
            )
            counts = others
    if not counts.any():
        raise UserError(f"{log.name}: no window of steps has a known time")
    return counts
