"""Rows with a serial and a parallel time: `Map | Sequential (ms) | Parallel (ms) | Threads | Speedup`."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.devices.in_headings import several_said
from scalestudy.importers.headers.meaning import meaning_of, normal
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import MEASURED, STATED, TIMES
from scalestudy.importers.quantities import in_brackets
from scalestudy.importers.ratios.serial import is_serial
from scalestudy.importers.raw import RawTable

_PARALLEL = re.compile(r"parallel|multi[- ]?(?:thread|proc|core)|\b(?:openmp|omp|mpi|pthreads?|tbb|rayon)\b")
_OF_THEIR_WAY = re.compile(
    r"\b(?:parallel|multi[- ]?(?:thread(?:ed|ing)?|process(?:ing)?|core))\b ?", re.IGNORECASE
)


def with_serial_beside(table: RawTable) -> RawTable:
    """Return a table with a row for the serial and one for the parallel time of each row.

    All parallel times are on the same number of devices, which a column or the text above the table names.
    """
    meanings = [one if (one := meaning_of(name)).role != "ignore" else in_brackets(one) for name in table.header]
    times = [place for place, one in enumerate(meanings) if one.role in TIMES]
    serial = [place for place in times if is_serial(table.header[place])]
    devices = [place for place, one in enumerate(meanings) if one.role == "gpus"]
    measured = [place for place, one in enumerate(meanings) if one.role in MEASURED]
    if len(times) != 2 or len(serial) != 1 or len(devices) > 1 or measured != times:
        return table
    parallel = next(place for place in times if place not in serial)
    noun, count, note = _devices(table, devices, parallel)
    if not count or meanings[parallel].unit != meanings[serial[0]].unit:
        return table
    dropped = {*serial, *devices}
    header = [noun, *(name for at, name in enumerate(table.header) if at not in dropped)]
    bare = _OF_THEIR_WAY.sub("", plain(table.header[parallel])).strip()
    header[header.index(table.header[parallel])] = bare if bare[:1].isalpha() else f"time {bare}".strip()
    rows: list[tuple[int, tuple[str, ...]]] = []
    for line, cells in table.rows:
        whole = [*cells, *[""] * (len(table.header) - len(cells))]
        alone = [
            whole[serial[0]] if at == parallel else "" if meanings[at].role in STATED else cell
            for at, cell in enumerate(whole)
        ]
        for size, own in (("1", alone), (count, whole)):
            rows.append((line, (size, *(cell for at, cell in enumerate(own) if at not in dropped))))
    return replace(table, header=tuple(header), rows=tuple(rows)).noted(note)


def _devices(table: RawTable, places: list[int], parallel: int) -> tuple[str, str, str]:
    """(noun, number, note) of the devices of all parallel times; empty strings if it is not one number above 1."""
    if places:
        found = {plain(cell) for cell in table.cells(places[0])}
        count = found.pop() if len(found) == 1 else ""
        return table.header[places[0]], count if count.isdecimal() and int(count) > 1 else "", ""
    if not _PARALLEL.search(normal(table.header[parallel])):
        return "", "", ""
    count, noun = several_said(table)
    if not count:
        return "", "", ""
    return noun, count, f"the parallel times are on {count} {noun}, as stated beside the table"
