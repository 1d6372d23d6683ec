"""Columns of devices whose cells or headers list ids, or whose cells name variants on the same devices."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from scalestudy.importers.counts.cells import Count, read_count
from scalestudy.importers.counts.labels import count_in_words
from scalestudy.importers.headers.meaning import IDS, IN_WORDS, Meaning, meaning_of
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import BATCHES, MEASURED, STATED, PublishedRow
from scalestudy.importers.raw import RawTable

PLACEMENT = "placement"
"""Header of the ids of devices beside their number."""


def as_listed(meaning: Meaning, cells: Sequence[str]) -> Meaning:
    """Return the meaning of a column whose cells list ids, or name variants."""
    if meaning.role != "gpus" or meaning.per:
        return meaning
    if is_of_several(cells) and _has_unread_names(cells):
        return replace(meaning, per=IN_WORDS)
    return replace(meaning, per=IDS) if are_ids(cells) else meaning


def are_ids(cells: Sequence[str]) -> bool:
    """Return whether all cells list ids of devices, and one of them several: 0 and 0,1 and 0-3."""
    lists = [ids_in(cell) for cell in cells]
    ranges = [cell for cell in cells if re.fullmatch(r"[1-9]\d* ?[-\u2013] ?\d+", plain(cell))]
    ranges = [] if any("," in cell for cell in cells) else ranges  # beside lists such as 4,5 they are ids too
    if not all(lists) or ranges or not any(len(one) > 1 for one in lists):
        return False
    single = [one[0] for one in lists if len(one) == 1]
    return len(set(single)) <= 1 and not _are_thousands(cells)


def count_from_zero(cells: Sequence[str]) -> bool:
    """Return whether cells are the numbers of single devices, of which the first is 0: 0, 1, 2."""
    return len(cells) > 1 and list(map(plain, cells)) == [str(at) for at in range(len(cells))]


def _are_thousands(cells: Sequence[str]) -> bool:
    """Whether all lists are numbers with separators of thousands: 1,411."""
    listed = [plain(cell) for cell in cells if "," in cell]
    return bool(listed) and all(re.fullmatch(r"\d{1,3}(?:,\d{3})+", cell) for cell in listed)


def ids_in(cell: str) -> list[int]:
    """Return the ids of devices in a cell: 0,1 or [4,5] or cuda:0-3; none if it lists something else."""
    words = re.sub(r"^(?:cuda|gpus?|ids?)[ :=]*", "", plain(cell).strip("[](){}").lower())
    found: list[int] = []
    for part in re.split(r"\s*[,+&]\s*|\s+", words.strip("[](){} ")):
        ends = re.fullmatch(r"(?:cuda:|gpu)?(\d{1,3})(?:\s*[-\u2013]\s*(\d{1,3}))?", part)
        if ends is None:
            return []
        found += range(int(ends[1]), int(ends[2] or ends[1]) + 1)
    return found if found == sorted(set(found)) else []


def with_placements(table: RawTable) -> RawTable:
    """Return a table with ids of devices beside their number as the placement of rows on equal numbers of devices.

    On other numbers of devices the ids say nothing, so their cells are empty.
    """
    counts = [place for place, name in enumerate(table.header) if meaning_of(name).role == "gpus"]
    for place in range(len(table.header)):
        pairs = [
            (plain(row[counts[0]]), ids_in(row[place]))
            for _, row in table.rows
            if counts and len(row) > max(place, counts[0])
        ]
        lists = [ids for _, ids in pairs]
        measured = meaning_of(table.header[place]).role in (*MEASURED, *STATED)
        if place in counts[:1] or measured or _are_thousands(table.cells(place)):
            continue
        if len(pairs) < len(table.rows) or not any(len(ids) > 1 for ids in lists):
            continue
        if not all(count == str(len(ids)) for count, ids in pairs):
            continue
        known = [count for count, _ in pairs]
        rows = [
            (line, (*row[:place], row[place] if known.count(count) > 1 else "", *row[place + 1 :]))
            for (line, row), count in zip(table.rows, known, strict=True)
        ]
        rows.sort(key=lambda row: bool(row[1][place]))  # an empty cell below a label would be that of the label
        return replace(
            table, header=(*table.header[:place], PLACEMENT, *table.header[place + 1 :]), rows=tuple(rows)
        )
    return table


def with_placements_of_products(rows: Sequence[PublishedRow]) -> list[PublishedRow]:
    """Return rows in which `40` and `2x20`, which are one number of devices, have these as their placements."""
    alike: dict[tuple[object, ...], list[PublishedRow]] = {}
    for row in rows:
        numbers = tuple(row.numbers.get(role) for role in BATCHES)
        alike.setdefault((row.gpus, numbers, *sorted(row.labels.items())), []).append(row)
    placed: dict[int, str] = {}
    for group in alike.values():
        nodes = [row.number("nodes") for row in group]
        if len(group) > 1 and None in nodes and len(set(nodes)) == len(nodes):
            placed |= {
                row.line: f"{own:g}x{row.gpus / own:g}" if own else f"{row.gpus}"
                for row, own in zip(group, nodes, strict=True)
            }
    return [
        replace(row, labels={**row.labels, PLACEMENT: placed[row.line]}) if row.line in placed else row
        for row in rows
    ]


def lists_across(header: Sequence[str]) -> dict[int, str]:
    """Return place -> devices of the columns `GPU 0`, `GPU 0,1`, `GPU 0-3`: each list has the shorter ones."""
    lists = {
        place: set(ids_in(name))
        for place, name in enumerate(header)
        if place and re.match(r"(?:cuda|gpus?|ids?)\b", plain(name).lower())
    }
    ordered = sorted(lists.values(), key=len)
    nested = all(shorter < longer for shorter, longer in pairwise(ordered))
    return (
        {place: str(len(ids)) for place, ids in lists.items()}
        if nested and len(ordered) > 1 and ordered[0]
        else {}
    )


def is_of_several(cells: Sequence[str]) -> bool:
    """Return whether labels begin with names of variants on the same devices: `DDP (4 GPUs)`, `FSDP (4 GPUs)`."""
    labels = {plain(cell) for cell in cells}
    counts = {label: count_by(label, count_in_words) for label in labels}
    sizes = Counter((count.nodes, count.gpus) for count in counts.values() if count)
    several = [label for label, count in counts.items() if count and sizes[count.nodes, count.gpus] > 1]
    return all(counts.values()) and bool(several) and not any(label[:1].isdigit() for label in several)


def _has_unread_names(cells: Sequence[str]) -> bool:
    """Whether several labels have the same number of devices, and differ in words that are not read."""
    labels = list(dict.fromkeys(map(plain, cells)))
    read = [(count_by(label, read_count), count_by(label, count_in_words)) for label in labels]
    pairs = [(one, other) for one, other in read if one and other and one.gpus == other.gpus]
    names = Counter(one for one, _ in {(one, other.words) for one, other in pairs})
    return len(pairs) == len(labels) and any(count > 1 for count in names.values())


def count_by(cell: str, read: Callable[[str], Count]) -> Count | None:
    """Return the devices of a cell by a reader of them; None if it finds none."""
    try:
        return read(cell)
    except ValueError:
        return None
