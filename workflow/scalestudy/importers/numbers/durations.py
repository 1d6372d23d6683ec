"""Reads durations of several parts: 1h 23m, 16:04:55, 21 minutes, 15 seconds."""

from __future__ import annotations

import re
from functools import lru_cache

from scalestudy.importers.numbers.printed import ABOUT, Printed, plain

_SECONDS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_PART = r"(\d+(?:\.\d+)?)"
_AND = re.compile(r"(?<=[a-z])\.? ?(?:, ?and|,|and|&) ?(?=\d)")
"""What joins the parts of a duration: 21 minutes, 15 seconds."""
_DURATION = re.compile(
    rf"(?:{_PART} ?d[a-z]* ?)?(?:{_PART} ?h[a-z]* ?)?(?:{_PART} ?m(?:in[a-z]*)? ?)?(?:{_PART} ?s[a-z]*)?", re.ASCII
)
_CLOCK = re.compile(r"(?:(\d{1,4}):)?([0-5]?\d):([0-5]\d(?:\.\d+)?)", re.ASCII)
_WITH_SECONDS = re.compile(r"(?P<first>[^()]+?) ?\((?P<seconds>\d[\d,]*\.?\d*) ?(?:s|secs?|seconds)?\)", re.ASCII)
"""A time with the same time in seconds behind it: 9:25 (565)."""
_ALIKE = 1.05
"""Ratio up to which times in one cell are one time, measured several times."""


@lru_cache(maxsize=8192)
def read_duration(text: str, *, of_hours: bool = False) -> Printed | None:
    """Return seconds of '1h 23m', '16:04:55' or '12:30'; None if the cell has another form.

    of_hours: whether '12:30' is hours and minutes, not minutes and seconds.
    """
    if about := re.fullmatch(r"(?:~|about|approx\.?|approximately|around|circa|ca\.?) ?(.+)", plain(text).lower()):
        exact = read_duration(about[1], of_hours=of_hours)
        return Printed(exact.value, exact.value * ABOUT) if exact else None
    text = re.sub(r" ?(?:/|\bper\b) ?(?:epoch|run|job)(?=\]?$)", "", plain(text).lower())
    text = re.sub(r"^\[([^\[\]]*)\]$", r"\1", text)
    if both := _WITH_SECONDS.fullmatch(text):
        first = read_duration(both["first"], of_hours=of_hours)
        same = first is not None and abs(first.value - float(both["seconds"].replace(",", ""))) <= first.last
        return first if same else None
    if (
        "," in text
        and ":" in text
        and all(repeats := [read_duration(part, of_hours=of_hours) for part in text.split(",")])
    ):
        times = [one.value for one in repeats if one]
        if max(times) <= min(times) * _ALIKE:
            return Printed(sum(times) / len(times), (max(times) - min(times)) / 2 or 1.0)
        return None
    text = re.sub(r"^(\d+ ?h) ?([0-5]?\d)$", r"\1 \2m", _AND.sub(" ", text))  # 5h 15
    if re.fullmatch(r"\d+['\u2032] ?[\d.]+ ?(?:[\"\u2033]|'')|[\d.]+ ?[\"\u2033]", text):
        text = f"0m{text}" if "'" not in text and "\u2032" not in text else text
        text = re.sub(r"[\"\u2033]|''", "s", text).replace("'", "m").replace("\u2032", "m")
    if clock := _CLOCK.fullmatch(text):
        hours, minutes, seconds = (float(part or 0) for part in clock.groups())
        last = 10.0 ** -len(clock[3].partition(".")[2])
        read = Printed(hours * 3600 + minutes * 60 + seconds, last)
        return read.times(60.0) if of_hours and clock[1] is None else read
    parts = _DURATION.fullmatch(text)
    if not parts or sum(part is not None for part in parts.groups()) < 2:
        return None
    given = [(part, size) for part, size in zip(parts.groups(), _SECONDS.values(), strict=True) if part]
    last = given[-1][1] * 10.0 ** -len(given[-1][0].partition(".")[2])
    return Printed(sum(float(part) * size for part, size in given), last)


def is_duration_in_words(text: str) -> bool:
    """Return whether a cell is a duration whose parts have known units: 1h 23m or 01:23:00, not 12:30."""
    return text.count(":") != 1 and read_duration(text) is not None
