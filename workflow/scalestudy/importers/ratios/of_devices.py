"""Devices that only printed ratios tell: a speedup of 1.92 with an efficiency of 96 % is one of 2 devices.

Printed efficiencies also tell which column of numbers has the devices, if its header is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, floor

from scalestudy.importers.counts.labels import count_or_none
from scalestudy.importers.devices.found import says_one_device
from scalestudy.importers.headers.meaning import Meaning, meaning_of
from scalestudy.importers.numbers.printed import Printed, is_blank, plain, read_cell
from scalestudy.importers.published import MEASURED, TIMES
from scalestudy.importers.ratios.following import following
from scalestudy.importers.raw import RawTable

_HEADER = "devices"
_FEW = 2
_MOST = 100_000
_CLOSE = 0.02
"""Relative difference of an efficiency from what the measurements give."""


def with_devices_of_ratios(table: RawTable, meanings: Sequence[Meaning]) -> RawTable:
    """Return a table without devices with a column of them, if both printed ratios of each row tell its number.

    A row without both ratios is on one device if it is the only one and its label says so. meanings: of its
    columns.
    """
    if not (places := _both_ratios(meanings)):
        return table
    speedup, efficiency = places
    counts = [_devices(cells, speedup, efficiency) for _, cells in table.rows]
    unknown = [cells for (_, cells), count in zip(table.rows, counts, strict=True) if not count]
    if any(not _is_alone(cells, speedup, efficiency) for cells in unknown) or len(unknown) > 1:
        return table
    counts = [count or 1 for count in counts]
    if len(set(counts)) < _FEW:
        return table
    rows = tuple((line, (str(count), *cells)) for (line, cells), count in zip(table.rows, counts, strict=True))
    whole = replace(table, header=(_HEADER, *table.header), rows=rows)
    return whole.noted("the number of devices follows from the printed speedup over the printed efficiency")


def devices_of_all_rows(table: RawTable) -> int:
    """Return the only number of devices that both printed ratios of all rows allow, if it is above 1; else 0."""
    places = _both_ratios([meaning_of(name) for name in table.header])
    if not places or not table.rows:
        return 0
    found = set.intersection(*(set(_allowed(cells, *places)) for _, cells in table.rows)) - {1}
    return found.pop() if len(found) == 1 else 0


def _both_ratios(meanings: Sequence[Meaning]) -> tuple[int, int] | None:
    """Places of the only speedup and of the only efficiency; None if one is missing or there twice."""
    roles = [one.role for one in meanings]
    if roles.count("printed_speedup") != 1 or roles.count("printed_efficiency") != 1:
        return None
    return roles.index("printed_speedup"), roles.index("printed_efficiency")


def _devices(cells: Sequence[str], speedup: int, efficiency: int) -> int:
    """The only number of devices that both ratios of a row allow, within their rounding; 0 if there is none."""
    found = _allowed(cells, speedup, efficiency)
    return found[0] if len(found) == 1 else 0


def _allowed(cells: Sequence[str], speedup: int, efficiency: int) -> range:
    """The numbers of devices that both ratios of a row allow, within their rounding."""
    ratio, share = _number(cells, speedup), _number(cells, efficiency)
    if ratio is None or share is None or min(ratio.low, share.low) <= 0:
        return range(0)
    half = replace(ratio, last=ratio.last / 2), replace(share, last=share.last / 2)
    fewest, most = ceil(half[0].low / half[1].high - 1e-9), floor(half[0].high / half[1].low + 1e-9)
    return range(max(fewest, 1), min(most + 1, _MOST))


def _number(cells: Sequence[str], place: int) -> Printed | None:
    try:
        cell = read_cell(cells[place])
    except (ValueError, IndexError):
        return None
    return cell.printed.times(0.01) if cell.percent else cell.printed


def _is_alone(cells: Sequence[str], speedup: int, efficiency: int) -> bool:
    """Whether a row without ratios says that it is of one device."""
    none = all(place >= len(cells) or is_blank(cells[place]) for place in (speedup, efficiency))
    label = plain(cells[0]) if cells else ""
    count = count_or_none(label)
    return none and (
        says_one_device(label) or label.lower() == "single" or (count is not None and count.gpus == 1)
    )


def column_of_devices(table: RawTable, meanings: Sequence[Meaning]) -> int | None:
    """Return the place of the only column of growing whole numbers that all printed efficiencies follow with.

    None if the table has no efficiencies of two rows or more beside one kind of measurement, or if several
    columns fit. meanings: of its columns, none of them of devices.
    """
    roles = [one.role for one in meanings]
    measured = [place for place, role in enumerate(roles) if role in MEASURED]
    if roles.count("printed_efficiency") != 1 or not measured:
        return None
    ratio, first = roles.index("printed_efficiency"), measured[0]
    found = []
    for place, role in enumerate(roles):
        cells = [plain(cells[place]) for _, cells in table.rows if place < len(cells)]
        if role not in ("ignore", "label") or not all(map(str.isdecimal, cells)):
            continue
        sizes = [int(cell) for cell in cells]
        known = [replace(one, role="gpus") if at == place else one for at, one in enumerate(meanings)]
        follow = following(
            table, known, (place, first, ratio), of_times=roles[first] in TIMES, close=_CLOSE, power=1
        )
        if sizes == sorted({*sizes}) and len(follow) >= _FEW and all(follow):
            found.append(place)
    return found[0] if len(found) == 1 else None
