"""Finds lines of a list that have a measurement like the others, but were not read as a row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from scalestudy.importers.markup.phrased import LONGEST
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.quantities import name_of
from scalestudy.importers.raw import RawTable

_UNIT = (
    r"\s?(?:(?:/|per ) ?(?:s|secs?|seconds?|min|h)(?!\w)|[A-Za-z%\u00b5][\w/%.]*)"
    r"(?: (?:per|an?|each|every) "
    r"(?:s|secs?|seconds?|min(?:ute)?|h(?:our)?|it(?:er(?:ation)?)?|step|batch|epoch)(?!\w))?"
    r"(?! ?(?:faster|slower|higher|lower|better|worse|more|less)\b)"
)
WITH_UNIT = re.compile(
    rf"(?<![\d.,\u2013-])~?\d[\d.,]*[kM]? ?(?:-|\u2013|~) ?\d[\d.,]*{_UNIT}|(?<![\d.,\u2013-])~?\d[\d.,]*{_UNIT}"
)
"""A number, or a range, with its unit; no gain such as `2 % faster`."""
_TITLE = re.compile(r"\s*(?:#.*|(?:\*\*|__).*(?:\*\*|__)):?\s*")
"""A heading, also one in bold."""


def with_lines_left_out(tables: Iterable[RawTable], lines: Sequence[str]) -> list[RawTable]:
    """Return the tables with the lines between, just above and just below their rows that were left out."""
    found = list(tables)
    used = {line for table in found for line, _ in table.rows}
    result = []
    for table in found:
        own = [line for line, _ in table.rows]
        units = set().union(*(_quantities(lines[line - 1]) for line in own))
        near = range(max(1, own[0] - 1), min(len(lines), own[-1] + 1) + 1)
        others = [line for line in near if line not in used and not _TITLE.fullmatch(lines[line - 1][:LONGEST])]
        left = tuple(line for line in others if _quantities(lines[line - 1]) & units)
        result.append(replace(table, left_out=left))
    return result


def _quantities(line: str) -> set[str]:
    """The quantities of the numbers with a unit in a line."""
    words = WITH_UNIT.findall(plain(line)) if len(line) <= LONGEST else []
    return {name for one in words if (name := name_of(one.strip(" .")))}
