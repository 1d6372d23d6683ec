"""Progress bars of a training, as tqdm, rich and Ultralytics draw them: `45/873 [03:12<58:20, 4.21s/it]`.

A bar has the steps done and the time that has passed since it began, which is printed in whole seconds. The time
of a step is that between rows of one bar. The rate that a bar prints is a smoothed mean, which often has the start
in it; it counts only where the passed time is too short to give the step time and fits it.
"""

from __future__ import annotations

from array import array
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.logs.console.bars import BAR, KEYS, LINES, BarReader, Bars
from scalestudy.importers.logs.console.several_runs import check_one_run
from scalestudy.importers.logs.lines import lines_with, numbered_lines
from scalestudy.importers.logs.model import Given, Log, Rows
from scalestudy.importers.logs.stated import LOOKED_AT, facts_of, stated_sizes
from scalestudy.importers.logs.steps.clocks import FEWEST_WINDOWS, LONG_ENOUGH_S

KIND = "progress bars in a console log"
QUICKEST_S = 0.0002
"""Seconds that a step of a training takes at least: a bar that is faster counts samples."""
SHORT_S = 100.0
"""Passed time of a bar below which whole seconds do not give the step time to 2 %."""
MOST_ROWS = 500_000
"""Rows that are looked at; of more rows only some."""
PAUSE, PAUSE_S = 5.0, 5.0
"""Times the median, and seconds, beyond which a step includes other work, such as an evaluation."""

MOST_BEHIND = 0.25
"""Share of rows behind other bars up to which these are pauses. Bars that are drawn together alternate."""


def shows_bars(path: Path) -> bool:
    """Return whether one of the first lines of a log has a progress bar of steps."""
    return any(is_bar(line) for _, line in islice(numbered_lines(path), LOOKED_AT))


def is_bar(line: bytes) -> bool:
    """Return whether a line has a progress bar."""
    return (b":" in line or b"s/it" in line or b"it/s" in line) and BAR.search(line) is not None


def read(path: Path, given: Given) -> list[Log]:
    """Return the run of a log, of the bars that took the most time. Raises UserError if no bar is of steps."""
    said = stated_sizes(path, lambda line: False)
    reader = BarReader()
    lines = lines_with(path, _key_of(path))
    while block := list(islice(lines, LINES)):
        reader.take_all(block)
    bars = _of_training(reader.groups)
    if bars is None:
        if reader.groups:
            raise UserError(f"{path}: its progress bars pass less than a second, which does not give a step time")
        raise UserError(f"{path}: its progress bars are not of steps of a training")
    if bars.back:
        raise UserError(
            f"{path}, line {bars.back}: a bar falls behind the one before it: several ranks draw into one log."
            " Import the lines of one rank"
        )
    parts = _parts(bars, reader.groups)
    check_one_run(path, parts[0][0], [(before[1], after[0]) for before, after in pairwise(parts)])
    if bars.counted or bars.passed_s[-1] < QUICKEST_S * bars.step[-1]:
        _in_steps(path, bars, given, said)
    return [_log(path, bars, said)]


def _parts(bars: Bars, groups: dict[bytes, Bars]) -> list[tuple[int, int]]:
    """The first and the last line of each bar with the description of these ones, in the order of the file.

    Those of another run may have another number of steps.
    """
    alike = [other for other in groups.values() if (other.shown, other.counted) == (bars.shown, bars.counted)]
    return sorted(part for other in alike for part in other.parts())


def _in_steps(path: Path, bars: Bars, given: Given, said: dict[str, int]) -> None:
    """Turn the samples that bars count into steps. Raises UserError if the batch is not known."""
    batch = given.batch or said.get("batch") or given.batch_on(given.devices or said.get("devices"))
    if batch is None:
        counted = bars.counted or "samples"
        raise UserError(
            f"{path}: its bars count {bars.step[-1]:.0f} {counted} in {bars.passed_s[-1]:.0f} s, and not steps;"
            f" add {given.option('batch', path)}, the {counted} of a step on all devices"
        )
    bars.step = array("d", (step / batch for step in bars.step))
    bars.rate_s = array("d", (rate * batch for rate in bars.rate_s))


