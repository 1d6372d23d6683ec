"""Columns of ratios beside those of devices: S(4), 1->4, TP=2 / TP=1, a speedup behind each measurement."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scalestudy.importers.headers.meaning import meaning_of, normal
from scalestudy.importers.headers.terms import DEVICE, NODE
from scalestudy.importers.numbers.printed import is_blank, plain
from scalestudy.importers.published import STATED
from scalestudy.importers.raw import RawTable

_STEP_UP = re.compile(
    r"(?P<few>\d{1,6}) ?(?:->|=>|\u2192|\u2794|to|vs\.?) ?(?P<many>\d{1,6})(?: ?gpus?)?", re.IGNORECASE
)
"""Header of a speedup from fewer to more devices: 1->4."""
_TIME_OVER = re.compile(
    rf"(?P<few>\d{{1,6}}) ?(?P<noun>[tpcwg]|{DEVICE}|{NODE}) ?/ ?(?P<many>\d{{1,6}}) ?(?P=noun)"
)
"""Header of a speedup as a quotient of times: 1T/4T."""
_OVER_FEWER = re.compile(
    r"(?P<way>[a-z]{0,8})[ =_]?(?P<many>\d{1,6})(?: ?gpus?)? ?(?:/|vs\.?|over) ?"
    r"(?P=way)[ =_]?(?P<few>\d{1,6})(?: ?gpus?)?"
)
"""Header of a speedup as a quotient: TP=2 / TP=1."""
_RATIO_ON = re.compile(
    r"([es])(?:peed-?ups?|ff(?:iciency|\.)?)?"
    r"(?: ?@ ?| on | with | at | for |[_ ])?\(?(?:x|[np] ?= ?)?(\d{1,6})x?\)?",
    re.IGNORECASE,
)
"""Header of a speedup or an efficiency on a number of devices: S(4), E_8, Speedup 4."""
_FACTOR = re.compile(r"x? ?(\d{1,6}) ?x?", re.IGNORECASE)
"""Header of speedups on a number of devices, which only their cells tell: `4x` above `3.91x`."""
_SPEEDUP = re.compile(r"\d{1,6}(?:\.\d+)? ?x", re.IGNORECASE)


def with_ratios_of_devices(table: RawTable, found: dict[int, tuple[str, str]]) -> dict[int, tuple[str, str]]:
    """Return the columns of devices with those of ratios that name their devices: S(4), 1->4, TP=2 / TP=1."""
    if not found:
        return found
    found = dict(found)
    fewest = min(size_of(devices) for devices, _ in found.values())
    for place, header in enumerate(table.header):
        step = _OVER_FEWER.fullmatch(plain(header).lower())
        step = step if step and int(step["few"]) < int(step["many"]) else _STEP_UP.fullmatch(plain(header))
        step = step or _TIME_OVER.fullmatch(plain(header).lower())
        if (own := _RATIO_ON.fullmatch(plain(header))) and any(own[2] == devices for devices, _ in found.values()):
            found[place] = (own[2], "efficiency" if own[1] in "Ee" else "speedup")
        if step and int(step["few"]) == fewest and any(devices == step["many"] for devices, _ in found.values()):
            found[place] = (step["many"], "speedup")
        if place not in found and (size := _size_of_speedups(header, table.cells(place))):
            as_many = [devices for devices, _ in found.values() if size_of(devices) == size > fewest]
            found |= {place: (as_many[0], "speedup")} if as_many else {}
    behind = [place + 1 for place in found if place + 1 not in found]
    headers = [normal(table.header[place]) for place in behind if place < len(table.header)]
    if len(headers) == len(found) > 1 and len({*headers}) == 1 and meaning_of(headers[0]).role in STATED:
        found |= {place: (found[place - 1][0], headers[0]) for place in behind}  # a ratio behind each
    named = {
        devices for devices, _ in found.values() if not devices.isdecimal()
    }  # `32x V100` beside a ratio on 32
    names = {size_of(devices): devices for devices in named}
    return {
        place: (names.get(size_of(devices), devices) if len(names) == len(named) else devices, words)
        for place, (devices, words) in found.items()
    }


def _size_of_speedups(header: str, cells: Sequence[str]) -> int | None:
    """The devices of a column of speedups whose header is only their number; None for another column."""
    named = _FACTOR.fullmatch(plain(header))
    if not named or not (filled := [plain(cell) for cell in cells if not is_blank(cell)]):
        return None
    return int(named[1]) if all(map(_SPEEDUP.fullmatch, filled)) else None


def size_of(devices: str) -> int:
    """Return the number of devices as which a column was read: 8 of `8 x V100`."""
    return int(re.match(r"\d+", devices)[0])  # type: ignore[index]
