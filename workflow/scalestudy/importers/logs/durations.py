"""Durations of several parts in the lines of a log, such as `time: 0:12:31` or `took 1h 2m 3s`, as seconds."""

from __future__ import annotations

import re

from scalestudy.importers.cells import read_duration

_CLOCK = rb"\d{1,4}:\d\d(?::\d\d)?(?:\.\d{1,9})?"
_WORDS = (
    rb"(?:\d{1,4} ?h(?:ours?|rs?)? ?)?(?:\d{1,4} ?m(?:in(?:ute)?s?)?,? ?)"
    rb"(?:\d{1,4}(?:\.\d{1,9})? ?s(?:ecs?|econds?)?)?"
)
_NAMED = re.compile(
    rb"(?i)(?<![a-z])(?P<name>(?:[a-z]+[ _])?(?:time|elapsed|duration|took|takes|in)(?:[ _][a-z]+)?)"
    rb"(?P<between>['\"]?[ :=|\[(]{1,4})(?P<duration>%b|%b)(?![\w:.]*\d)" % (_CLOCK, _WORDS)
)
_NOT_PASSED = re.compile(rb"(?i)eta|remain|left|estim|data|load|val|eval|test")
_UNITS = re.compile(r"(?<=\d) ?(h|m|s)[a-z]*,?")


def in_seconds(line: bytes) -> bytes:
    """Return a line with its named durations as seconds; those that are left, or of a part, are removed."""
    return _NAMED.sub(_as_seconds, line)


def _as_seconds(match: re.Match[bytes]) -> bytes:
    text = _UNITS.sub(r"\1 ", match["duration"].decode()).strip()
    found = read_duration(text)
    if _NOT_PASSED.search(match["name"]):
        return b"-"
    if found is None:
        return match[0]
    return b"%b%b%b s" % (match["name"], match["between"], repr(round(found.value, 6)).encode())
