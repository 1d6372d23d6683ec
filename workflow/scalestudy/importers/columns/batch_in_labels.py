"""Takes the batch out of labels that name it, `2 nodes, 16 GPUs, bs=1024`, and numbers of the row out of names."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.counts.labels import count_or_none
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.headers.terms import PER_DEVICE
from scalestudy.importers.numbers.printed import is_blank, plain
from scalestudy.importers.published import BATCHES
from scalestudy.importers.raw import RawTable

_BATCH = re.compile(
    r"[\s,;/|+-]*\(?\b"
    r"(?P<name>(?:(?:global|total|micro|local|per[- ]\w+) )?(?:mini-?)?batch(?:[ _-]?size)?|[gmu]?bs)"
    r" ?(?:[:=]|of)? ?(?P<size>\d[\d,]*k?)(?P<whose> ?(?:per|/) ?[a-z]+| each)?\b\)?",
    re.IGNORECASE,
)
_FEW = 3
"""Rows from which names that all end with a number of their row do so by no chance."""
_FIRST = 3
"""Columns at the left that labels may be in."""
_MOST_NAMES = 0.75
"""Share of the names that have to end with their number of devices; the others are of other runs."""


def without_numbers_of_names(table: RawTable) -> RawTable:
    """Return a table without the batch, or the devices, at the end of all names in its first column: `a-256`."""
    roles = [meaning_of(name).role for name in table.header]
    for kinds, most in ((BATCHES, 1.0), (("gpus", "nodes"), _MOST_NAMES)):
        for place in [at for at, role in enumerate(roles) if at and role in kinds]:
            if len(table.rows) < _FEW or any(place >= len(cells) for _, cells in table.rows):
                continue
            names = [_without_end(plain(cells[0]), plain(cells[place])) for _, cells in table.rows]
            if sum(map(bool, names)) >= most * len(names):
                rows = tuple(
                    (line, (name or cells[0], *cells[1:]))
                    for (line, cells), name in zip(table.rows, names, strict=True)
                )
                table = replace(table, rows=rows)
                break
    return table


def _without_end(name: str, size: str) -> str:
    """A name without the number at its end, or in front of a remark; '' if it does not end with it."""
    if not size or size.lower() not in name.lower():
        return ""
    found = re.fullmatch(
        rf"(?P<name>.*\w)[-_ /](?:bs)?{re.escape(size)}[a-z]?(?P<remark> ?\(.*\))?", name, re.IGNORECASE
    )
    return f"{found['name']}{found['remark'] or ''}" if found else ""


def without_batch(label: str) -> str:
    """Return a label without the batch that it names: `baseline` of `baseline (batch size=64)`."""
    return _BATCH.sub("", label).strip(" ,;")


def name_of_strategy(label: str) -> str:
    """Return a strategy in lower case without its batch, and without a remark that it is the baseline."""
    return without_batch(label.lower()).removesuffix("(baseline)").strip()


def with_batch_of_labels(table: RawTable) -> RawTable:
    """Return a table whose labels of devices name a batch each, with the batches in a column of their own."""
    for place in range(min(_FIRST, len(table.header))):
        cells = table.cells(place)
        found = [_BATCH.search(plain(cell)) for cell in cells]
        if len(cells) < 2 or not all(found):
            continue
        bare = [without_batch(plain(cell)) for cell in cells]
        names = {_name(batch) for batch in found if batch}
        counts = [count_or_none(label) for label in bare]
        named = [(_name(batch), count) for batch, count in zip(found, counts, strict=True) if batch and count]
        of_several = {name for name, count in named if count.gpus > 1}
        # one device has one batch: batch=256 beside `2 GPUs, batch=256 each`
        names = of_several if of_several == {"batch size per GPU"} and len(named) == len(found) else names
        if len(names) != 1 or not all(label and count_or_none(label) for label in bare):
            continue
        rows = tuple(
            (line, (*row[:place], *_parts(row[place]), *row[place + 1 :]) if place < len(row) else row)
            for line, row in table.rows
        )
        header = (*table.header[: place + 1], names.pop(), *table.header[place + 1 :])
        return replace(table, header=header, rows=rows)
    return table


def _parts(cell: str) -> tuple[str, str]:
    """A label without its batch, and the batch."""
    batch = None if is_blank(cell) else _BATCH.search(plain(cell))
    return (cell, "") if batch is None else (without_batch(plain(cell)), batch["size"])


def _name(batch: re.Match[str]) -> str:
    """The header of a column of such batches."""
    name = batch["name"].lower()
    if (
        name in ("mbs", "ubs")
        or name.startswith(("micro", "local", "per"))
        or PER_DEVICE.search(batch["whose"] or "")
        or (batch["whose"] or "").strip().lower() == "each"
    ):
        return "batch size per GPU"
    return "global batch size" if name == "gbs" or name.startswith(("global", "total")) else "batch size"
