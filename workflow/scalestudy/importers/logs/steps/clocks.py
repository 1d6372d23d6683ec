"""What the time stamps of a log show: whether its step times fit them, and how exact they are."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import ceil, inf, nan
from typing import Final

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.logs.model import Log
from scalestudy.importers.logs.steps.windows import FEWEST_TO_DROP, Windows

STATED_BEYOND_CLOCK, STATED_BELOW_CLOCK = 1.25, 1 / 50
"""Limits of stated step time over elapsed time: a step cannot take longer than the time that passed. Evaluation
and checkpoints explain a smaller ratio, but not one of a wrong unit."""
EARLIEST_S, LATEST_S = 1e9, 4.2e9
"""Seconds from 1970 to a day in 2001 and one in 2103, between which time stamps of a calendar are."""
PARTS_OF_A_SECOND: Final = {"milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}
BETWEEN_STEPS: Final = 1.5
"""Elapsed time over step time of the median window from which a remark says so. Evaluation and checkpoints are in
few windows."""
SECOND_S, UNKNOWN = 1.0, 0.5
"""Largest error of the time between two stamps in whole seconds, and its share of that time from which on no step
time follows."""
RESOLUTION_S, FINE_S = 2.0, 0.002
"""Rounding of time stamps without and with a fraction, at both ends."""
LONG_ENOUGH_S, FEWEST_WINDOWS = 20.0, 5
"""Least time between rows with stamps in whole seconds, and windows that a shorter log is divided into."""
ROUNDED: Final = 0.05
"""Relative rounding of printed times from which an import has a remark on it."""
FEWEST_FINE: Final = 3
"""Rows with exact time stamps that can contradict the stated times."""


def in_seconds(log: Log) -> Log:
    """Return a log whose time stamps are in seconds: those of a calendar show their unit by their size."""
    clock = log.columns["clock_s"]
    known = clock[~np.isnan(clock)]
    if not len(known):
        return log
    for unit, parts in PARTS_OF_A_SECOND.items():
        if known.min() / parts >= EARLIEST_S and known.max() / parts <= LATEST_S:
            remark = f"time stamps are taken as {unit} since 1970, by their size"
            columns = log.columns | {"clock_s": clock / parts}
            return replace(log, columns=columns, remarks=[*log.remarks, remark])
    return log


def spaced(log: Log) -> Log:
    """Return a log that has no times but stamps in whole seconds with rows far enough apart that they are exact.

    Windows shorter than a second last 0 or 1 s by such stamps. Rows are left out evenly, so that windows have the
    same number of steps.
    """
    step, clock, rate = (log.columns[name] for name in ("step", "clock_s", "work_per_s"))
    stated = ~np.isnan(log.columns["step_time_s"]).all() or (rate > 0).any()
    if stated or log.whole_run or np.isnan(clock + step).any() or resolution_of(log) < RESOLUTION_S:
        return log
    edges = [0, *(np.flatnonzero((np.diff(step) <= 0) | (np.diff(clock) < 0)) + 1), len(step)]
    kept: list[int] = []
    for begin, end in pairwise(map(int, edges)):
        passed_s, rows = clock[end - 1] - clock[begin], end - begin - 1
        least_s = min(LONG_ENOUGH_S, passed_s / FEWEST_WINDOWS)
        kept += range(begin, end, max(1, ceil(least_s * rows / passed_s)) if passed_s > 0 else 1)
    if len(kept) == len(step):
        return log
    columns = {name: values[kept] for name, values in log.columns.items()}
    remark = f"time stamps are in whole seconds: {len(kept)} of {len(step)} rows count, far enough from each other"
    return replace(log, columns=columns, remarks=[*log.remarks, remark])


def is_exact(log: Log, passed_s: np.ndarray) -> bool:
    """Whether the time between rows is known to about one percent, so that a batch follows from it."""
    return len(passed_s) > 1 and resolution_of(log) < 0.01 * median(passed_s)


def is_close(stated: np.ndarray, by_clock: np.ndarray) -> bool:
    """Whether the time between rows is that of steps, with nothing much in between."""
    return median(by_clock) <= BETWEEN_STEPS * median(stated)


def resolution_of(log: Log) -> float:
    """Rounding of the time stamps, at both ends."""
    clock = log.columns["clock_s"]
    known = clock[~np.isnan(clock)]
    parts = known - np.floor(known)
    return RESOLUTION_S if (parts == parts[:1]).all() else FINE_S


def against_clock(log: Log, stated: np.ndarray, windows: Windows, remarks: list[str]) -> None:
    """Raises UserError if the step times contradict the time stamps, as a wrong unit does.

    Time between steps that most windows have is not in the step times, and is a remark.
    """
    both = np.isfinite(stated * windows.steps) & (windows.clock_s > 0)
    resolution_s = resolution_of(log)
    if both.sum() < (FEWEST_TO_DROP if resolution_s >= RESOLUTION_S else FEWEST_FINE):
        return
    stated_s = float((stated * windows.steps)[both].sum())
    passed_s = float(windows.clock_s[both].sum())
    if stated_s > STATED_BEYOND_CLOCK * passed_s + resolution_s:
        how = "more than"
    elif stated_s < STATED_BELOW_CLOCK * (passed_s - resolution_s):
        how = "less than 1/50 of"
    else:
        between_s = median(windows.clock_s[both] / windows.steps[both])
        step_s = median(stated[both])
        resolved = median(windows.clock_s[both]) > 5 * resolution_s
        if resolved and between_s > BETWEEN_STEPS * step_s:
            remarks.append(
                f"time stamps give {between_s * 1e3:.4g} ms per step, {between_s / step_s:.2g} times the step"
                " time: what happens between steps, such as loading of data, is not in it; or the batch is wrong"
            )
        return
    raise UserError(
        f"{log.name}: its steps take {stated_s:.4g} s together, {how} the {passed_s:.4g} s between their time"
        " stamps: a unit is wrong. Correct --time, --rate, --per, --batch or --gpus"
    )


def check_whole_seconds(log: Log, counted_s: np.ndarray, steps: np.ndarray, remarks: list[str]) -> None:
    """Say between which limits a step is by time stamps in whole seconds. Raises UserError if they do not give it.

    counted_s, steps: of the windows that count.
    """
    passed_s, done = float(counted_s.sum()), float(steps.sum())
    wide = SECOND_S / passed_s
    if resolution_of(log) < RESOLUTION_S or wide <= ROUNDED:
        return
    if wide >= UNKNOWN:
        raise UserError(
            f"{log.name}: only {passed_s:.0f} s pass in {done:.0f} steps, by time stamps in whole seconds, which"
            " do not give a step time; import more of the log"
        )
    remarks.append(
        f"{passed_s:.0f} s pass in {done:.0f} steps by time stamps in whole seconds: a step takes"
        f" {(passed_s - SECOND_S) / done:.3g} to {(passed_s + SECOND_S) / done:.3g} s"
    )


def instead_of_rounded(log: Log, stated: np.ndarray, windows: Windows, remarks: list[str]) -> bool:
    """Return whether time stamps count instead of step times with few digits, whose rounding is wider than that of
    the stamps and includes what they show. Says in a remark how wide the rounding is."""
    wide = log.rounding
    if wide < ROUNDED:
        return False
    step_s, between_s = median(stated), median(windows.clock_s / windows.steps)
    if np.isnan(log.columns["step_time_s"]).all():  # from a throughput
        shortest_s, longest_s = step_s / (1 + wide), step_s / (1 - wide) if wide < 1 else inf
    else:
        shortest_s, longest_s = step_s * (1 - wide), step_s * (1 + wide)
    alike = np.nanmax(stated) - np.nanmin(stated) <= wide * step_s
    how = f"as {shortest_s:.3g} to {longest_s:.3g} s" if alike else f"each is exact to {100 * wide:.0f} %"
    about = f"step times are printed with few digits, {how}"
    exact = resolution_of(log) < wide * median(windows.clock_s)
    if exact and shortest_s <= between_s <= longest_s:
        remarks.append(f"{about}: the time between rows counts")
        return True
    remarks.append(f"{about}; no result is more exact than that")
    return False


def median(values: np.ndarray) -> float:
    """Return the median of the finite values; nan if there is none."""
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else nan
