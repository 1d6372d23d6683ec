"""Rows of a serial run, whose column of devices may be empty, beside those of parallel runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from scalestudy.importers.counts.labels import names_one
from scalestudy.importers.headers.meaning import meaning_of, normal
from scalestudy.importers.headers.terms import SERIAL_RUN
from scalestudy.importers.numbers.printed import is_blank, plain
from scalestudy.importers.raw import RawTable

SERIAL = "serial"
OF_ONE = re.compile(rf"{SERIAL_RUN}\b(?!.*(?:[2-9]|\d\d))", re.IGNORECASE)
"""Beginning of the label of a serial run."""
_ONE = re.compile(r"(?:.*[ (=])?1\b(?!\.)")
_ON_A_CPU = re.compile(r"cpu(?![x_=*-]? ?\d)")
"""A row on the host alone; `CPUx04` is on four."""
_NAMED = re.compile(rf"{SERIAL_RUN}\b", re.IGNORECASE)
_ALONE = re.compile(rf"{SERIAL_RUN}(?: (?:run|code|version|program|implementation|baseline))?", re.IGNORECASE)


def names_serial_run(label: str) -> bool:
    """Return whether a label says that a run is serial, and no more."""
    return bool(_ALONE.fullmatch(plain(label)))


def with_serial_rows(table: RawTable) -> RawTable:
    """Return a table whose rows without devices say that they are serial if their label does: serial, -, 9 s."""
    devices = [place for place, header in enumerate(table.header) if meaning_of(header).role == "gpus"]
    # n is the size of a problem beside another number
    devices = [place for place in devices if len(devices) == 1 or normal(table.header[place]) != "n"]
    if len(devices) != 1:
        return table
    place = devices[0]
    rows = [
        (line, (*cells[:place], SERIAL, *cells[place + 1 :]))
        if place < len(cells)
        and is_blank(cells[place])
        and any(_NAMED.match(plain(cell).lstrip("(")) for cell in cells[:place])
        else (line, cells)
        for line, cells in table.rows
    ]
    return replace(table, rows=tuple(rows))


def is_only_serial(text: str, cells: Sequence[str]) -> bool:
    """Return whether a label is the only one of one process, and serial: the baseline of all others."""
    parallel = [cell for cell in cells if not OF_ONE.match(plain(cell))]
    return len(parallel) == len(cells) - 1 and bool(OF_ONE.match(plain(text))) and not names_one(parallel)


def is_outside(raw: RawTable, text: str, place: int, *, has_ratios: bool, has_labels: bool) -> bool:
    """Return whether a row is none of the scales: on no device, or serial beside a parallel run on one.

    text: its cell in the column of devices at `place`. Without printed ratios only a row on 0 devices is, and a
    serial one beside a bare 1 if no label tells the two apart.
    """
    cells = [plain(cell).lower() for cell in raw.cells(place)]
    if OF_ONE.match(plain(text)):
        one = any(_ONE.match(cell) and not OF_ONE.match(cell) for cell in cells)
        if one if has_ratios else "1" in cells and not has_labels:
            return True
    of_a_cpu = [bool(_ON_A_CPU.match(cell)) for cell in (plain(text).lower(), *cells)]
    return plain(text) == "0" or (has_ratios and of_a_cpu[0] and not all(of_a_cpu))
