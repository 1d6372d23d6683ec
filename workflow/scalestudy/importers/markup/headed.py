"""Reads lists whose first line names both columns: `threads: time`, or `threads vs. time`, above `1: 2.1 s`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.quantities import known_role
from scalestudy.importers.raw import RawTable

_LONGEST = 120
_HEAD = re.compile(
    r"(?P<devices>[^:|]{1,40}?)\s*(?::|\s\.?v\.?s\.?\s|\sversus\s|-+>)\s*(?P<measured>[A-Za-z][^:|]{0,60})",
    re.IGNORECASE,
)
_ROW = re.compile(r"(?P<devices>\d{1,6})\s*(?::|-+>|\s)\s*(?P<measured>[~\d][^:|]{0,30})")
_FEW = 2


def headed_lists(lines: Sequence[str]) -> Iterator[RawTable]:
    """Yield the lists of a text. Each line of a list has a number of devices and one measurement."""
    for number, line in enumerate(lines, start=1):
        head = _HEAD.fullmatch(plain(line)) if len(line) <= _LONGEST else None
        if head is None or meaning_of(head["devices"]).role not in ("gpus", "nodes"):
            continue
        rows: list[tuple[int, tuple[str, ...]]] = []
        for below, other in enumerate(lines[number:], start=number + 1):
            row = _ROW.fullmatch(plain(other)) if len(other) <= _LONGEST else None
            if row is None:
                break
            rows.append((below, row.groups()))
        if len(rows) >= _FEW and known_role(head["measured"]) in (*MEASURED, *STATED):
            yield RawTable(number, head.groups(), tuple(rows))
