"""Rows with a serial and a parallel time: `Map | Sequential (ms) | Parallel (ms) | Threads | Speedup`."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.devices.in_headings import several_said
from scalestudy.importers.headers.meaning import Meaning, meaning_of, normal, with_role
from scalestudy.importers.headers.terms import DEVICE
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import MEASURED, STATED, TIMES
from scalestudy.importers.quantities import in_brackets
from scalestudy.importers.ratios.of_devices import devices_of_all_rows
from scalestudy.importers.ratios.serial import is_serial
from scalestudy.importers.raw import RawTable

_PARALLEL = re.compile(
    r"parallel|multi[- ]?(?:thread|proc|core|gpu|device|node)|\b(?:openmp|omp|mpi|pthreads?|tbb|rayon)\b"
)
_ON_ONE = re.compile(r"(?:1|one|single)[ -](?:thread|core|process|proc|rank|worker|gpu|device)s?")
_OF_THE_BEST = re.compile(rf"(?:best|optimal|optimum) (?:number of |num |# ?)?{DEVICE}(?: count)?")
"""Header of the devices of the parallel time of each row, where others would be slower."""
_BEST = re.compile(r"^(?:best|optimal|optimum) ", re.IGNORECASE)
_SINGLE = re.compile(r"single[ -](?:gpu|device|node)s?\b")
"""Header of a time on one device, beside a time on several."""
_OF_THEIR_WAY = re.compile(
    r"\b(?:parallel|multi[- ]?(?:thread(?:ed|ing)?|process(?:ing)?|core))\b ?", re.IGNORECASE
)


def with_serial_beside(table: RawTable) -> RawTable:
    """Return a table with a row for the serial and one for the parallel time of each row.

    All parallel times are on the same number of devices, which a column or the text above the table names, or each
    on the number that is called the best one.
    """
    meanings = _with_bare_serial(
        [one if (one := meaning_of(name)).role != "ignore" else in_brackets(one) for name in table.header]
    )
    times = [place for place, one in enumerate(meanings) if one.role in TIMES]
    names = list(map(normal, table.header))
    serial = [at for at in times if is_serial(table.header[at]) or _SINGLE.match(names[at])]
    devices = [at for at, one in enumerate(meanings) if one.role == "gpus" or _OF_THE_BEST.fullmatch(names[at])]
    measured = [place for place, one in enumerate(meanings) if one.role in MEASURED]
    if len(times) != 2 or len(serial) != 1 or len(devices) > 1 or measured != times:
        return table
    parallel = next(place for place in times if place not in serial)
    noun, counts, note = _devices(table, devices, parallel)
    if not counts or meanings[parallel].unit != meanings[serial[0]].unit:
        return table
    dropped = {*serial, *devices}
    header = [noun, *(name for at, name in enumerate(table.header) if at not in dropped)]
    bare = _OF_THEIR_WAY.sub("", plain(table.header[parallel])).strip()
    header[header.index(table.header[parallel])] = bare if bare[:1].isalpha() else f"time {bare}".strip()
    rows: list[tuple[int, tuple[str, ...]]] = []
    for (line, cells), count in zip(table.rows, counts, strict=True):
        whole = [*cells, *[""] * (len(table.header) - len(cells))]
        alone = [
            whole[serial[0]] if at == parallel else "" if meanings[at].role in STATED else cell
            for at, cell in enumerate(whole)
        ]
        for size, own in (("1", alone), (count, whole)):
            rows.append((line, (size, *(cell for at, cell in enumerate(own) if at not in dropped))))
    return replace(table, header=tuple(header), rows=tuple(rows)).noted(note)


def _with_bare_serial(meanings: list[Meaning]) -> list[Meaning]:
    """The meanings with `1 Thread` as a time, if it is beside the only time of a table: `1 Thread | Best Time`."""
    times = [one for one in meanings if one.role in TIMES]
    bare = [
        place
        for place, one in enumerate(meanings)
        if one.role == "ignore" and _ON_ONE.fullmatch(normal(one.header))
    ]
    if len(times) != 1 or len(bare) != 1 or is_serial(times[0].header):
        return meanings
    return with_role(meanings, bare[0], times[0].role, unit=times[0].unit)


def _devices(table: RawTable, places: list[int], parallel: int) -> tuple[str, list[str], str]:
    """(noun, devices of the parallel time of each row, note); no devices if they are not above 1."""
    if places:
        found = [plain(cells[places[0]]) if places[0] < len(cells) else "" for _, cells in table.rows]
        whole = all(count.isdecimal() and int(count) > 1 for count in found)
        of_the_best = _OF_THE_BEST.fullmatch(normal(table.header[places[0]]))
        of_each = of_the_best or len(set(found)) == 1
        noun = _BEST.sub("", plain(table.header[places[0]])) if of_the_best else table.header[places[0]]
        return noun, found if whole and of_each else [], ""
    if not _PARALLEL.search(normal(table.header[parallel])):
        return "", [], ""
    count, noun = several_said(table)
    if not count and (shown := devices_of_all_rows(table)):
        note = f"speedup over efficiency shows that the parallel times are on {shown} devices"
        return "devices", [str(shown)] * len(table.rows), note
    if not count:
        return "", [], ""
    note = f"the parallel times are on {count} {noun}, as stated beside the table"
    return noun, [count] * len(table.rows), note
