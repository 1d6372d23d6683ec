"""Speedups of one measurement beside those of another, such as `nps x` beside `time-to-depth x`."""

from __future__ import annotations

import re

from scalestudy.importers.headers.meaning import Meaning
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import MEASURED
from scalestudy.importers.ratios.columns import by_devices, starts_at_one, without_columns
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
    """Leaves out speedups that are not 1 on the fewest devices, if those of another column are: `vs naive`."""
    devices = next((place for place, one in enumerate(meanings) if one.role == "gpus"), None)
    stated = [place for place, one in enumerate(meanings) if one.role == "printed_speedup"]
    if devices is None or len(stated) < 2:
        return meanings
    first = {place: by_devices(raw, devices, place) for place in stated}
    base = {place for place, found in first.items() if found and starts_at_one(found)}
    known = all(found and found[0][1] for found in first.values())
    if len(base) != 1 or not known:
        return meanings
    return without_columns(meanings, [place for place in stated if place not in base], said)


def _words(meaning: Meaning) -> set[str]:
    words = re.findall(r"[^\W\d_]{2,}", plain(meaning.header).lower())
    return {word for word in words if not _SAY_NOTHING.match(word)}
