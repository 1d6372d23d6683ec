"""Devices in labels that differ in one number only, with a letter or word beside it: `8T`, `-j 8`, `Par (8)`."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace

from scalestudy.importers.counts.labels import count_or_none
from scalestudy.importers.devices.templates import OTHER, are_sizes
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.headers.terms import SERIAL_RUN
from scalestudy.importers.numbers.printed import plain, read_cell
from scalestudy.importers.published import MEASURED, TIMES
from scalestudy.importers.raw import RawTable

_FORMS = {
    r"(?P<n>\d{1,6}) ?(?:t|thr)\.?|t ?(?P<m>\d{1,6})": "threads",
    r"(?P<n>\d{1,6}) ?p|(?:open ?mpi|mpi) ?\((?P<m>\d{1,6})\)": "processes",
    r"(?P<n>\d{1,6}) ?c|c ?(?P<m>\d{1,6})": "cores",
    r"(?:openmp|omp|pthreads?) ?\((?P<n>\d{1,6})\)": "threads",
    r"(?P<n>\d{1,6}) ?w|par(?:allel)?[ _-]?\(?(?P<m>\d{1,6})\)?": "workers",
    r"(?P<n>\d{1,6})[ -]?(?:tasks?|shards?|partitions?|agents?|streams?|jobs?|lanes?|slots?|ways?)": "workers",
    r"(?:make )?-j ?(?P<n>\d{1,6})": "workers",
    r"(?:(?:strong|weak|scaling|scale)[ _-]*)+(?P<n>\d{1,6})|#(?P<m>\d{1,6})|\((?P<k>\d{1,6})\)": "gpus",
}
"""Labels with a number -> what the number is of."""
_NAMED = re.compile(
    r"(?P<name>(?=.*[^\W\d_]).+?)[ _/@:-]*\(?(?P<n>\d{1,5}) ?(?P<letter>t|p|c|w|thr)?\)?", re.IGNORECASE
)
"""A label with a number at its end: `VGG-16 4T`."""
_NOUNS = {"t": "threads", "thr": "threads", "p": "processes", "c": "cores", "w": "workers"}
_SERIAL = re.compile(rf"(?:{SERIAL_RUN})\b(?!.*\d)|base(?:line)?", re.IGNORECASE)


def with_numbered_labels(table: RawTable) -> RawTable:
    """Return a table whose labels are numbers of devices, if they grow and the measurements beside them follow.

    The only label of a serial run is one device. A note says so.
    """
    if any(meaning_of(name).role in ("gpus", "nodes") for name in table.header) or not table.rows:
        return table
    labels = [plain(cells[0]).lower() if cells else "" for _, cells in table.rows]
    if several := _of_several_names(table):
        return several
    if any(count_or_none(label) for label in labels if not _SERIAL.match(label)):
        return table
    for form, noun in _FORMS.items():
        found = [re.fullmatch(form, label) for label in labels]
        others = [label for label, one in zip(labels, found, strict=True) if not one]
        if len(others) > 1 or not all(_SERIAL.fullmatch(label) for label in others):
            continue
        sizes = [int(next(filter(None, one.groups()))) if one else 1 for one in found]
        if are_sizes(sizes) and _follows(table):
            rows = tuple(
                (line, (str(size), *cells[1:])) for size, (line, cells) in zip(sizes, table.rows, strict=True)
            )
            note = f"labels such as {plain(table.rows[-1][1][0])} are read as numbers of devices"
            return replace(table, header=(noun, *table.header[1:]), rows=rows).noted(note)
    return table


def _of_several_names(table: RawTable) -> RawTable | None:
    """The table of labels with two or more names, each with the same numbers: A-1, A-2, A-4, B-1, B-2, B-4."""
    found = [_NAMED.fullmatch(plain(cells[0])) if cells else None for _, cells in table.rows]
    names: dict[str, dict[int, tuple[str, ...]]] = {}
    for (_, cells), one in zip(table.rows, found, strict=True):
        if one is None or OTHER.search(one["name"].lower()):
            return None
        names.setdefault(one["name"], {})[int(one["n"])] = cells
    sizes = next(iter(names.values()))
    alike = all(list(rows) == list(sizes) for rows in names.values())
    if len(names) < 2 or not alike or len(names) * len(sizes) != len(table.rows) or not are_sizes(list(sizes)):
        return None
    if not all(_follows(replace(table, rows=tuple(enumerate(rows.values())))) for rows in names.values()):
        return None
    noun = _NOUNS.get((found[0]["letter"] or "").lower().strip() if found[0] else "", "gpus")
    rows = tuple(
        (line, (one["name"], one["n"], *cells[1:]))
        for (line, cells), one in zip(table.rows, found, strict=True)
        if one
    )
    note = f"labels such as {plain(table.rows[-1][1][0])} are read as names with numbers of devices"
    return replace(table, header=(table.header[0] or "setup", noun, *table.header[1:]), rows=rows).noted(note)


def _follows(table: RawTable) -> bool:
    """Whether a time is shorter, or a rate larger, in the last row than in the first."""
    for place, name in enumerate(table.header):
        role = meaning_of(name).role
        if role not in MEASURED:
            continue
        with suppress(ValueError, IndexError):
            first, last = (read_cell(table.rows[at][1][place]).printed.value for at in (0, -1))
            return last < first if role in TIMES else last > first
    return False
