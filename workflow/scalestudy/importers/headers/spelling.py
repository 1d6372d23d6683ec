"""The words of headers as they are meant: abbreviations and typing errors."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import lru_cache

_SHORT = (
    (re.compile(r"\b(?:th?r?u?-?puts?|through-puts?|thrpts?|thpts?)(?![a-z])"), "throughput"),
    (re.compile(r"^s/?u\b\.?|\bspd-?up\b"), "speedup"),
    (re.compile(r"\b(cpu|wall)time\b"), r"\1 time"),
    (re.compile(r"\bpxq\b"), "p x q"),
    (re.compile(r"^rel\b\.?"), "relative"),
    (re.compile(r"^norm\b\.?"), "normalized"),
    (re.compile(r"\b(shared|distributed)[ -]memory\b(?!.*\b[kmgt]i?b\b)"), r"\1"),
    (re.compile(r"\bmin of(?= \d)"), "fastest of"),
    (re.compile(r"\bmed\b\.?(?=.*[(\[](?:[mun\u00b5\u03bc]?s|sec\w*)[)\]])"), "median"),
    (
        re.compile(r"^(?!.*latenc)(?=.*\b(?:step|iter(?:ation)?|epoch|wall|run-?time|elapsed)\b)(.*)\bp50\b"),
        r"\1median",
    ),
)
"""Abbreviations in lower case, and what they mean."""
_MEANT = ("throughput", "efficiency", "speedup", "milliseconds")
_SHORTEST = 6
_ALIKE = 0.85
"""Similarity of a word and the one that is meant: one or two letters of seven to ten are wrong."""


def spelled_out(text: str) -> str:
    """Return a header in lower case with its abbreviated and misspelt words of measurements as they are meant."""
    for pattern, word in _SHORT:
        text = pattern.sub(word, text)
    return re.sub(rf"[a-z]{{{_SHORTEST},}}", lambda found: _meant(found[0]), text)


@lru_cache(maxsize=8192)
def _meant(word: str) -> str:
    close = get_close_matches(word, _MEANT, n=1, cutoff=_ALIKE)
    return close[0] if close and close[0][0] == word[0] and not word.startswith(close[0]) else word
