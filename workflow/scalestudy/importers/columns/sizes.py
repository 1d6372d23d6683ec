"""What a size of the work, or the text, says of the kind of scaling."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from math import isclose

from scalestudy.importers.columns.batch_in_words import called, scaling_by_batch
from scalestudy.importers.columns.labels import is_size_of_work
from scalestudy.importers.headers.meaning import Meaning, normal
from scalestudy.importers.headers.terms import DEVICE, NODE
from scalestudy.importers.numbers.printed import Printed, read_cell
from scalestudy.importers.published import BY_SIZE, BY_TABLE, BY_TEXT, RATES, TIMES, OddSize, PublishedRow
from scalestudy.importers.raw import RawTable

_FEW = 3
_OF_A_SURFACE = re.compile(r"\b(?:halo|ghost|boundary|surface|contact|interface|shared|border)s?\b")
"""Names of sizes that do not grow as the work does."""
_OF_EACH = re.compile(
    r"(?:local )?(?:input|data|problem|message|array|vector|matrix|grid|mesh|work(?:load)?|size|elements|cells|"
    rf"particles|atoms|points|samples|rows|dofs?)(?: ?size)?s? ?(?:/|per) ?(?:{DEVICE}|{NODE})(?: ?[(\[].*)?"
)
"""Names of labels that say how much each device computes."""


def scaling_beside(
    raw: RawTable, columns: Sequence[Meaning], meanings: Sequence[Meaning], rows: Sequence[PublishedRow]
) -> tuple[str, str]:
    """Return the kind of scaling that no word of a table names, and what shows it: the text, or a size of work.

    columns: those of a variant; meanings: of all columns; rows: what was read.
    """
    if kind := scaling_by_batch(raw, columns):
        return kind, BY_TEXT
    timed = any(one.role in TIMES for one in columns) and not any(one.role in RATES for one in columns)
    if timed and (_grows_as_devices(raw, meanings, rows) or _is_constant_for_each(rows)):
        return "weak", BY_SIZE
    kind = called(raw.text) if timed and _grows(rows) else ""
    return (kind, BY_TEXT) if kind else ("", BY_TABLE)


def _grows(rows: Sequence[PublishedRow]) -> bool:
    """Whether a time is longer on the most devices than on the fewest."""
    timed = [(row.gpus, time) for row in rows for role in TIMES if (time := row.number(role)) is not None]
    return bool(timed) and min(timed)[1] < max(timed)[1]


def _is_constant_for_each(rows: Sequence[PublishedRow]) -> bool:
    """Whether a label is a size of the work of each device, `input/rank`, and each was on several numbers."""
    for name in dict.fromkeys(name for row in rows for name in row.labels):
        if _OF_EACH.fullmatch(name):
            sizes: dict[str, set[int]] = {}
            for row in rows:
                sizes.setdefault(row.label(name), set()).add(row.gpus)
            return all(len(found) > 1 for found in sizes.values())
    return False


def _grows_as_devices(raw: RawTable, meanings: Sequence[Meaning], rows: Sequence[PublishedRow]) -> bool:
    """Whether a size of the work is the same for each device in all rows: 10 GB on 1, and 100 GB on 10."""
    for _, sizes in _sizes(raw, meanings, rows):
        if len(sizes) == len(rows) and len({gpus for gpus, _ in sizes}) > 1 and _are_of_each(sizes):
            return True
    return False


def _are_of_each(sizes: Sequence[tuple[int, Printed]]) -> bool:
    """Whether sizes are the same for each device. sizes: (devices, size) of each row."""
    first = sizes[0][1].value / sizes[0][0]
    return first > 0 and all(isclose(size.value / gpus, first, rel_tol=1e-9) for gpus, size in sizes)


def _sizes(
    raw: RawTable, meanings: Sequence[Meaning], rows: Sequence[PublishedRow]
) -> Iterator[tuple[str, list[tuple[int, Printed]]]]:
    """The header of each size of the work, and (devices, size) of its rows, fewest devices first."""
    by_line = {row.line: row.gpus for row in rows}
    whole = len(rows) == len(raw.rows)  # rows of a table that was turned have one line
    devices = [row.gpus for row in rows] if whole else [by_line.get(line, 0) for line, _ in raw.rows]
    for place, one in enumerate(meanings):
        if one.role not in ("label", "ignore") or not is_size_of_work(normal(one.header)):
            continue
        sizes = []
        for gpus, (_, cells) in zip(devices, raw.rows, strict=True):
            with suppress(ValueError, IndexError):
                sizes.append((gpus, read_cell(cells[place]).printed))
        yield one.header, sorted((pair for pair in sizes if pair[0]), key=lambda pair: (pair[0], pair[1].value))


def odd_size(raw: RawTable, meanings: Sequence[Meaning], rows: Sequence[PublishedRow]) -> OddSize | None:
    """Return the only size of the work that is another one for each device than in the others, at least three.

    None if another size is the same for each device. A size may be rounded to its last digit.
    """
    odd = None
    for header, sizes in _sizes(raw, meanings, rows):
        each = [(size.low / gpus, size.high / gpus) for gpus, size in sizes]
        if len(each) < len(rows) or len(each) <= _FEW or len({gpus for gpus, _ in sizes}) < len(each):
            continue
        if _overlap(each):
            return None
        alike = [place for place in range(len(each)) if _overlap([*each[:place], *each[place + 1 :]])]
        if len(alike) == 1 and not _OF_A_SURFACE.search(normal(header)):
            (gpus, size), (other, usual) = sizes[alike[0]], sizes[alike[0] - 1]
            odd = OddSize(header, gpus, size.value, usual.value / other)
    return odd


def _overlap(ranges: Sequence[tuple[float, float]]) -> bool:
    """Whether ranges have a number in common."""
    return max(low for low, _ in ranges) <= min(high for _, high in ranges)


def growing_size(raw: RawTable, meanings: Sequence[Meaning], rows: Sequence[PublishedRow]) -> tuple[str, bool]:
    """Return the header of a size, such as `N` or `grid`, that is larger on each larger number of devices, or ''.

    The second is whether it is the same for each device. rows: what was read of the table.
    """
    for header, sizes in _sizes(raw, meanings, rows):
        known = len(sizes) == len(rows) >= _FEW
        if known and all(few[0] < many[0] and few[1].value < many[1].value for few, many in pairwise(sizes)):
            return header, _are_of_each(sizes)
    return "", False
