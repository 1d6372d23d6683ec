"""Step times from running means: `Time 0.354 (0.500)` has the time of the last step, and the mean of its epoch.

The last step is one of many, and says nothing of steps that wait for data. The mean of the steps between two rows
follows from their running means: (n2 m2 - n1 m1) / (n2 - n1), where n is the number of steps since the start of
the epoch. Rows are joined until the rounding of the means does not matter.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import pairwise
from math import nan

import numpy as np

from scalestudy.importers.logs.console.corrected import Columns, Corrected

ROUNDED_TO = 0.01
"""Relative error of a step time, by the digits of the means, from which on rows are joined."""
MOST_ROWS = 500_000
"""Rows that are looked at; of more rows only some, since a mean is that of all steps before it."""
FEWEST, CHANGED = 5, 0.05
"""Rows, and relative change from the first to the last one, that show a mean since the start."""
FEWEST_UNNAMED, FALLEN = 8, 1.5
"""The same of times that no name calls means: rows that all fall, and the first time over the last one of them."""
REMARK = "step times follow from the means in parentheses, which are those since the start of an epoch"


class Means:
    """Collects the running means of rows, with the steps in front of their epochs."""

    def __init__(self) -> None:
        self._means, self._starts = array("d"), array("d")

    def add(self, means: Iterable[float], starts: Iterable[float]) -> None:
        self._means.extend(means)
        self._starts.extend(starts)

    def between(self, columns: Columns, digits: int) -> Corrected | None:
        """Return the columns with the mean step times between rows; None if no row has a mean."""
        means, starts = np.array(self._means), np.array(self._starts)
        known = np.flatnonzero(np.isfinite(means))
        if len(known) < 2:
            return None
        known = known[:: -(-len(known) // MOST_ROWS)]
        kept = {name: values[known] for name, values in columns.items()}
        return between_means(kept, means[known], digits, starts[known])


def of_all_steps(columns: Columns, digits: int) -> Corrected | None:
    """Return the columns with the mean step times between rows, if the times are means since the start, which
    change in one direction only. None if they are not.

    digits: behind the point, as they are printed in seconds.
    """
    time, changes = columns["step_time_s"], np.diff(columns["step_time_s"])
    if len(time) < FEWEST or not ((changes <= 0).all() or (changes >= 0).all()):
        return None
    if abs(time[-1] / time[0] - 1) < CHANGED:
        return None
    found = between_means(columns, time, digits, np.zeros(len(time)))
    return found and Corrected(
        found.columns, ["step times follow from the printed means, which are since the start"]
    )


def of_falling(columns: Columns, digits: int) -> Corrected | None:
    """Return the columns with the mean step times between rows, if the times fall from the first step on as means
    since the start do, of which the first step takes long. None if they do not.

    The times of steps that warm up do not fall in each row, or fall faster than a mean can. Where the means end to
    be those since the start, as those over the last 100 steps do, the rows behind count as they are printed.
    """
    time, step = columns["step_time_s"], columns["step"]
    if len(time) < FEWEST_UNNAMED or not step[0] <= max(1.0, step[1] - step[0]):
        return None
    done = step + (0.0 if step[0] >= 1 else 1.0)
    spent = np.diff(done * time)
    faster = spent < -0.5 * 10.0**-digits * (done[1:] + done[:-1])
    as_means = _rows_before(faster)
    falls = min(as_means, _rows_before(np.diff(time) >= 0))
    if falls < FEWEST_UNNAMED or time[0] < FALLEN * time[falls - 1]:
        return None
    if len(time) - as_means >= FEWEST_UNNAMED:
        kept = {name: values[as_means:] for name, values in columns.items()}
        return Corrected(kept, [f"the times of the first {as_means} rows are means since the start, and left out"])
    first = {name: values[:as_means] for name, values in columns.items()}
    found = between_means(first, time[:as_means], digits, np.zeros(as_means))
    return found and Corrected(
        found.columns, ["step times fall from row to row as means since the start do: those between rows follow"]
    )


def _rows_before(ends: np.ndarray) -> int:
    """The rows up to the first pair of rows of which this is so."""
    return int(np.append(ends, True).argmax()) + 1


def between_means(columns: Columns, means: np.ndarray, digits: int, starts: np.ndarray) -> Corrected | None:
    """Return the columns with the mean step times between rows; None if the means are not those of epochs.

    means: those in parentheses, in seconds. digits: behind the point, as they are printed in seconds. starts: step
    of the log in front of the first one of the epoch of each row.
    """
    within = columns["step"] - starts
    edges = [0, *(np.flatnonzero(np.diff(starts) != 0) + 1), len(means)]
    done = within + (0.0 if _counts_from_one(columns, means, within, edges) else 1.0)
    kept: list[int] = []
    times: list[float] = []
    for begin, end in pairwise(edges):
        last = begin
        kept.append(begin)
        times.append(means[begin] if not times and done[begin] == 1 else nan)
        for at in range(begin + 1, end):
            steps = done[at] - done[last]
            if steps <= 0 or not (means[at] > 0):
                return None
            time_s = (done[at] * means[at] - done[last] * means[last]) / steps
            error_s = 0.5 * 10.0**-digits * (done[at] + done[last]) / steps
            if time_s <= 0 and -time_s > error_s:
                return None
            if error_s <= ROUNDED_TO * time_s:
                kept.append(at)
                times.append(time_s)
                last = at
        if last < end - 1:  # its steps are known, and not their time
            kept.append(end - 1)
            times.append(nan)
    if not np.isfinite(times[1:]).any():
        return None
    made = {name: values[kept] for name, values in columns.items()}
    return Corrected(made | {"step_time_s": np.array(times)}, [REMARK])


def _counts_from_one(columns: Columns, means: np.ndarray, within: np.ndarray, edges: list[int]) -> bool:
    """Whether the first step of an epoch is 1: no row has step 0, and a row of step 1 is its own mean, or an epoch
    that follows another begins with a whole number of steps between rows."""
    if (within < 1).any():
        return False
    first = within == 1
    if first.any():
        return bool((columns["step_time_s"][first] == means[first]).all())
    spacing = float(np.median(np.diff(within)))
    return len(edges) > 2 and all(within[at] % spacing == 0 for at in edges[1:-1])
