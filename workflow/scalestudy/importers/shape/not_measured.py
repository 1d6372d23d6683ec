"""Rows that are marked as plans, as targets or as failed."""

from __future__ import annotations

from collections.abc import Sequence

from scalestudy.importers.headers.meaning import TEXTS, Meaning, normal
from scalestudy.importers.headers.terms import FAILED, NOT_MEASURED, OF_A_GOAL
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.numbers.repeats import is_estimated
from scalestudy.importers.raw import RawTable


def rows_not_measured(raw: RawTable, meanings: Sequence[Meaning]) -> frozenset[tuple[int, tuple[str, ...]]]:
    """Return the rows that are marked so, in a table that also has other rows."""
    words = [
        place
        for place, one in enumerate(meanings)
        if one.role in (*TEXTS, "ignore") and not OF_A_GOAL.search(normal(one.header))
    ]
    counts = [place for place, one in enumerate(meanings) if one.role in ("gpus", "nodes")]
    found = [
        (line, row)
        for line, row in raw.rows
        if any(NOT_MEASURED.fullmatch(plain(cell)) for cell in row)
        or any(is_estimated(row[place]) for place in counts if place < len(row))  # 16 (projected)
        or any(FAILED.fullmatch(plain(row[place])) for place in words if place < len(row))
    ]
    return frozenset(found if len(found) < len(raw.rows) else ())
