"""The rows of progress bars: what a bar is, and the rows of all bars with one description.

Bars of many lines are found by one pattern where each line is one bar of the same description.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from functools import lru_cache
from math import nan
from typing import Any

import numpy as np

from scalestudy.importers.logs.console.phrases import STAMP
from scalestudy.importers.logs.parts import parts_of
from scalestudy.importers.logs.stated import rank_of

_PASSED = rb"\d{1,4}:\d\d(?::\d\d)?"
_RATE = (
    rb"(?P<rate%d>\d{1,9}(?:\.\d{1,9})?) ?(?P<unit%d>(?:it|steps?|batch(?:es)?|iter)/s|s/(?:it|step|batch|iter))"
)
BAR = re.compile(
    rb"(?<![\d./])(?P<step>\d{1,12})(?:/(?P<total>\d{1,12}))?(?:[A-Za-z]{1,12}(?= ?\[))?"
    rb"(?: ?\[(?P<passed1>%b)(?:<[^,\]]{1,20})?, *(?:%b)?| +(?P<passed2>%b) \xe2\x80\xa2 [-:\d ]{1,12}(?:%b)?"
    rb"| +%b +(?P<passed3>%b|[\d.]{1,9}s))"
    % (_PASSED, _RATE % (1, 1), _PASSED, _RATE % (2, 2), _RATE % (3, 3), _PASSED)
)
"""The end of a bar: of tqdm, of rich, and of Ultralytics. A bar of other units than steps has no rate here."""
_LINE = re.compile(b"(?m)^(?P<begin>[^\\n]*?)" + BAR.pattern + b"(?P<rest>[^\\n]*+)\\n")
LINES, FEWEST = 4000, 500
"""Lines of a block, and those from which on they are tried at once."""
_ALONE = (b"[default", b"\x1b", b"\x08")
"""In lines that are taken one by one: of a rank, coloured, with a bar over another one."""
KEYS = (b"<", b"\xe2\x80\xa2", b"it [", b"/")
"""Texts behind the steps of a bar, of which a log has one."""
OTHER_WORK = re.compile(
    rb"(?i)(?<![a-z])(?:val\w*|eval\w*|test\w*|infer\w*|predict\w*|sanity|download\w*|load\w*|map|tokeni\w+|cache\w*"
    rb"|caching|generate[sd]?|generating|generation|filter\w*|group\w*|pack\w*|saves?|saved|saving|convert\w*|merg\w+"
    rb"|extract\w*|scann\w*|class +images|fetch\w*|preprocess\w*|build\w*|creat\w+|compil\w+|captur\w+)(?![a-z])"
)
"""In the description of a bar that is not of the training."""
_EPOCHS = re.compile(rb"(?i)\bepochs?\W*$")
_OTHER_UNIT = re.compile(rb", *\d[\d.]*[kMG]? ?(?:(?P<work>[A-Za-z]{1,20})/s|s/(?P<each>[A-Za-z]{1,20}))\b")
_NO_WORK = re.compile(
    rb"(?i)[kmg]?i?b(?:ytes?)?|ep(?:och)?s?|files?|episodes?|rounds?|trials?|games?|evals?|tests?"
)
"""What bars count that are of no training step, such as bytes, or of whole epochs."""
_NUMBERS, _FIRST, _PERCENT = re.compile(rb"[\d.]+"), re.compile(rb"\d+"), re.compile(rb"\d{1,3}(?:\.\d+)?%")
SHOWN = 40
"""Characters of a description that a message has."""


@dataclass
class Bars:
    """The rows of all bars with one description, digits aside."""

    shown: str
    counted: str = ""
    """What is counted, such as `img`; '' for steps."""
    line: array[Any] = field(default_factory=lambda: array("d"))
    step: array[Any] = field(default_factory=lambda: array("d"))
    """Steps done in all bars so far."""
    passed_s: array[Any] = field(default_factory=lambda: array("d"))
    rate_s: array[Any] = field(default_factory=lambda: array("d"))
    begins: list[int] = field(default_factory=list)
    """Rows that are the first of a bar."""
    ends: list[int] = field(default_factory=list)
    """Last line of each bar, drawn again or not."""
    behind: list[int] = field(default_factory=list)
    """Rows in front of which another bar was drawn, as of an evaluation."""
    is_behind: bool = False
    """Whether another bar was drawn since the last row."""
    back: int = 0
    """Line in which the steps fall and the time does not: another rank drew its bar."""
    label: bytes | None = None
    last: tuple[float, float] = (nan, nan)
    before: tuple[float, float] = (0.0, 0.0)
    """Steps and seconds of the bars before this one."""

    def parts(self) -> list[tuple[int, int]]:
        """Return the first and the last line of each bar."""
        return [(int(self.line[at]), end) for at, end in zip(self.begins, self.ends, strict=True)]

    def add(self, number: int, label: bytes | None, step: float, passed_s: float, rate_s: float) -> None:
        last_step, last_s = self.last
        other = self.label != label and step <= last_step
        if passed_s < last_s or other or not self.line:
            if self.line:
                self.before = (self.step[-1], self.passed_s[-1])
            self.begins.append(len(self.line))
            self.ends.append(number)
        elif step < last_step:
            self.back = self.back or number
            return
        elif step == last_step or passed_s == last_s:
            self.ends[-1] = number
            return  # drawn again, or within the same second
        self.ends[-1] = number
        self.label, self.last = label, (step, passed_s)
        self._mark()
        self.line.append(number)
        self.step.append(self.before[0] + step)
        self.passed_s.append(self.before[1] + passed_s)
        self.rate_s.append(rate_s)

    def _mark(self) -> None:
        """Note that the next row is behind another bar, if it is."""
        if self.is_behind:
            self.behind.append(len(self.line))
            self.is_behind = False

    def add_all(
        self,
        numbers: list[int],
        label: bytes | None,
        steps: list[float],
        passed_s: list[float],
        rates_s: list[float],
    ) -> None:
        """Add many rows, as `add` adds each of them that has a step."""
        kept: list[int] = []
        last_step, last_s = self.last
        end = 0
        if self.line and label == self.label:
            end = len(steps)
            for at, (step, time_s) in enumerate(zip(steps, passed_s, strict=True)):
                if step > last_step and time_s > last_s:
                    kept.append(at)
                    last_step, last_s = step, time_s
                elif step < last_step or time_s < last_s:
                    end = at
                    break
        self.last = (last_step, last_s)
        if end:
            self.ends[-1] = numbers[end - 1]
        before_steps, before_s = self.before
        if kept:
            self._mark()
        self.line.extend([numbers[at] for at in kept])
        self.step.extend([before_steps + steps[at] for at in kept])
        self.passed_s.extend([before_s + passed_s[at] for at in kept])
        self.rate_s.extend([rates_s[at] for at in kept])
        for at in range(end, len(steps)):
            if steps[at]:
                self.add(numbers[at], label, steps[at], passed_s[at], rates_s[at])


class BarReader:
    """Takes the bars of the lines of a log."""

    def __init__(self) -> None:
        self.groups: dict[bytes, Bars] = {}
        """Description with what is counted -> its bars."""
        self._rank: bytes | None = None
        self._drawn: Bars | None = None
        """Those of the last bar; None if it is of no training."""

    def take_all(self, block: list[tuple[int, bytes]]) -> None:
        """Take lines at once where they are all alike, else in halves, and few lines one by one."""
        if self._take_block(block):
            return
        if len(block) >= 2 * FEWEST:
            half = len(block) // 2
            self.take_all(block[:half])
            self.take_all(block[half:])
            return
        for number, line in block:
            own = rank_of(line)
            self._rank = self._rank or own
            if own != self._rank and own is not None:
                continue
            for part in parts_of(line):
                end = 0
                for match in BAR.finditer(part):
                    self._take(number, part[end : match.start()], match)
                    end = match.end()

    def _take_block(self, block: list[tuple[int, bytes]]) -> bool:
        """Take many lines at once; False if they have to be taken one by one."""
        lines = b"".join([line for _, line in block])
        if b"ank" in lines or any(text in lines for text in _ALONE):
            return False
        if b"\r" in lines and lines.count(b"\r") != lines.count(b"\r\n"):
            return False
        found = _LINE.findall(lines)
        if len(found) != len(block):
            return False
        begins, steps, totals, *columns, rests = zip(*found, strict=True)
        passed, rates, units = columns[0], columns[1], columns[2]
        described = {_described(begin) for begin in set(begins)}
        key, label = described.pop()
        if described or key is None or len(set(totals)) > 1 or len(set(units)) > 1 or not (passed[0] and units[0]):
            return False
        if BAR.search(b"\n".join(rests)):
            return False
        per_s = units[0].startswith(b"s/")
        bars = self._bars(key, totals[0], "")
        values = np.array([float(rate) for rate in rates])
        with np.errstate(divide="ignore"):
            rates_s = values if per_s else np.where(values > 0, 1 / values, nan)
        numbers = [number for number, _ in block]
        bars.add_all(numbers, label, [float(step) for step in steps], _all_seconds(passed), rates_s.tolist())
        return True

    def _take(self, number: int, begin: bytes, match: re.Match[bytes]) -> None:
        """Add a row to the bars of its description."""
        key, label = _described(begin)
        passed = match["passed1"] or match["passed2"] or match["passed3"]
        step = float(match["step"])
        if key is None:
            self._drawn = None
        if key is None or not step:
            return
        at = next((at for at in "123" if match[f"rate{at}"]), "")
        value = float(match[f"rate{at}"]) if at else 0.0
        per_s, counted = at and match[f"unit{at}"].startswith(b"s/"), ""
        comma = match.string.rfind(b",", match.start(), match.end())
        if not at and comma >= 0 and (other := _OTHER_UNIT.match(match.string, comma)):
            unit = other["work"] or other["each"]
            if _NO_WORK.fullmatch(unit):
                self._drawn = None
                return
            counted = unit.decode()
        rate_s = value if per_s else 1 / value if value else nan
        self._bars(key, match["total"] or b"", counted).add(number, label, step, _seconds(passed), rate_s)

    def _bars(self, description: bytes, total: bytes, counted: str) -> Bars:
        """The bars of a description, with the same total and unit, of which one is drawn now."""
        key = b" ".join((description, counted.encode(), total))
        bars = self.groups.get(key)
        if bars is None:
            bars = self.groups[key] = Bars(description.decode("utf-8", "replace").strip(" |:[]"), counted)
        if self._drawn is not bars:
            bars.is_behind = bool(bars.line)
            self._drawn = bars
        return bars


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


@lru_cache(maxsize=4096)
def _seconds(passed: bytes) -> float:
    """Seconds of a printed time, such as `03:12`, `1:02:03` or `4.5s`."""
    seconds = 0.0
    for part in passed.rstrip(b"s").split(b":"):
        seconds = 60 * seconds + float(part)
    return seconds


def _all_seconds(passed: tuple[bytes, ...]) -> list[float]:
    """Seconds of many printed times, such as `03:12`."""
    parts = passed[0].count(b":") + 1
    joined = b":".join(passed)
    if parts == 1 or joined.count(b":") + 1 != parts * len(passed):
        return [_seconds(one) for one in passed]
    texts = joined.split(b":")
    columns = [[float(text) for text in texts[at::parts]] for at in range(parts)]
    whole = np.array(columns[0])
    for column in columns[1:]:
        whole = 60 * whole + np.array(column)
    return list(whole.tolist())
