"""Speedups of one measurement beside those of another, such as `nps x` beside `time-to-depth x`."""

from __future__ import annotations

import re

from scalestudy.importers.headers.meaning import Meaning, normal
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import MEASURED, SERIAL
from scalestudy.importers.ratios.columns import by_devices, starts_at_one, without_columns
from scalestudy.importers.ratios.serial import is_serial
from scalestudy.importers.ratios.serial_said import states_serial_time
from scalestudy.importers.raw import RawTable

_SAY_NOTHING = re.compile(r"speed|up|scal|factor|ratio|relative|rel|vs|over|gain|improve|of|the|per|mean|avg")
"""Beginnings of words that do not say what a ratio is of."""


def of_the_measurement(meanings: list[Meaning], said: set[str]) -> list[Meaning]:
    """Leaves out speedups that name another measurement, if others name the only one of the table."""
    measured = [one for one in meanings if one.role in MEASURED]
    stated = [place for place, one in enumerate(meanings) if one.role == "printed_speedup"]
    if len(measured) != 1 or len(stated) < 2:
        return meanings
    own = _words(measured[0])
    if not any(_words(meanings[place]) & own for place in stated):
        return meanings
    words = {place: _words(meanings[place]) for place in stated}
    return without_columns(meanings, [place for place in stated if words[place] and not words[place] & own], said)


def begins_at_one(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Leaves out speedups that are not 1 on the fewest devices, if those of another column are: `vs naive`.

    Those over a serial run stay if a column or the text has its time.
    """
    devices = next((place for place, one in enumerate(meanings) if one.role == "gpus"), None)
    stated = [place for place, one in enumerate(meanings) if one.role == "printed_speedup"]
    if devices is None or len(stated) < 2:
        return meanings
    first = {place: by_devices(raw, devices, place) for place in stated}
    base = {place for place, found in first.items() if found and starts_at_one(found)}
    known = all(found and found[0][1] for found in first.values())
    if len(base) != 1 or not known:
        return meanings
    if states_serial_time(raw.text) or any(one.role == SERIAL for one in meanings):
        base |= {place for place in stated if _is_over_serial(meanings[place].header)}
    return without_columns(meanings, [place for place in stated if place not in base], said)


def _is_over_serial(header: str) -> bool:
    """Whether the header of a speedup says that it is over a serial run, as an absolute speedup is."""
    return is_serial(header) or re.search(r"\babs(?:olute)?\b", normal(header)) is not None


def _words(meaning: Meaning) -> set[str]:
    words = re.findall(r"[^\W\d_]{2,}", plain(meaning.header).lower())
    return {word for word in words if not _SAY_NOTHING.match(word)}
