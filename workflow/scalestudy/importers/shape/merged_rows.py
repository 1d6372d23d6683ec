"""Rows that are one configuration by all columns that were read, but differ in others: which may be labels."""

from __future__ import annotations

from collections.abc import Sequence

from scalestudy.importers.headers.meaning import Meaning, never_a_label
from scalestudy.importers.numbers.printed import plain, read_cell, share
from scalestudy.importers.published import BATCHES, PublishedRow, PublishedTable
from scalestudy.importers.raw import RawTable


def notes_on_merged_rows(
    tables: Sequence[PublishedTable], raw: RawTable, meanings: Sequence[Meaning]
) -> list[str]:
    """Return what to add if rows of one configuration differ in columns of words or whole numbers."""
    cells = dict(raw.rows)
    unread = [place for place, one in enumerate(meanings) if _may_be_label(one, raw.cells(place))]
    for table in tables:
        groups: dict[tuple[object, ...], list[int]] = {}
        for row in table.rows:
            groups.setdefault(_configuration(row), []).append(row.line)
        for lines in groups.values():
            rows = [cells[line] for line in dict.fromkeys(lines) if line in cells]
            names = [
                plain(meanings[place].header)
                for place in unread
                if len(rows) > 1 and len({plain(row[place]) for row in rows if place < len(row)}) > 1
            ]
            if names:
                where = " and ".join(str(line) for line in dict.fromkeys(lines))
                text = f"lines {where} are one configuration by all columns that were read, and differ in"
                return [f"{text} {', '.join(names)}: if that is a label, add --column '{names[0]}=label'"]
    return []


def _configuration(row: PublishedRow) -> tuple[object, ...]:
    return (
        row.gpus,
        *sorted(row.labels.items()),
        *((name, row.number(name)) for name in (*BATCHES, "nodes", "gpus_per_node")),
    )


def _may_be_label(meaning: Meaning, cells: Sequence[str]) -> bool:
    """Whether a column that is not read has words, or whole numbers, in all of its cells."""
    if meaning.role != "ignore" or not plain(meaning.header) or never_a_label(meaning.header) or not cells:
        return False
    return share(cells, read_cell) == 0 or all(plain(cell).isdecimal() for cell in cells)
