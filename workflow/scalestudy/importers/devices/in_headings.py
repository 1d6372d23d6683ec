"""Numbers of devices that the text around a table names, and labels that get theirs from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from scalestudy.importers.counts.labels import count_or_none
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.headers.terms import DEVICE, OF_WHAT, STRATEGIES
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.raw import RawTable

_SAID = re.compile(
    rf"(?<![\w.])(?P<count>[2-9]|[1-9]\d{{1,5}}) ?x? ?-?(?:{OF_WHAT}|parallel |worker )?(?P<noun>{DEVICE})\b",
    re.IGNORECASE,
)
_FEW = 2
_LONGEST = 120
"""Characters of a line that may name the devices of a strategy."""
_CROSSED = re.compile(r"[xX\u00d7]")


def several_said(table: RawTable) -> tuple[str, str]:
    """Return the number above 1 that the text around a table names, with its noun; empty unless it is only one."""
    said = {(one["count"], one["noun"]) for words in table.captions for one in _SAID.finditer(words)}
    return min(said) if len({count for count, _ in said}) == 1 else ("", "")


def with_devices_of_strategies(table: RawTable, lines: Sequence[str]) -> RawTable:
    """Return a table whose labels of a strategy have the devices that the file names beside it.

    So it is if the file names one number, and if all other labels are of one device: `Single GPU`, beside `DDP`
    and a heading `DDP training (2 GPUs)`. lines: of the file.
    """
    if any(meaning_of(name).role in ("gpus", "nodes") for name in table.header) or not table.header:
        return table
    labels = [plain(cells[0]) if cells else "" for _, cells in table.rows]
    counts = [count_or_none(label) for label in labels]
    missing = [label for label, own in zip(labels, counts, strict=True) if not own]
    ways = [STRATEGIES.search(label) for label in missing]
    if {own.gpus for own in counts if own} != {1} or not ways or not all(ways):
        return table
    devices: dict[str, str] = {}
    for way in {one[0] for one in ways if one}:
        beside = re.compile(rf"(?<!\w){re.escape(way)}(?!\w)", re.IGNORECASE)
        short = (plain(line) for line in lines if len(line) <= _LONGEST and beside.search(line))
        said = [one for text in short for one in _SAID.finditer(text)]
        if len({one["count"] for one in said}) != 1:
            return table
        devices[way] = f"{said[0]['count']} {said[0]['noun']}"
    named = {label: f"{label} ({devices[one[0]]})" for label, one in zip(missing, ways, strict=True) if one}
    rows = tuple(
        (line, (named.get(label, cells[0]), *cells[1:]) if cells else cells)
        for (line, cells), label in zip(table.rows, labels, strict=True)
    )
    words = ", ".join(f"{way} is on {count}" for way, count in devices.items())
    return replace(table, rows=rows).noted(f"{words}, as the text says")


def with_devices_of_crossed_rows(table: RawTable) -> RawTable:
    """Return a table whose labels have the devices of the row above them that has an x below all other headers.

    `On 16 GPUs | x | x` is such a row. A label that names devices itself keeps them.
    """
    if any(meaning_of(name).role in ("gpus", "nodes") for name in table.header):
        return table
    said = ""
    rows: list[tuple[int, tuple[str, ...]]] = []
    for line, cells in table.rows:
        if len(cells) > 1 and all(_CROSSED.fullmatch(plain(cell)) for cell in cells[1:]):
            count = count_or_none(plain(cells[0]))
            if count is None or count.either:
                return table
            said = re.sub(r"^(?:on|with|using)\b ?", "", plain(cells[0]), flags=re.IGNORECASE)
        else:
            own = not said or count_or_none(plain(cells[0])) is not None
            rows.append((line, cells if own else (f"{plain(cells[0])} ({said})", *cells[1:])))
    return replace(table, rows=tuple(rows)).noted(
        "the devices of rows are those of the row with crosses above them" if said else ""
    )


def with_devices_of_headings(table: RawTable) -> RawTable:
    """Return a table whose labels all have devices: `FSDP` below `Results (2 GPUs)` and beside `DDP (2 GPU)`.

    So it is if the text above names one number, which is the largest that a label names, and if all labels without
    devices name a strategy.
    """
    if any(meaning_of(name).role in ("gpus", "nodes") for name in table.header) or not table.header:
        return table
    labels = [plain(cells[0]) if cells else "" for _, cells in table.rows]
    counts = [count_or_none(label) for label in labels]
    named = {own.gpus for own in counts if own}
    missing = [label for label, own in zip(labels, counts, strict=True) if not own]
    count, noun = several_said(table)
    if not count or len(named) < _FEW or not missing:
        return table
    if int(count) != max(named) or not all(map(STRATEGIES.search, missing)):
        return table
    rows = tuple(
        (line, (f"{label} ({count} {noun})", *cells[1:]) if label in missing else cells)
        for (line, cells), label in zip(table.rows, labels, strict=True)
    )
    return replace(table, rows=rows).noted(
        f"rows without devices are on {count} {noun}, as stated above the table"
    )
