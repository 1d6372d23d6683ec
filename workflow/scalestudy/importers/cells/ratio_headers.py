"""Headers of ratios that share cells with measurements: `8 GPUs speedup` beside `8 GPUs`, `Speed efficiency`."""

from __future__ import annotations

from scalestudy.importers.counts.headers import count_of_header
from scalestudy.importers.counts.labels import count_or_none
from scalestudy.importers.devices.across import counted_across
from scalestudy.importers.headers.meaning import is_utilization, meaning_of
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.raw import RawTable


def header_of_ratio(table: RawTable, header: str, first: str, ratio: str) -> str:
    """Return the header of a ratio beside the measurement whose header is `first`; empty if there is none.

    header: of the cells that have both. ratio: speedup, efficiency, or what their header says.
    """
    if noun := _noun_of_bare_devices(table, header):
        return f"{plain(header)} {noun} {ratio}"
    whole = f"{plain(first)} {ratio}"
    across = None if _name_devices(table) else count_of_header(header)
    if across and across[1] and meaning_of(across[1]).role == "ignore":
        return ""  # `2 GPUs two nodes`: the ratio would remain without its measurement
    if across and count_of_header(whole) is None:
        return f"{across[0].gpus} {counted_across([header])} {ratio}"
    unknown = meaning_of(first).role in ("ignore", "label", "strategy") and not is_utilization(first)
    return whole if across or unknown else ratio


def _name_devices(table: RawTable) -> bool:
    """Whether the labels of the first column name several numbers of devices, so that the headers do not."""
    counts = [count_or_none(cell) for cell in table.cells(0)]
    return len({count.gpus for count in counts if count}) > 1 and all(counts)


def _noun_of_bare_devices(table: RawTable, header: str) -> str:
    """What a header that is a number counts by the first header, `Trainer Count | 20 | 40`; '' for another."""
    first = table.header[0]
    if not plain(header).isdecimal() or meaning_of(first).role not in ("gpus", "nodes"):
        return ""
    return counted_across([first])
