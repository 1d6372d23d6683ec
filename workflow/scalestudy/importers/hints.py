"""What a user can add to a table that was not understood: the option that names a column."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from scalestudy.importers.columns.labels import is_length
from scalestudy.importers.counts.cells import Count, read_count
from scalestudy.importers.counts.headers import count_of_header
from scalestudy.importers.counts.labels import count_in_words
from scalestudy.importers.devices.across import single_devices
from scalestudy.importers.headers.meaning import (
    NAMELESS,
    Meaning,
    meaning_of,
    never_a_label,
    normal,
    place_of_devices,
)
from scalestudy.importers.headers.terms import DEVICE, NODE, OF_A_GOAL
from scalestudy.importers.numbers.durations import read_duration
from scalestudy.importers.numbers.printed import plain, read_cell
from scalestudy.importers.published import BATCHES, MEASURED, STATED
from scalestudy.importers.ratios.whose import is_over_another
from scalestudy.importers.raw import RawTable

_FIRST = 3
"""Columns at the left that labels may be in."""
MOST = 0.6
"""Share of the cells of a column that show what it is."""
LONGEST = 300
_SEVERAL = re.compile(r"~?\d[\d.]*(?:\s*[/;,|]\s+~?\d[\d.]*){1,20}\s*[a-z]{0,4}\b")
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?", re.IGNORECASE)
_MOST_NAMED = 6
"""Columns that a hint names."""
_OF_A_SIZE = re.compile(r"^#|\b(?:cells|grid|points|atoms|unknowns|dofs?|dimensions?|size)\b")
"""Headers of the size of a problem, which no measurement is."""
_PLANNED = re.compile(
    r"(?:expected|estimated?|est\.|predicted|projected|theoretical|ideal|target|typical)\s+(?=\w)"
)
OF_SEVERAL = re.compile(r"^[ts]_?\d+$|speed|time|\bp\d\d|percentile|\b(?:median|mean|avg|average|min|max|std)\b")
"""Headers of a statistic, which no number of devices is."""
_SUMMED_TIME = re.compile(rf"\b(?:{DEVICE}|cpu|node)[-\u00b7* ]?(?:h|hrs?|hours?|days?|seconds)\b")


def devices_hint(raw: RawTable, meanings: Sequence[Meaning]) -> str:
    """Return what to add if a table has no column of devices."""
    if all(map(_NUMBER.fullmatch, " ".join(raw.header).split())):
        return "its first line is one of numbers: write the names of the columns above it, such as gpus and time_s"
    numbers = [name for name in map(plain, raw.header[1:]) if name.isdecimal()]
    if len(numbers) > 1:
        listed = ", ".join(numbers[:5])
        first = _short(raw.header[0]) or NAMELESS
        return f"if {listed} are numbers of devices, add --column '{first}=gpus'"
    headers = [name for name in raw.header if not never_a_label(name)]
    counted = [(count[0].gpus, plain(name)) for name in headers if (count := count_of_header(name))]
    named = dict(counted)
    if len(counted) > 1 and len(named) == 1:
        both = " and ".join(f"'{name}'" for _, name in counted)
        return f"{both} name one number of devices, {counted[0][0]}, and scaling needs two"
    only = next(iter(named.values())) if len(named) == 1 else ""
    of_one = f"only '{only}' names a number of devices, and scaling needs two: name those of the other columns"
    if only and (count := count_of_header(only)) and not count[1]:
        return of_one
    if names := single_devices(raw.header):
        listed = ", ".join(names[:5])
        return f"if {listed} are numbers of devices, not names of single devices, write `1 GPU`, `2 GPU` and so on"
    for place, meaning in enumerate(meanings[:_FIRST]):
        cells = [plain(cell) for cell in raw.cells(place)]
        known = {
            cell: found for cell in cells if not cell[:1].isdecimal() and (found := _count(cell, count_in_words))
        }
        unnamed = next((cell for cell in cells if cell not in known), "")
        if (
            unnamed
            and len(set(known.values())) > 1
            and 2 * len([cell for cell in cells if cell in known]) > len(cells)
        ):
            where = f"in the column '{_short(meaning.header)}'"
            return f"'{_short(unnamed)}' {where} names no number of devices: name it there, or leave its rows out"
    counting = re.compile(rf"\b(?:{DEVICE}|{NODE})\b")
    for place, meaning in sorted(enumerate(meanings), key=lambda one: not counting.search(normal(one[1].header))):
        if meaning.role in (*MEASURED, *STATED, *BATCHES) or never_a_label(meaning.header):
            continue
        if (
            _OF_THE_DATA.search(normal(meaning.header))
            or OF_SEVERAL.search(meaning.header.lower())
            or OF_A_GOAL.search(normal(meaning.header))
            or _COUNTS_ROWS.fullmatch(plain(meaning.header))
            or is_length(normal(meaning.header))
            or _OF_A_BLOCK.search(normal(meaning.header))
        ):
            continue
        cells = raw.cells(place)
        counts = [found for cell in cells if (found := _count(cell))]
        if len(counts) >= max(2, MOST * len(cells)) and len(set(counts)) > 1 and plain(meaning.header):
            return f"say which it is, such as --column '{_short(meaning.header)}=gpus'"
    return of_one if only else "add a column with the number of devices of each row, such as gpus"


def one_size_hint(raw: RawTable, meanings: Sequence[Meaning]) -> str:
    """Return what to add if all rows are on one number of devices, and another column counts others; else ''."""
    for place, one in enumerate(meanings):
        counts = {_count(cell) for cell in raw.cells(place)}
        if (
            one.role not in ("gpus", "nodes")
            and meaning_of(one.header).role in ("gpus", "nodes")
            and len(counts) > 1
        ):
            return f"to compare the rows by '{_short(one.header)}', add --column '{_short(one.header)}=gpus'"
    return ""


def measurement_hint(raw: RawTable, meanings: Sequence[Meaning]) -> str:
    """Return what to add if no column of a table is a measurement."""
    if other := next((one for one in meanings if one.role == "ignore" and is_over_another(one.header)), None):
        text = f"'{_short(other.header)}' is relative to another system, not to fewer devices"
        return f"{text}; add a column of a throughput or a time"
    if summed := next((one for one in meanings if _SUMMED_TIME.search(normal(one.header))), None):
        text = f"'{_short(summed.header)}' is a time summed over devices; add a column of the time of a run"
        return f"{text}, which is that number divided by the devices"
    left_out = [
        one
        for one in meanings
        if one.role == "ignore"
        and meaning_of(one.header).role in STATED
        and normal(one.header) != "scale"  # STREAM
    ]
    found = [(role, one) for place, one in enumerate(meanings) if (role := _role(raw, place, one))]
    found = [(role, one) for role, one in found if one not in left_out] or found
    found.sort(key=lambda one: not re.search(r"time|\bt\b|speed|rate", one[1].header.lower()))
    named = [one for one in found if one[0] != UNKNOWN] or found
    planned = next((one for one in meanings if _PLANNED.match(normal(one.header))), None)
    if not named and planned is not None:
        kind = meaning_of(_PLANNED.sub("", normal(planned.header))).role
        kind = kind if kind in (*MEASURED, *STATED) else "printed_speedup"
        option = f"--column '{_short(planned.header)}={kind}'"
        return f"'{_short(planned.header)}' is not a measured column by its name; add {option} to read it"
    if not named and (several := _of_several_numbers(raw, meanings)):
        return several
    if not named:
        return "add a column of a throughput, a time or a speedup with numbers"
    role, meaning = named[0]
    alike = [one.header for kind, one in named if kind == UNKNOWN][:_MOST_NAMED]
    options = " ".join(f"--column '{_short(header)}=total_time_s'" for header in alike)
    if role == UNKNOWN and len(alike) > 1 and _change(raw, meanings, grow=True):
        rates = options.replace("=total_time_s", "=throughput")
        text = f"the numbers grow as devices are added: if they are throughputs, add {rates}"
        text += f"; if they are times, {options}"
        more = len([kind for kind, _ in named if kind == UNKNOWN]) > len(alike)
        return f"{text}{'; give --column again for each further column' if more else ''}"
    if role == UNKNOWN and _change(raw, meanings, grow=False):
        work = options.replace("=total_time_s", "=throughput")
        text = f"the numbers fall as devices are added: if they are times, add {options}"
        return f"{text}; if they count the work done in a fixed time, add {work}"
    again = "; give --column again for each further column of measurements" if len(named) > 1 else ""
    either = f" or --column '{_short(meaning.header)}=total_time_s'" if role == UNKNOWN else ""
    return f"say which it is, such as --column '{_short(meaning.header)}={role or UNKNOWN}'{either}{again}"


def _of_several_numbers(raw: RawTable, meanings: Sequence[Meaning]) -> str:
    """What to do with cells of several numbers each, such as repeats of a measurement; '' if there are none."""
    for place, one in enumerate(meanings):
        cells = [plain(cell) for cell in raw.cells(place)] if one.role in ("ignore", "label") else []
        found = [cell for cell in cells if _SEVERAL.match(cell)]
        if found and len(found) >= MOST * len(cells):
            text = f"the cells of '{_short(one.header)}' have several numbers each, such as '{_short(found[0])}'"
            return f"{text}: write one of them, such as the median, with its unit"
    return ""


_OF_THE_DATA = re.compile(
    r"\b(?:rows?|columns?|size|env(?:ironment)?s?|features?|records?|items?|samples?|epochs?|steps?|iterations?)\b"
)
"""Headers of how much is computed."""
_OF_A_BLOCK = re.compile(
    rf"{DEVICE} ?(?:/|per) ?(?:block|warp|group|team)|\b(?:block|grid|warp|tile) ?(?:size|dim)"
)
"""Headers of how a kernel is divided within one device."""
_COUNTS_ROWS = re.compile(r"#|\u2116|no\.?|nr\.?|id|index|idx|row|run|job|seed", re.IGNORECASE)
"""Headers of the number of a row, which counts no devices."""


def _change(raw: RawTable, meanings: Sequence[Meaning], *, grow: bool) -> bool:
    """Whether the numbers of all columns that are not known grow, or fall, from the fewest devices to the most."""
    devices = place_of_devices(meanings)
    columns = [place for place, one in enumerate(meanings) if _role(raw, place, one) == UNKNOWN]
    if devices is None:
        return False
    ends = []
    for place in columns:
        rows = [
            (count, read_cell(row[place]).printed.value)
            for _, row in raw.rows
            if len(row) > max(devices, place) and (count := _count(row[devices])) and _kind(row[place]) == UNKNOWN
        ]
        ends.append((min(rows)[1], max(rows)[1]) if rows else (0.0, 0.0))
    return bool(ends) and all(last > first if grow else last < first for first, last in ends)


UNKNOWN = "throughput"
_OF_ANOTHER = re.compile(
    r"\bshare|fraction|portion|occupancy|"
    r"^(?:(?:#|n|num(?:ber)? of|total|max) ?)?(?:steps|iterations|epochs|layers)$"
)
"""Headers of parts of a whole, and of counts, which do not measure speed."""


def _role(raw: RawTable, place: int, meaning: Meaning) -> str:
    """The kind that the cells of a column suggest; empty if it has no numbers."""
    if meaning.role not in ("ignore", "label") or not plain(meaning.header) or never_a_label(meaning.header):
        return ""
    cells = raw.cells(place)
    kinds = [kind for cell in cells if (kind := _kind(cell))]
    if not kinds or len(kinds) < MOST * len(cells) / 2 or len(set(cells)) == 1 < len(cells):
        return ""
    kind = max(kinds, key=kinds.count)
    if _OF_ANOTHER.search(normal(meaning.header)) or _OF_A_SIZE.search(normal(meaning.header)):
        return ""
    return "total_time_s" if kind == UNKNOWN and re.search(r"time", meaning.header.lower()) else kind


def _kind(cell: str) -> str:
    if read_duration(cell):
        return "total_time_s"
    try:
        read = read_cell(cell)
    except ValueError:
        return ""
    if read.percent:
        return "" if re.match(r"[+-]", plain(cell)) else "printed_efficiency"
    unit = read.unit.lower().split(" ")[0].strip(".,;")
    if unit == "x":
        return "printed_speedup"
    if unit and meaning_of(f"time ({unit})").unit:
        return "total_time_s"
    return UNKNOWN


def _count(cell: str, read: Callable[[str], Count] = read_count) -> int:
    try:
        return read(cell).gpus
    except ValueError:
        return 0


def _short(text: str) -> str:
    text = plain(text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."