def _key_of(path: Path) -> bytes:
    """A text that all bars of a log have: the first of KEYS that one of its first bars has."""
    bars = (BAR.search(line) for _, line in islice(numbered_lines(path), LOOKED_AT) if is_bar(line))
    found = {next((at for at, key in enumerate(KEYS) if key in bar[0]), len(KEYS)) for bar in bars if bar}
    return (*KEYS, b"")[min(found, default=len(KEYS))]


def _of_training(groups: dict[bytes, Bars]) -> Bars | None:
    """The bars that took the most time; None if there is none."""
    timed = [bars for bars in groups.values() if bars.passed_s[-1] > 0]
    return max(timed, key=lambda bars: bars.passed_s[-1], default=None)


def _log(path: Path, bars: Bars, said: dict[str, int]) -> Log:
    every = -(-len(bars.line) // MOST_ROWS)
    line, step, passed_s, rate_s = (
        np.frombuffer(one)[::every] for one in (bars.line, bars.step, bars.passed_s, bars.rate_s)
    )
    behind = np.zeros(len(line), dtype=bool)
    behind[[at for row in bars.behind if (at := -(-row // every)) < len(line)]] = True
    name = f" `{bars.shown}`" if any(map(str.isalpha, bars.shown)) else ""
    remarks = [f"read from the progress bars{name}: {step[-1]:.0f} steps in {passed_s[-1]:.0f} s"]
    step, passed_s, pauses = _without_pauses(step, passed_s, behind)
    if pauses:
        remarks.append(f"{pauses} pauses between two steps are left out, as of an evaluation")
    bars_drawn = len(bars.begins)
    short = passed_s[-1] - passed_s[0] < SHORT_S * bars_drawn
    rows = Rows(path)
    if short and _fits(step, passed_s, rate_s, float(bars_drawn)):
        remarks.append("the time that has passed is short: the rates that the bars print count")
        for at in range(len(step)):
            rows.add(int(line[at]), step[at], step_time_s=rate_s[at])
    else:
        remarks.append("the time between rows counts, which bars print in whole seconds")
        for at in _spaced(passed_s, min(LONG_ENOUGH_S, (passed_s[-1] - passed_s[0]) / FEWEST_WINDOWS)):
            rows.add(int(line[at]), step[at], clock_s=passed_s[at])
    return Log(path=path, kind=KIND, columns=rows.columns(), facts=facts_of(said), remarks=remarks)


def _fits(step: np.ndarray, passed_s: np.ndarray, rate_s: np.ndarray, rounded_s: float) -> bool:
    """Whether the printed rates are within the rounding of the passed time, which is a second for each bar."""
    known = rate_s[np.isfinite(rate_s)]
    if not len(known):
        return False
    steps = step[-1] - step[0] if len(step) > 1 else step[-1]
    time_s = passed_s[-1] - passed_s[0] if len(step) > 1 else passed_s[-1]
    middle = float(np.median(known[len(known) > 1 :]))
    return bool((time_s - rounded_s) / steps <= middle <= (time_s + rounded_s) / steps)


def _without_pauses(
    step: np.ndarray, passed_s: np.ndarray, behind: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """(steps, seconds, number of pauses): intervals much longer than the others take no steps and no time, nor do
    those in which another bar was drawn.

    behind: whether another bar was drawn in front of a row.
    """
    if len(step) < 4:
        return step, passed_s, 0
    steps, time_s = np.diff(step), np.diff(passed_s)
    each = time_s / np.maximum(steps, 1.0)
    middle = float(np.median(each[each > 0])) if (each > 0).any() else 0.0
    pause = (each > PAUSE * middle) & (time_s - steps * middle > PAUSE_S)
    if behind.mean() <= MOST_BEHIND:
        pause |= behind[1:] & (time_s - steps * middle > 0)
    out = pause.copy()
    if middle < 1.0:  # rows begin a second but for the one behind a pause
        out[1:] |= pause[:-1]
    steps, time_s = np.where(out, 0.0, steps), np.where(out, 0.0, time_s)
    begin = np.array([0.0])
    return (
        step[0] + np.concatenate([begin, np.cumsum(steps)]),
        passed_s[0] + np.concatenate([begin, np.cumsum(time_s)]),
        int(pause.sum()),
    )


def _spaced(passed_s: np.ndarray, least_s: float) -> list[int]:
    """Rows such that at least this time passes between two of them."""
    kept, last = [], -np.inf
    for at, here in enumerate(passed_s):
        if here - last >= least_s and here > last:
            kept.append(at)
            last = here
    return kept
