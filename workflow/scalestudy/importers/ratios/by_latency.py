"""Whether a rate is of all devices, by the latencies beside it: what is in flight is rate times latency.

That is Little's law. If each thread or process waits for its answer before it asks again, as many requests are in
flight as there are of them. So a rate of all devices times a latency grows as they do; a rate of each does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.headers.meaning import Meaning, normal, place_of_devices
from scalestudy.importers.headers.terms import OF_ALL, SECONDS
from scalestudy.importers.numbers.printed import plain, read_cell
from scalestudy.importers.quantities import unit_of_time
from scalestudy.importers.raw import RawTable

_LATENCY = re.compile(r"\blatenc(?:y|ies)\b|\bresponse[ _-]?times?\b|\bp50\b")
_EXTREME = re.compile(r"\bp(?!50\b)\d\d|\b(?:max|min|tail|worst|best|slowest|fastest|std|9\d(?:th|\.\d)?)\b")
"""Headers of latencies that are far from the mean."""
_GROWTH = 4
"""Ratio of the most to the fewest devices from which the growth shows something."""
_ALIKE = 1.5
"""Ratio of the largest to the smallest number in flight for each device: a median is not quite the mean."""


def of_all_by_latency(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Read rates as those of all devices if their product with a latency grows as the devices do."""
    found = [at for at in _by_latency(meanings, raw) if not meanings[at].per]
    return [
        replace(one, per="all") if at in found and normal(one.header) not in said else one
        for at, one in enumerate(meanings)
    ]


def notes_on_latencies(meanings: Sequence[Meaning], raw: RawTable) -> list[str]:
    """Return a note on the rates that are those of all devices for their latencies, and not by their headers."""
    found = [meanings[at] for at in _by_latency(meanings, raw) if meanings[at].per == "all"]
    names = " and ".join(f"'{plain(one.header)}'" for one in found if not OF_ALL.search(normal(one.header)))
    text = "read as of all devices: times the latency beside it, it grows as the devices do"
    return [f"{names} is {text}"] if names else []


def _by_latency(meanings: Sequence[Meaning], raw: RawTable) -> list[int]:
    """The places of rates whose product with a latency grows as the devices do."""
    devices = place_of_devices(meanings)
    names = [normal(one.header) for one in meanings]
    latencies = [at for at, name in enumerate(names) if _LATENCY.search(name) and not _EXTREME.search(name)]
    rates = [at for at, one in enumerate(meanings) if one.role == "throughput" and devices is not None]
    return [at for at in rates if any(_grows_as_devices(raw, (devices or 0, at, one)) for one in latencies)]


def _grows_as_devices(raw: RawTable, places: Sequence[int]) -> bool:
    """Whether rate times latency over the devices is one number in all rows. places: devices, rate and latency."""
    found = []
    for _, row in raw.rows:
        with suppress(ValueError, IndexError):
            count = read_count(row[places[0]]).gpus
            rate, latency = (read_cell(row[place]).printed.value for place in places[1:])
            found.append((count, rate * latency * SECONDS.get(unit_of_time(row[places[2]]), 1.0) / count))
    counts, shares = [count for count, _ in found], [share for _, share in found]
    if len(found) < max(2, len(raw.rows) - 1) or max(counts) < _GROWTH * min(counts):
        return False
    return min(shares) > 0 and max(shares) < _ALIKE * min(shares)
