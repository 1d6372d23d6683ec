"""Devices of labels that name only a strategy, by a heading that says how many all of them are on."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.counts.labels import count_or_none
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.headers.terms import DEVICE, STRATEGIES
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.raw import RawTable

_SAID = re.compile(rf"(?<![\w.])(?P<count>\d{{1,5}}) ?x? ?-?(?P<noun>{DEVICE})\b", re.IGNORECASE)


def with_devices_of_headings(table: RawTable) -> RawTable:
    """Return a table whose labels all have devices: `FSDP` below `Results (2 GPUs)` and beside `DDP (2 GPU)`.

    So it is if the text above names one number, which is the largest that a label names, and if all labels without
    devices name a strategy.
    """
    if any(meaning_of(name).role in ("gpus", "nodes") for name in table.header) or not table.header:
        return table
    labels = [plain(cells[0]) if cells else "" for _, cells in table.rows]
    counts = [count_or_none(label) for label in labels]
    named = {count.gpus for count in counts if count}
    said = {(one["count"], one["noun"]) for words in table.captions for one in _SAID.finditer(words)}
    missing = [label for label, count in zip(labels, counts, strict=True) if not count]
    if len({count for count, _ in said}) != 1 or len(named) < 2 or not missing:
        return table
    count, noun = sorted(said)[0]
    if int(count) != max(named) or not all(map(STRATEGIES.search, missing)):
        return table
    rows = tuple(
        (line, (f"{label} ({count} {noun})", *cells[1:]) if label in missing else cells)
        for (line, cells), label in zip(table.rows, labels, strict=True)
    )
    return replace(table, rows=rows).noted(
        f"rows without devices are on {count} {noun}, as stated above the table"
    )
