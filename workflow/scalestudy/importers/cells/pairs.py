"""Columns with two numbers: 3,170 / 25,360 below `Tokens/s (per GPU / total)`, 8x4 below `GPUs x batch`."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.headers.terms import DEVICE
from scalestudy.importers.numbers.printed import is_blank, plain
from scalestudy.importers.raw import RawTable

_EACH = rf"(?:per |/ ?){DEVICE}"
_ALL = r"(?:total|overall|aggregated?|global|all(?: \w+)?)"
_HEADER = re.compile(
    rf"(?P<name>.+?)[,:]? *[(\[]?(?P<first>{_EACH}|{_ALL}) *[/|,] *(?P<second>{_EACH}|{_ALL})[)\]]?", re.IGNORECASE
)
_PRODUCT = re.compile(
    rf"(?P<first>(?:#|n|num(?:ber)?(?: of)?)?[ _]?{DEVICE}) ?[x*] ?"
    rf"(?P<second>(?:images|samples|sequences|batch(?:[ _]?size)?|bs)(?:[ _/]*(?:per[ _])?{DEVICE})?)",
    re.IGNORECASE,
)
"""Devices and the batch of each."""
_OF_A_PRODUCT = re.compile(r"(?P<first>\d{1,6}) ?[x*] ?(?P<second>\d{1,6})", re.IGNORECASE)
_CELL = re.compile(r"(?P<first>[^/|]*\d[^/|]*?) *[/|] *(?P<second>[^/|]*\d[^/|]*)")


def with_pairs(table: RawTable) -> RawTable:
    """Return a table in which such a column is two: `Tokens/s per GPU` and `Tokens/s total`."""
    for place, header in enumerate(table.header):
        named, product = _HEADER.fullmatch(plain(header)), _PRODUCT.fullmatch(plain(header).replace("_", " "))
        form = _CELL if named else _OF_A_PRODUCT
        cells = table.cells(place)
        if not (named or product) or not cells or not all(form.fullmatch(plain(cell)) for cell in cells):
            continue
        names = [f"{named['name']} {named[which]}" for which in ("first", "second")] if named else []
        names = names if product is None else [product["first"], "batch size per GPU"]
        rows = tuple(
            (line, (*row[:place], *_parts(row[place], form), *row[place + 1 :]) if place < len(row) else row)
            for line, row in table.rows
        )
        header_of_two = (*table.header[:place], *names, *table.header[place + 1 :])
        return with_pairs(replace(table, header=header_of_two, rows=rows))
    return table


def _parts(cell: str, form: re.Pattern[str]) -> tuple[str, str]:
    found = None if is_blank(cell) else form.fullmatch(plain(cell))
    return (found["first"], found["second"]) if found else (cell, "")
