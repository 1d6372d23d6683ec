"""Labels that differ in the mark of a footnote only, which no text without markup has."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.raw import RawTable

_MARK = re.compile(r"(?:<sup>(?P<words>.{1,30}?)</sup>|(?<=\w)\\?\*+|[\u2020\u2021\u00a7]+)\s*$", re.IGNORECASE)
_WORDS = re.compile(r"[A-Za-z][A-Za-z/]*[ -][A-Za-z].*|[A-Za-z]{4,}")
_VARIANT = "variant"
"""Header of the words of marks that are more than a mark: `<sup>[w/o accumulation]</sup>`."""


def with_marks_of_labels(table: RawTable) -> RawTable:
    """Return a table whose labels say that they have a mark, if another label is the same without it."""
    roles = [meaning_of(name).role for name in table.header]
    left = next((at for at, role in enumerate(roles) if role in (*MEASURED, *STATED)), len(roles))
    for place in range(left):
        bare = {cell for cell in table.cells(place) if not _MARK.search(cell)}
        marked = {
            cell for cell in table.cells(place) if _MARK.search(cell) and _MARK.sub("", cell).strip() in bare
        }
        if not marked or any(re.fullmatch(r"[\d.,]+", plain(cell)) for cell in marked):
            continue
        words = {cell: _words(cell) for cell in marked}
        if all(words.values()):
            parts = tuple(
                (
                    line,
                    (
                        *row[:place],
                        _MARK.sub("", row[place]).strip(),
                        words.get(row[place], ""),
                        *row[place + 1 :],
                    ),
                )
                for line, row in table.rows
                if place < len(row)
            )
            header = (*table.header[: place + 1], _VARIANT, *table.header[place + 1 :])
            return replace(table, header=header, rows=parts)
        rows = tuple(
            (line, (*row[:place], f"{plain(row[place])} (with a mark)", *row[place + 1 :]))
            if place < len(row) and row[place] in marked
            else (line, row)
            for line, row in table.rows
        )
        table = replace(table, rows=rows)
    return table


def _words(cell: str) -> str:
    """The words of a mark that says more than that there is a note; empty if it does not."""
    found = _MARK.search(cell)
    words = plain((found["words"] if found else "") or "").strip("[]() ")
    return words if _WORDS.fullmatch(words) else ""
