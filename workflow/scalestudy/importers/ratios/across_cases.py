"""Efficiencies of weak scaling in one row of each case: they compare the cases, and not the rows of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import OF_COLUMNS, STATED, PublishedRow, PublishedTable

_SAME_RUNS = ("strategy", "hardware", "framework", "precision", OF_COLUMNS)
"""Labels that are no case of a weak scaling, since they change more than the work."""


def with_cases_as_one_series(tables: Sequence[PublishedTable]) -> list[PublishedTable]:
    """Return the tables of one text table; one of weak scaling has the rows with a ratio, if cases have one each.

    So it is beside ratios of strong scaling within the cases. A note says it.
    """
    strong = any(table.scaling == "strong" for table in tables)
    return [_across(table) if strong and table.scaling == "weak" else table for table in tables]


def _across(table: PublishedTable) -> PublishedTable:
    stated = [row for row in table.rows if any(role in row.numbers for role in STATED)]
    cases = {_case(row) for row in table.rows}
    of_each = len(stated) == len(cases) == len({row.gpus for row in stated}) and {*map(_case, stated)} == cases
    if len(cases) < 2 or len(stated) == len(table.rows) or not of_each:
        return table
    names = sorted({name for case in cases for name, _ in case})
    rows = tuple(
        replace(row, labels={name: value for name, value in row.labels.items() if name not in names})
        for row in stated
    )
    ratios = " and ".join(plain(one.header) for one in table.columns if one.role in STATED)
    note = f"{ratios} is in one row for each value of {' and '.join(names)}, so these rows are one series"
    return replace(table, rows=rows, by_case=False, notes=(*table.notes, note))


def _case(row: PublishedRow) -> tuple[tuple[str, str], ...]:
    """What tells the case of a row from others."""
    return tuple((name, value) for name, value in sorted(row.labels.items()) if name not in _SAME_RUNS)
