"""Batches that headers of devices name, as a row of their own: `64 GPUs (GBS=128) | 128 GPUs (GBS=256)`."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.counts.headers import count_of_header
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import BATCHES, MEASURED
from scalestudy.importers.quantities import known_role
from scalestudy.importers.raw import RawTable

_BATCH = re.compile(
    r"[ ,;]*[(\[]?\b"
    r"(?P<name>gbs|mbs|bsz?|(?:global |total |effective |local |micro[ -]|per[ -]gpu )?batch(?:[ _-]size)?)"
    r" ?[=:]? ?(?P<size>\d[\d,]{0,9})(?![\w.%])[)\]]?",
    re.IGNORECASE,
)
_FEW = 2


def with_batches_of_headers(table: RawTable) -> RawTable:
    """Return a table whose rows are quantities, with the batch of each header of devices as a further row."""
    measured = [known_role(row[0]) in MEASURED for _, row in table.rows if row]
    found = {place: _BATCH.search(plain(name)) for place, name in enumerate(table.header) if place}
    counted = [place for place in found if count_of_header(table.header[place])]
    names = {one["name"].lower() for place in counted if (one := found[place])}
    known = all(found[place] for place in counted) and len(counted) >= _FEW
    if not any(measured) or not known or len(names) != 1:
        return table
    name = names.pop()
    if meaning_of(name).role not in BATCHES or any(
        meaning_of(row[0]).role in BATCHES for _, row in table.rows if row
    ):
        return table
    header = [*table.header]
    sizes = [""] * len(header)
    for place in counted:
        if one := found[place]:
            words = plain(header[place])
            sizes[place] = one["size"]
            header[place] = f"{words[: one.start()]}{words[one.end() :]}".strip()
    sizes[0] = name
    return replace(table, header=tuple(header), rows=(*table.rows, (table.line, tuple(sizes))))
