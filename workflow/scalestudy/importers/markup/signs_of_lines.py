"""Takes away the signs around the lines of a text: of comments, quotes, diffs and pages of code."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scalestudy.importers.markup.piped import is_rule

_PREFIX = re.compile(r"\s*(#:|//+!?|>|#|%|;|--|\*(?= ))")
_COMMENT = re.compile(r"\s*(//|#(?!#)|%)")
_ROW = re.compile(
    r"\s+(?=\d)(?:[\d.,:]+(?:e[-+]?\d+)?[a-z%]{0,3}|[A-Za-z]\w*)(?:\s+(?:[\d.,:]+(?:e[-+]?\d+)?[a-z%]{0,3}|\w+)){1,12}(?:\s*#.*)?$"
)
"""A row of numbers and words, the first of which is a number."""
_BARS_BEHIND = re.compile(r"\s\|\s+\|\s*$")
_BAR_BEHIND = re.compile(r"^([^|]+)\s\|\s*$")
"""One bar, where the last line has lost the other."""
_DIFF = re.compile(r"\s{0,3}(?:`{3,}|~{3,})diff\b.*")
_END_OF_DIFF = re.compile(r"\s{0,3}(?:`{3,}|~{3,})\s*")
_FEW = 3


def without_signs_of_lines(text: str) -> str:
    """Return a text without HTML comments and without signs around its lines, which keep their numbers."""
    return _without_bars_behind(_without_signs_of_blocks(_without_prefix(_without_diff(_without_comments(text)))))


def _without_diff(text: str) -> str:
    """The text without the signs in front of the lines of its diffs. What was removed stays as well."""
    if "diff" not in text:
        return text
    lines = text.split("\n")
    inside = False
    for number, line in enumerate(lines):
        if inside and _END_OF_DIFF.fullmatch(line):
            inside = False
        elif inside and line[:1] in ("+", "-"):
            lines[number] = line[1:]
        else:
            inside = inside or bool(_DIFF.fullmatch(line))
    return "\n".join(lines)


def _without_comments(text: str) -> str:
    """The text without HTML comments; its lines keep their numbers."""
    kept, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        kept += [text[at:start], "\n" * text.count("\n", start, end)]
        at = end + 3
    return "".join((*kept, text[at:]))


def _without_prefix(text: str) -> str:
    """The text without the sign of a comment or of a quote that all of its lines begin with."""
    lines = text.splitlines()
    filled = [line for line in lines if line.strip()]
    found = _PREFIX.match(filled[0]) if filled else None
    if found is None or len(filled) < _FEW:
        return text
    if found[1] == "#" and _is_commented_header(filled):
        return text.replace(filled[0], filled[0].replace("#", " ", 1), 1)
    if not all(line.lstrip().startswith(found[1]) for line in filled):
        return text
    return "\n".join(line.lstrip()[len(found[1]) :] for line in lines)


def _without_signs_of_blocks(text: str) -> str:
    """The text without the sign of a comment in front of lines below each other that are rows of numbers."""
    lines = text.split("\n")
    start = 0
    while start < len(lines):
        found = _COMMENT.match(lines[start])
        end = start + 1
        while found and end < len(lines) and lines[end].lstrip().startswith(found[1]):
            end += 1
        rows = sum(bool(_ROW.match(line.lstrip()[len(found[1]) :])) for line in lines[start:end]) if found else 0
        if found and end - start >= _FEW and rows >= _FEW - 1:
            lines[start:end] = [line.replace(found[1], " " * len(found[1]), 1) for line in lines[start:end]]
        start = end
    return "\n".join(lines)


def _is_commented_header(filled: Sequence[str]) -> bool:
    """Whether the first line names the columns of numbers below it, as in data files of plots: # gpus time."""
    names = len(filled[0].replace("#", " ", 1).split())
    rows = [line.split() for line in filled[1:]]
    numbers = all(re.fullmatch(r"[\d.eE+-]+", cell) for row in rows for cell in row)
    return names > 1 and numbers and all(len(row) == names for row in rows)


def _without_bars_behind(text: str) -> str:
    """The text without two bars at the end of its lines, as a page of code has them when it is copied."""
    lines = text.splitlines()
    filled = [line for line in lines if line.strip()]
    marked = sum(bool(_BARS_BEHIND.search(line)) for line in filled)
    if len(filled) < _FEW or marked < len(filled) - 1 or any(map(is_rule, filled)):
        return text
    return "\n".join(_BAR_BEHIND.sub(r"\1", _BARS_BEHIND.sub("", line)) for line in lines)
