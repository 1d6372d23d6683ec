"""Footnotes of rows, also those that call them projected, `*Projections from local runs`; and ideal lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from scalestudy.importers.headers.terms import IDEAL
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.raw import RawTable

_NEAR = 6
"""Lines below a table in which its footnotes may be."""
_PROJECTED = re.compile(
    r"\s*(?:<sup>)?\\?(?P<mark>[*\u2020\u2021]+)(?:</sup>)?(?![*\s]*\|).{0,200}?"
    r"\b(?:project(?:ed|ions?)|extrapolat\w+|estimat(?:ed?|es|ions?)|predict\w+|not (?:yet )?(?:measured|run)|"
    r"simulated)\b",
    re.IGNORECASE,
)
_NEAR_BULLETS, _FEW = 12, 2
"""If so many of these lines below a table are items of a list, their stars are not marks of footnotes."""
_BULLET = re.compile(r"\s{0,3}\* ")
_FOOTNOTE = re.compile(r"\s{0,3}\\?(?P<mark>[*\u2020\u2021]{1,3})(?![*\w]*\*)[ =:.-]{0,4}(?P<text>[^\s|*].*)")
_MARKED = re.compile(
    r"[^*\u2020\u2021|]*[^\W_][^*\u2020\u2021|]*?\\?(?:<sup>)?(?P<mark>[*\u2020\u2021]{1,3})(?:</sup>)?"
)
"""A cell with a mark behind its words: Full finetune *."""
_IDEAL = re.compile(
    rf"\W*(?:{IDEAL}\b.{{0,20}}|(?:[a-z-]+ ){{0,2}}(?:scaling|speed-?ups?) ?\(?{IDEAL}\)?)\W*", re.IGNORECASE
)
"""The caption of what was not measured: Linear scaling (ideal)."""


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


def with_footnotes(table: RawTable, lines: Sequence[str]) -> RawTable:
    """Return a table with the footnotes of its rows, if some rows only have the mark of one below the table."""
    last = max((line for line, _ in table.rows), default=table.line)
    below = [note for line in lines[last : last + _NEAR] if (note := _FOOTNOTE.fullmatch(line))]
    bullets = [line for line in lines[last : last + _NEAR_BULLETS] if _BULLET.match(line)]
    below = below if len(bullets) < _FEW else [note for note in below if not _BULLET.match(note[0])]
    marks = [note["mark"] for note in below]
    texts = {note["mark"]: plain(note["text"]) for note in below if marks.count(note["mark"]) == 1}
    if not texts or len({line for line, _ in table.rows}) < len(table.rows):
        return table
    found = [
        (line, [one["mark"] for cell in cells if (one := _MARKED.fullmatch(cell.strip()))])
        for line, cells in table.rows
    ]
    noted = tuple(
        (line, "; ".join(texts[mark] for mark in own)) for line, own in found if own and texts.keys() >= {*own}
    )
    return replace(table, footnotes=noted) if 0 < len(noted) < len(table.rows) else table


def without_ideal(tables: Sequence[RawTable]) -> list[RawTable]:
    """Return the tables without those that their caption calls ideal, with a note on them at the first other."""
    ideal = [table for table in tables if _IDEAL.fullmatch(plain(table.caption or (*table.headings, "")[-1]))]
    kept = [table for table in tables if table not in ideal]
    if not ideal or not kept:
        return list(tables)
    lines = " and ".join(str(table.line) for table in ideal)
    return [kept[0].noted(f"what begins at line {lines} is called ideal, so it was left out"), *kept[1:]]


def _has_mark(cell: str, marks: set[str]) -> bool:
    """Whether a number has one of the marks behind it, which is no end of an emphasis."""
    bare = re.sub(r"</?sup>|\\", "", cell.strip())
    ends = re.fullmatch(r"(?P<number>[^*]*\d[^*]*?)(?P<mark>[*\u2020\u2021]+)", bare)
    return ends is not None and ends["mark"] in marks
