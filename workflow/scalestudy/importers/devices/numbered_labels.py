"""Devices in labels that differ in one number only, with a letter or word beside it: `8T`, `-j 8`, `Par (8)`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from scalestudy.importers.counts.labels import count_or_none
from scalestudy.importers.devices.templates import OTHER, are_sizes
from scalestudy.importers.headers.meaning import meaning_of, normal
from scalestudy.importers.headers.terms import SERIAL_RUN
from scalestudy.importers.numbers.printed import SHOWN, plain, read_cell
from scalestudy.importers.published import MEASURED, TIMES
from scalestudy.importers.quantities import quantity_of
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
_COMMAND = re.compile(r"commands?|cmd|invocation|command line")
_BEGINS = 16
"""Largest number that those of a command begin with."""
_SERIAL = re.compile(rf"(?:{SERIAL_RUN})\b(?!.*\d)|base(?:line)?", re.IGNORECASE)


def with_numbered_labels(table: RawTable) -> RawTable:
    """Return a table whose labels are numbers of devices, if they grow and the measurements beside them follow.

    The only label of a serial run is one device. A note says so.
    """
    if any(meaning_of(name).role in ("gpus", "nodes") for name in table.header) or not table.rows:
        return table
    labels = [plain(cells[0]).lower() if cells else "" for _, cells in table.rows]
    if several := _of_several_names(table) or _beside_one_name(table) or _of_commands(table):
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
    return _with_sizes(table, found)


def _beside_one_name(table: RawTable) -> RawTable | None:
    """The table of labels with growing numbers behind one name, and one of another: naive-1, pipe-1, pipe-2."""
    found = [_NAMED.fullmatch(plain(cells[0])) if cells else None for _, cells in table.rows]
    named = [one for one in found if one is not None and not OTHER.search(one["name"].lower())]
    names = [one["name"] for one in named]
    most = max(names, key=names.count, default="")
    rows = [row for row, one in zip(table.rows, found, strict=True) if one and one["name"] == most]
    sizes = [int(one["n"]) for one in named if one["name"] == most]
    others = [int(one["n"]) for one in named if one["name"] != most]
    without = len(found) - len(named)  # the label of what the others are compared with
    if len(others) + without != 1 or any(size > min(sizes) for size in others) or not are_sizes(sizes):
        return None
    lettered = any(one["letter"] for one in named)  # 4w: a number at the end of a name may be anything else
    bare = [plain(cells[0]) for (_, cells), one in zip(table.rows, found, strict=True) if one is None]
    lettered = lettered or all(map(_SERIAL.fullmatch, bare))
    if (without and not lettered) or not _follows(replace(table, rows=tuple(rows))):
        return None
    return _with_sizes(table, found)


def _with_sizes(table: RawTable, found: Sequence[re.Match[str] | None]) -> RawTable:
    """The table with the names and the numbers of its labels as columns."""
    letter = next((one["letter"] for one in found if one and one["letter"]), "").lower().strip()
    rows = tuple(
        (line, (*((one["name"], one["n"]) if one else _of_one(cells[0])), *cells[1:]))
        for (line, cells), one in zip(table.rows, found, strict=True)
    )
    note = f"labels such as {plain(table.rows[-1][1][0])} are read as names with numbers of devices"
    first = table.header[0] if meaning_of(table.header[0]).role != "case" else ""  # not each name by itself
    header = (first or "setup", _NOUNS.get(letter, "gpus"), *table.header[1:])
    return replace(table, header=header, rows=rows).noted(note)


def _of_one(label: str) -> tuple[str, str]:
    """Name and devices of a label without a number: one for a baseline."""
    return (label, "1") if _SERIAL.fullmatch(plain(label)) else ("", label)


def _of_commands(table: RawTable) -> RawTable | None:
    """The table of commands that differ in one number, `pigz -p 4 file`, with this number as that of workers.

    It has to make one of the programs faster; the most workers may be slower again.
    """
    commands = [plain(cells[0]).split() if cells else [] for _, cells in table.rows]
    if not _COMMAND.fullmatch(normal(table.header[0])) or not all(len(words) > 1 for words in commands):
        return None
    programs: dict[tuple[str, ...], list[int]] = {}
    for at, words in enumerate(commands):
        programs.setdefault(tuple(re.sub(r"\d+", "0", word) for word in words), []).append(at)
    split: dict[int, tuple[str, str]] = {}
    faster = False
    for places in programs.values():
        own = _with_their_numbers([commands[at] for at in places])
        split |= dict(zip(places, own, strict=False))
        rows = [table.rows[at] for at in places]
        faster = faster or any(_follows(replace(table, rows=(rows[0], row))) for row in rows[1:])
    if len(split) < len(commands) or not faster:
        return None
    rows = [(line, (*split[at], *cells[1:])) for at, (line, cells) in enumerate(table.rows)]
    note = f"the numbers in commands such as {plain(table.rows[-1][1][0])[:SHOWN]} are read as numbers of workers"
    return replace(table, header=(table.header[0], "workers", *table.header[1:]), rows=tuple(rows)).noted(note)


def _with_their_numbers(commands: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """(other words, number) of commands whose only different word has a number that grows; else nothing."""
    varied = [at for at, words in enumerate(zip(*commands, strict=True)) if len({*words}) > 1]
    numbers = [re.findall(r"\d+", words[varied[0]]) for words in commands] if len(varied) == 1 else []
    counts = [int(found[0]) for found in numbers if len(found) == 1]
    if len(counts) < len(commands) or counts != sorted({*counts}) or not counts or counts[0] > _BEGINS:
        return []
    others = [" ".join(word for at, word in enumerate(words) if at != varied[0]) for words in commands]
    return list(zip(others, map(str, counts), strict=True))


def _follows(table: RawTable) -> bool:
    """Whether a time is shorter, or a rate larger, in the last row than in the first."""
    for place, name in enumerate(table.header):
        role = meaning_of(name).role
        own = [meaning_of(quantity_of(cell)).role for cell in table.cells(place)] if role == "ignore" else []
        role = own[0] if own and len({*own}) == 1 else role  # by the unit of its cells
        if role not in MEASURED:
            continue
        with suppress(ValueError, IndexError):
            first, last = (read_cell(table.rows[at][1][place]).printed.value for at in (0, -1))
            return last < first if role in TIMES else last > first
    return False
