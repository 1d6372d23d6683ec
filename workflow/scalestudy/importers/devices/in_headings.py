"""Numbers of devices that the text around a table names, and labels that get theirs from it."""

from __future__ import annotations

import re
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


def several_said(table: RawTable) -> tuple[str, str]:
    """Return the number above 1 that the text around a table names, with its noun; empty unless it is only one."""
    said = {(one["count"], one["noun"]) for words in table.captions for one in _SAID.finditer(words)}
    return min(said) if len({count for count, _ in said}) == 1 else ("", "")


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
