"""Progress bars of a training, as tqdm, rich and Ultralytics draw them: `45/873 [03:12<58:20, 4.21s/it]`.

A bar has the steps done and the time that has passed since it began, which is printed in whole seconds. The time
of a step is that between rows of one bar. The rate that a bar prints is a smoothed mean, which often has the start
in it; it counts only where the passed time is too short to give the step time and fits it.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.logs.lines import lines_with, numbered_lines
from scalestudy.importers.logs.model import Given, Log, Rows
from scalestudy.importers.logs.parts import parts_of
from scalestudy.importers.logs.phrases import STAMP
from scalestudy.importers.logs.stated import LOOKED_AT, facts_of, rank_of, stated_sizes

KIND = "progress bars in a console log"
_PASSED = rb"\d{1,4}:\d\d(?::\d\d)?"
_RATE = (
    rb"(?P<rate%d>\d{1,9}(?:\.\d{1,9})?) ?(?P<unit%d>(?:it|steps?|batch(?:es)?|iter)/s|s/(?:it|step|batch|iter))"
)
BAR = re.compile(
    rb"(?<![\d./])(?P<step>\d{1,12})(?:/(?P<total>\d{1,12}))?(?:it|steps?|batch(?:es)?)?"
    rb"(?: ?\[(?P<passed1>%b)(?:<[^,\]]{1,20})?, *(?:%b)?| +(?P<passed2>%b) \xe2\x80\xa2 [-:\d ]{1,12}(?:%b)?"
    rb"| +%b +(?P<passed3>%b|[\d.]{1,9}s))"
    % (_PASSED, _RATE % (1, 1), _PASSED, _RATE % (2, 2), _RATE % (3, 3), _PASSED)
)
"""The end of a bar: of tqdm, of rich, and of Ultralytics. A bar of other units than steps has no rate here."""
_KEYS = (b"<", b"\xe2\x80\xa2", b"it [", b"/")
"""Texts behind the steps of a bar, of which a log has one."""
OTHER_WORK = re.compile(
    rb"(?i)(?<![a-z])(?:val\w*|eval\w*|test\w*|infer\w*|predict\w*|sanity|download\w*|load\w*|map|tokeni\w+|cache\w*"
    rb"|caching|generate[sd]?|generating|generation|filter\w*|group\w*|pack\w*|saves?|saved|saving|convert\w*|merg\w+"
    rb"|extract\w*|scann\w*|class +images|fetch\w*|preprocess\w*|build\w*|creat\w+|compil\w+|captur\w+)(?![a-z])"
)
"""In the description of a bar that is not of the training."""
_EPOCHS = re.compile(rb"(?i)\bepochs?\W*$")
_OTHER_UNIT = re.compile(rb", *\d[\d.]* ?(?:[kM]?B|\w*(?:ample|mage|oken|ile|xample|pisode|equence)s?)/s")
_NUMBERS, _FIRST, _PERCENT = re.compile(rb"[\d.]+"), re.compile(rb"\d+"), re.compile(rb"\d{1,3}(?:\.\d+)?%")
QUICKEST_S = 0.0002
"""Seconds that a step of a training takes at least: a bar that is faster counts samples."""
SHOWN = 40
"""Characters of a description that a message has."""
SHORT_S = 100.0
"""Passed time of a bar below which whole seconds do not give the step time to 2 %."""
WINDOW_S = 20.0
"""Least time between the rows that are kept, so that whole seconds do not matter."""
MOST_ROWS = 500_000
"""Rows that are looked at; of more rows only some."""
PAUSE, PAUSE_S = 5.0, 5.0
"""Times the median, and seconds, beyond which a step includes other work, such as an evaluation."""


@dataclass
class _Bars:
    """The rows of all bars with one description, digits aside."""

    shown: str
    line: array[Any] = field(default_factory=lambda: array("d"))
    step: array[Any] = field(default_factory=lambda: array("d"))
    """Steps done in all bars so far."""
    passed_s: array[Any] = field(default_factory=lambda: array("d"))
    rate_s: array[Any] = field(default_factory=lambda: array("d"))
    begins: list[int] = field(default_factory=list)
    """Rows that are the first of a bar."""
    back: int = 0
    """Line in which the steps fall and the time does not: another rank drew its bar."""
    label: bytes | None = None
    last: tuple[float, float] = (nan, nan)
    before: tuple[float, float] = (0.0, 0.0)
    """Steps and seconds of the bars before this one."""

    def add(self, number: int, label: bytes | None, step: float, passed_s: float, rate_s: float) -> None:
        last_step, last_s = self.last
        other = self.label != label and step <= last_step
        if passed_s < last_s or other or not self.line:
            if self.line:
                self.before = (self.step[-1], self.passed_s[-1])
            self.begins.append(len(self.line))
        elif step < last_step:
            self.back = self.back or number
            return
        elif step == last_step or passed_s == last_s:
            return  # drawn again, or within the same second
        self.label, self.last = label, (step, passed_s)
        self.line.append(number)
        self.step.append(self.before[0] + step)
        self.passed_s.append(self.before[1] + passed_s)
        self.rate_s.append(rate_s)


def shows_bars(path: Path) -> bool:
    """Return whether one of the first lines of a log has a progress bar of steps."""
    return any(is_bar(line) for _, line in islice(numbered_lines(path), LOOKED_AT))


def is_bar(line: bytes) -> bool:
    """Return whether a line has a progress bar."""
    return (b":" in line or b"s/it" in line or b"it/s" in line) and BAR.search(line) is not None


def read(path: Path, given: Given) -> list[Log]:
    """Return the run of a log, of the bars that took the most time. Raises UserError if no bar is of steps."""
    said = stated_sizes(path, lambda line: False)
    groups: dict[bytes, _Bars] = {}
    rank: bytes | None = None
    for number, line in lines_with(path, _key_of(path)):
        own = rank_of(line)
        rank = rank or own
        if own != rank and own is not None:
            continue
        for part in parts_of(line):
            for begin, match in _bars_of(part):
                _take(groups, number, begin, match)
    bars = _of_training(groups)
    if bars is None:
        raise UserError(f"{path}: its progress bars are not of steps of a training")
    if bars.back:
        raise UserError(
            f"{path}, line {bars.back}: a bar falls behind the one before it: several ranks draw into one log."
            " Import the lines of one rank"
        )
    if bars.passed_s[-1] < QUICKEST_S * bars.step[-1]:
        _in_steps(path, bars, given, said)
    return [_log(path, bars, said)]


def _in_steps(path: Path, bars: _Bars, given: Given, said: dict[str, int]) -> None:
    """Turn the samples that bars count into steps. Raises UserError if the batch is not known."""
    batch = given.batch or said.get("batch") or given.batch_on(given.devices or said.get("devices"))
    if batch is None:
        raise UserError(
            f"{path}: its bars count {bars.step[-1]:.0f} in {bars.passed_s[-1]:.0f} s, which are samples and not"
            f" steps; add --batch {path.name}=N"
        )
    bars.step = array("d", (step / batch for step in bars.step))
    bars.rate_s = array("d", (rate * batch for rate in bars.rate_s))


def _key_of(path: Path) -> bytes:
    """A text that all bars of a log have: the first of _KEYS that one of its first bars has."""
    bars = (BAR.search(line) for _, line in islice(numbered_lines(path), LOOKED_AT) if is_bar(line))
    found = {next((at for at, key in enumerate(_KEYS) if key in bar[0]), len(_KEYS)) for bar in bars if bar}
    return (*_KEYS, b"")[min(found, default=len(_KEYS))]


def _bars_of(part: bytes) -> Iterator[tuple[bytes, re.Match[bytes]]]:
    """Yield (text in front of it, match) of each bar in a line."""
    end = 0
    for match in BAR.finditer(part):
        yield part[end : match.start()], match
        end = match.end()


def _take(groups: dict[bytes, _Bars], number: int, begin: bytes, match: re.Match[bytes]) -> None:
    """Add a row to the bars of its description."""
    key, label = _described(begin)
    if key is None or _OTHER_UNIT.match(match.string, match.end(0) - 1):
        return
    passed = match["passed1"] or match["passed2"] or match["passed3"]
    step = float(match["step"])
    if not step:
        return
    at = next((at for at in "123" if match[f"rate{at}"]), "")
    value = float(match[f"rate{at}"]) if at else 0.0
    per_s = at and match[f"unit{at}"].startswith(b"s/")
    key += b" " + (match["total"] or b"")
    bars = groups.get(key)
    if bars is None:
        bars = groups[key] = _Bars(key.rpartition(b" ")[0].decode("utf-8", "replace").strip(" |:[]"))
    bars.add(number, label, step, _seconds(passed), value if per_s else 1 / value if value else nan)


@lru_cache(maxsize=4096)
def _described(begin: bytes) -> tuple[bytes | None, bytes | None]:
    """(description of a bar without digits, its first number) by the text in front of it; (None, None) for a bar
    that is not of the steps of a training."""
    begin = STAMP.sub(b"", begin)
    percent = _PERCENT.search(begin)
    begin = begin[: percent.start()] if percent else begin.split(b"\xe2\x94\x81")[0]
    first = _FIRST.search(begin)
    if OTHER_WORK.search(begin) or (first is None and _EPOCHS.search(begin)):
        return None, None
    return b" ".join(_NUMBERS.sub(b" ", begin).split())[:SHOWN], first[0] if first else None


def _seconds(passed: bytes) -> float:
    """Seconds of a printed time, such as `03:12`, `1:02:03` or `4.5s`."""
    seconds = 0.0
    for part in passed.rstrip(b"s").split(b":"):
        seconds = 60 * seconds + float(part)
    return seconds


def _of_training(groups: dict[bytes, _Bars]) -> _Bars | None:
    """The bars that took the most time; None if there is none."""
    timed = [bars for bars in groups.values() if bars.passed_s[-1] > 0]
    return max(timed, key=lambda bars: bars.passed_s[-1], default=None)


def _log(path: Path, bars: _Bars, said: dict[str, int]) -> Log:
    every = -(-len(bars.line) // MOST_ROWS)
    line, step, passed_s, rate_s = (
        np.frombuffer(one)[::every] for one in (bars.line, bars.step, bars.passed_s, bars.rate_s)
    )
    name = f" `{bars.shown}`" if any(map(str.isalpha, bars.shown)) else ""
    remarks = [f"read from the progress bars{name}: {step[-1]:.0f} steps in {passed_s[-1]:.0f} s"]
    step, passed_s, pauses = _without_pauses(step, passed_s)
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
        for at in _spaced(passed_s, WINDOW_S if not short else 0.0):
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


def _without_pauses(step: np.ndarray, passed_s: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """(steps, seconds, number of pauses): intervals much longer than the others take no steps and no time."""
    if len(step) < 4:
        return step, passed_s, 0
    steps, time_s = np.diff(step), np.diff(passed_s)
    each = time_s / np.maximum(steps, 1.0)
    middle = float(np.median(each[each > 0])) if (each > 0).any() else 0.0
    pause = (each > PAUSE * middle) & (time_s - steps * middle > PAUSE_S)
    steps, time_s = np.where(pause, 0.0, steps), np.where(pause, 0.0, time_s)
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
