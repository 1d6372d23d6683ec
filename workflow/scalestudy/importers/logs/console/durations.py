"""Durations of several parts in the lines of a log, such as `time: 0:12:31` or `took 1h 2m 3s`, as seconds."""

from __future__ import annotations

import re
from functools import lru_cache
from math import isnan, nan

from scalestudy.importers.logs.console.phrase import BETWEEN, Phrase

_CLOCK = rb"\d{1,4}:\d\d(?::\d\d)?(?:\.\d{1,9})?"
_WORDS = (
    rb"(?:\d{1,4} ?h(?:ours?|rs?)?,? ?(?:and )?)?(?:\d{1,4} ?m(?:in(?:ute)?s?)?,? ?(?:and )?)"
    rb"(?:\d{1,4}(?:\.\d{1,20})? ?s(?:econds?|ecs?)?)?"
)
DAY_S = 86_400
_DAYS = rb"(?:(\d{1,3}) ?d(?:ays?)?,? ?)?"
_DURATION = rb"(?P<%%b>%b(?:%b|%b))(?![\w:.]*\d)" % (_DAYS.replace(b"(\\d", b"(?:\\d"), _CLOCK, _WORDS)
_BETWEEN = rb"['\"]?[ :=|\[(]{1,4}['\"]?"
_NAMED = re.compile(
    rb"(?i)(?<![a-z])(?P<name>(?:[a-z]+[ _])?(?:time|elapsed|duration|took|takes|in|total)(?:[ _][a-z]+)?)"
    rb"(?P<between>%b)%b" % (_BETWEEN, _DURATION % b"duration")
)
_NOT_PASSED = re.compile(rb"(?i)eta|remain|left|estim|data|load|val|eval|test")
_PARTS = re.compile(
    rb"(?i)%b(?:(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)"
    rb"|(?:(\d+) ?h[a-z]*,? ?(?:and )?)?(\d+) ?m[a-z]*,? ?(?:and )?(?:(\d+(?:\.\d+)?) ?s[a-z]*)?)" % _DAYS
)
_WORD_IN_FRONT = re.compile(rb"(?i)[a-z]+[ _]$")
_ANY = rb"['\"]?[\s:=|#\[(]*['\"]?\d"
"""Behind the name of a time that has a number of any form."""


def in_seconds(line: bytes) -> bytes:
    """Return a line with its named durations as seconds; those that are left, or of a part, are removed."""
    return _NAMED.sub(_as_seconds, line)


@lru_cache(maxsize=1 << 16)
def seconds_of(duration: bytes) -> float:
    """Return the seconds of a duration that a line has; nan for one part, such as `12m`, and for `0:75`."""
    found = _PARTS.fullmatch(duration)
    if found is None:
        return nan
    days, hours, minutes, seconds, *words = found.groups()
    if minutes is None:
        hours, minutes, seconds = words
        if (days, hours, seconds) == (None, None, None):
            return nan
    elif float(seconds) >= 60 or (hours and int(minutes) >= 60):
        return nan
    return round(DAY_S * int(days or 0) + 3600 * int(hours or 0) + 60 * int(minutes) + float(seconds or 0), 6)


def source_of(time: Phrase, printed: list[bytes]) -> bytes | None:
    """Return the pattern of a time, and of the text in front of it, in rows as they are printed. It finds what the
    finder finds in the same rows with their durations as seconds; None if no pattern does.

    printed: some rows.
    """
    line, find = printed[-1], time.finder()
    plain = BETWEEN + time.number() + rb"(?![\d:])(?! ?[hm])"
    for at in re.finditer(re.escape(time.literal), line):
        word = _WORD_IN_FRONT.search(line[: at.start()])
        guard = rb"(?<=%b)" % re.escape(word[0] + time.literal) if word else b""
        if not word and time.literal[:1].isalpha():
            guard = rb"(?<![a-zA-Z][ _]%b)" % re.escape(time.literal)
        for tail in (_BETWEEN + b"(?i:%b)" % (_DURATION % b"value"), plain):
            source = time.behind(_ANY) + guard + tail
            match = re.compile(source).match
            if all(_same(match(row), find(in_seconds(row))) for row in printed):
                return source
    return None


def _same(printed: re.Match[bytes] | None, found: re.Match[bytes] | None) -> bool:
    """Whether two matches have the same seconds, the first one those of a duration or of a number."""
    if printed is None or found is None:
        return False
    text = printed["value"]
    return text == found["value"] or seconds_of(text) == float(found["value"].replace(b",", b""))


def _as_seconds(match: re.Match[bytes]) -> bytes:
    if _NOT_PASSED.search(match["name"]):
        return b"-"
    seconds = seconds_of(match["duration"])
    if isnan(seconds):
        return match[0]
    return b"%b%b%b s" % (match["name"], match["between"], repr(seconds).encode())
