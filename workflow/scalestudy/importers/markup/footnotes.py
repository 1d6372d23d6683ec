"""Rows whose numbers a footnote calls projected: `0.06*` above `*Projections from local runs`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from scalestudy.importers.raw import RawTable

_NEAR = 6
"""Lines below a table in which its footnotes may be."""
_PROJECTED = re.compile(
    r"\s*(?:<sup>)?\\?(?P<mark>[*\u2020\u2021]+)(?:</sup>)?(?![*\s]*\|).{0,200}?"
    r"\b(?:project(?:ed|ions?)|extrapolat\w+|estimat(?:ed?|es|ions?)|predict\w+|not (?:yet )?(?:measured|run)|"
    r"simulated)\b",
    re.IGNORECASE,
)


def without_projected(table: RawTable, lines: Sequence[str]) -> RawTable:
    """Return a table without the rows whose numbers have the mark of such a footnote, with a note on them."""
    last = max((line for line, _ in table.rows), default=table.line)
    marks = {found["mark"] for line in lines[last : last + _NEAR] if (found := _PROJECTED.match(line))}
    projected = [line for line, cells in table.rows if any(_has_mark(cell, marks) for cell in cells)]
    if not projected or len(projected) == len(table.rows):
        return table
    named = ", ".join(map(str, projected))
    note = f"the footnote says that the numbers of line{'s' * (len(projected) > 1)} {named} were not measured"
    left_out = set(projected)
    rows = tuple((line, cells) for line, cells in table.rows if line not in left_out)
    return replace(table, rows=rows).noted(note)


def _has_mark(cell: str, marks: set[str]) -> bool:
    """Whether a number has one of the marks behind it, which is no end of an emphasis."""
    bare = re.sub(r"</?sup>|\\", "", cell.strip())
    ends = re.fullmatch(r"(?P<number>[^*]*\d[^*]*?)(?P<mark>[*\u2020\u2021]+)", bare)
    return ends is not None and ends["mark"] in marks
