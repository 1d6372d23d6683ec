"""The text of a file that may speak of a table: all of a short file, but not what stands over another table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.raw import RawTable

_LONGEST = 400
"""Characters of a line of text that may say something of a table."""
_SHORT, _NEAR = 100, 40
"""Lines of a file whose whole text may speak of its tables, and how far it may be in a longer one."""
_HEADING = re.compile(r"(?P<level>#{1,6})\s+\S")
_FENCE = re.compile(r"\s{0,3}(?:`{3,}|~{3,})")


def with_text_around(tables: Sequence[RawTable], lines: Sequence[str]) -> list[RawTable]:
    """Return the tables with the lines of the file that belong to none and may speak of them.

    A section with other tables only, also in sections below it, says nothing of a table.
    """
    taken = {line for table in tables for line in table.lines}
    text = {
        at: plain(line)
        for at, line in enumerate(lines, start=1)
        if at not in taken and line.strip() and len(line) <= _LONGEST and not line.lstrip().startswith("|")
    }
    above = sections_of(lines)
    of_tables = {(place,) for table in tables for place in above[table.line - 1]}
    far = len(lines) if len(lines) <= _SHORT else _NEAR

    def speaks_of(table: RawTable, at: int) -> bool:
        section = above[at - 1][-1:]
        return abs(at - table.line) <= far and (section not in of_tables or {*section} <= {*above[table.line - 1]})

    return [
        replace(table, text=tuple(words for at, words in text.items() if speaks_of(table, at))) for table in tables
    ]


def sections_of(lines: Sequence[str]) -> list[tuple[int, ...]]:
    """Return the lines of the headings above each line, outermost first. A heading is in its own section."""
    open_now: list[tuple[int, int]] = []
    result = []
    in_code = False
    for at, line in enumerate(lines, start=1):
        in_code ^= bool(_FENCE.match(line))
        if not in_code and (found := _HEADING.match(line)):
            level = len(found["level"])
            open_now = [one for one in open_now if one[0] < level] + [(level, at)]
        result.append(tuple(place for _, place in open_now))
    return result
