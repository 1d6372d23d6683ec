"""Times of a serial run beside others: the baseline of printed speedups, and no series of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress

from scalestudy.importers.counts.labels import count_or_none
from scalestudy.importers.headers.meaning import TEXTS, Meaning, normal, place_of_devices, with_role
from scalestudy.importers.headers.terms import SERIAL_RUN
from scalestudy.importers.numbers.printed import read_cell
from scalestudy.importers.published import SERIAL, TIMES
from scalestudy.importers.raw import RawTable

_SERIAL = re.compile(
    rf"\b(?:{SERIAL_RUN}|single[- ]?(?:thread(?:ed)?|core|cpu|proc(?:ess(?:or)?)?)|t_? ?s(?:eq)?|"
    r"1 (?:thread|core|process|proc|rank)s?)\b|"
    r"^seq\.? (?:time|\((?:m?s|sec|min)\))"
)
_REMEASURED = 1.25
"""Ratio up to which times of a serial run are those of the same work."""
_CALLED_SERIAL = re.compile(rf"\b(?:{SERIAL_RUN})\b|\b1 (?:thread|core|process|proc|rank)s?\b")
"""Headers that say so by a word, also if the time differs from row to row with the size of the work."""


def serial_times(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads times of a serial run beside others, which no devices change, as the baseline of printed speedups."""
    times = [place for place, one in enumerate(meanings) if one.role in TIMES]
    serial = [place for place in times if _SERIAL.search(normal(meanings[place].header))]
    devices = place_of_devices(meanings)
    if len(serial) != 1 or len(times) < 2 or devices is None or normal(meanings[serial[0]].header) in said:
        return meanings
    if len(set(raw.cells(devices))) < 2:
        return meanings
    labels = [place for place, one in enumerate(meanings) if one.role in TEXTS or place < min(devices, serial[0])]
    others = [place for place, one in enumerate(meanings) if one.role in (*TEXTS, "ignore")]
    for names in (labels, others):  # a size behind the times may be what changes the serial one
        if _is_of_each_label(raw, serial[0], names):
            return with_role(meanings, serial[0], SERIAL)
    called = _CALLED_SERIAL.search(normal(meanings[serial[0]].header))
    scales = not called or _falls(raw, devices, serial[0])
    return meanings if scales else with_role(meanings, serial[0], "ignore")


def _falls(raw: RawTable, devices: int, place: int) -> bool:
    """Whether a time is shorter on the most devices than on the fewest."""
    found = []
    for _, row in raw.rows:
        with suppress(ValueError, IndexError):
            if count := count_or_none(row[devices]):
                found.append((count.gpus, read_cell(row[place]).printed.value))
    return bool(found) and max(found)[1] < min(found)[1]


def _is_of_each_label(raw: RawTable, place: int, labels: Sequence[int]) -> bool:
    """Whether a time is the same for all rows with equal labels, of which some have several rows."""
    groups: dict[tuple[str, ...], list[float]] = {}
    for _, row in raw.rows:
        try:
            value = read_cell(row[place]).printed.value
            groups.setdefault(tuple(row[at] for at in labels), []).append(value)
        except (ValueError, IndexError):
            continue
    return len(groups) < len(raw.rows) and all(max(own) <= min(own) * _REMEASURED for own in groups.values())


def is_serial(header: str) -> bool:
    """Return whether a header is of a serial run."""
    return bool(_SERIAL.search(normal(header)))
