"""Two ratios in brackets behind a number: 23.3 (6.6x, 83 %)."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.raw import RawTable

_TWO_RATIOS = re.compile(
    r"(?P<number>[~]?\d[^()]*?) ?\((?P<first>[\d.]+ ?x)[,;/] ?(?P<second>[\d.]+ ?%[^()]*)\)", re.IGNORECASE
)


def with_one_ratio(table: RawTable) -> RawTable:
    """Return the table with the first of two ratios in brackets behind a number, 23.3 (6.6x, 83 %), and a note."""
    first = ""
    rows = []
    for line, cells in table.rows:
        found = [_TWO_RATIOS.fullmatch(plain(cell)) for cell in cells]
        first = first or next((one["second"].strip() for one in found if one), "")
        rows.append(
            (
                line,
                tuple(
                    f"{one['number']} ({one['first']})" if one else cell
                    for one, cell in zip(found, cells, strict=True)
                ),
            )
        )
    note = f"the second ratio in brackets, such as '{first}', is not read"
    return replace(table, rows=tuple(rows)).noted(note) if first else table
