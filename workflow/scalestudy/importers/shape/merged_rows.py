"""Rows that are one configuration by all columns that were read, but differ in others, which may be labels."""

from __future__ import annotations

from collections.abc import Sequence

from scalestudy.importers.headers.meaning import Meaning, never_a_label, normal
from scalestudy.importers.numbers.printed import plain, read_cell, share
from scalestudy.importers.numbers.texts import read_number
from scalestudy.importers.published import BATCHES, MEASURED, STATED, PublishedRow, PublishedTable
from scalestudy.importers.raw import RawTable


def label_of_merged_rows(
    tables: Sequence[PublishedTable], raw: RawTable, meanings: Sequence[Meaning], said: set[str]
) -> int | None:
    """Return the column that tells rows of one configuration apart, and has a value on several numbers of devices.

    None if there is none: such rows would be averaged.
    """
    devices: dict[int, set[int]] = {}
    for row in (row for table in tables for row in table.rows):
        devices.setdefault(row.line, set()).add(row.gpus)
    measured = min((place for place, one in enumerate(meanings) if one.role in (*MEASURED, *STATED)), default=0)
    cells = dict(raw.rows)
    groups = [lines for table in tables for lines in _merged(table) if len(lines) > 1]
    for place, meaning in enumerate(meanings):
        if not groups or normal(meaning.header) in said or not _may_be_label(meaning, raw.cells(place)):
            continue
        if place > measured and share(raw.cells(place), read_cell):
            continue  # numbers behind the measurements are results
        value = {line: plain(cells[line][place]) for line in devices if line in cells and place < len(cells[line])}
        sizes: dict[str, set[int]] = {}
        for line, words in value.items():
            sizes.setdefault(words, set()).update(devices[line])
        apart = all(len({value.get(line) for line in lines}) == len(lines) for lines in groups)
        if apart and any(len(found) > 1 for words, found in sizes.items() if words):
            return place
    return None


def notes_on_merged_rows(
    tables: Sequence[PublishedTable], raw: RawTable, meanings: Sequence[Meaning]
) -> list[str]:
    """Return what to add if rows of one configuration differ in columns of words or whole numbers."""
    cells = dict(raw.rows)
    unread = [place for place, one in enumerate(meanings) if _may_be_label(one, raw.cells(place))]
    for table in tables:
        for lines in _merged(table, by_names=True):
            rows = [cells[line] for line in lines if line in cells]
            names = [
                plain(meanings[place].header)
                for place in unread
                if len(rows) > 1 and len({plain(row[place]) for row in rows if place < len(row)}) > 1
            ]
            if names:
                where = " and ".join(map(str, lines))
                text = f"lines {where} are one configuration by all columns that were read, and differ in"
                return [f"{text} {', '.join(names)}: if that is a label, add --column '{names[0]}=label'"]
    return []


def _merged(table: PublishedTable, *, by_names: bool = False) -> list[list[int]]:
    """The lines of each configuration. by_names: whether labels that differ in each row distinguish rows too."""
    groups: dict[tuple[object, ...], list[int]] = {}
    names = {name for row in table.rows for name in row.labels}
    of_each = {name for name in names if len({row.label(name) for row in table.rows}) == len(table.rows) > 2}
    of_each = set() if by_names else of_each
    for row in table.rows:
        groups.setdefault(_configuration(row, of_each), []).append(row.line)
    return [list(dict.fromkeys(lines)) for lines in groups.values()]


def _configuration(row: PublishedRow, names: set[str]) -> tuple[object, ...]:
    """What tells a row from others. names: labels that differ in each row.

    Without a batch the accumulation says nothing of the work of a step.
    """
    known = [name for name in BATCHES if row.number(name) is not None]
    batches = BATCHES if known != ["accumulation"] else ()
    return (
        row.gpus,
        *sorted((name, value) for name, value in row.labels.items() if name not in names),
        *((name, row.number(name)) for name in (*batches, "nodes", "gpus_per_node")),
    )


def _may_be_label(meaning: Meaning, cells: Sequence[str]) -> bool:
    """Whether a column that is not read, or sets the accumulation, has words or whole numbers in all cells."""
    if (
        meaning.role not in ("ignore", "accumulation")
        or not plain(meaning.header)
        or never_a_label(meaning.header)
        or not cells
    ):
        return False
    return all(plain(cell).isdecimal() or not share([cell], read_number) for cell in cells)
