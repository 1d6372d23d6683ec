"""Whether a rate is of all devices or of each: by words beside the table, by its work, or by a second rate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import permutations, product

from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.headers.meaning import Meaning, normal, place_of_devices, with_role
from scalestudy.importers.headers.terms import DEVICE, OF_ALL, PER_DEVICE, RATED, SECOND, WORK
from scalestudy.importers.headers.units import is_of_flops
from scalestudy.importers.headers.units_in_words import only_rate
from scalestudy.importers.numbers.printed import plain, read_cell
from scalestudy.importers.published import TIMES
from scalestudy.importers.ratios.columns import CLOSE, is_exact
from scalestudy.importers.raw import RawTable

_FEW = 3
"""Numbers of devices from which a quotient shows something."""
_SAID_PER_DEVICE = re.compile(
    rf"(?:{RATED}|{WORK} ?{SECOND}|\bthroughputs?|\bspeeds?)(?: \([^)]*\))?(?: (?:numbers|values|figures))?,?"
    r"(?: (?:is|are|was|were|given|reported|measured|shown|stated|all|here|in this table)){0,4}"
    rf" ?(?:per|/) ?{DEVICE}\b|"
    rf"\b{WORK}(?: [a-z]+){{0,2}} per {DEVICE} per (?:sec|second)\b|"
    r"\b(?:show|shows|are|is|gives?|lists?|reports?)(?: the| a| mean| average| median)*"
    rf" per[- ]{DEVICE}(?: [a-z]+)? (?:throughputs?|speeds?|rates?)\b"
)
"""A sentence that says that the rates of a table are those of a device."""
_PRODUCT = re.compile(rf"(?P<rate>\d[\d,.]*\d) ?[x*\u00d7] ?\d{{1,6}} ?{DEVICE}\b", re.IGNORECASE)


def per_device_in_words(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Read throughputs as those of a device if a sentence beside the table says so: Samples/s are per GPU."""
    if not _is_said_per_device(raw) and not _is_multiplied(raw, meanings, "throughput"):
        return meanings
    return [
        replace(one, role="throughput_per_gpu", per="gpu")
        if one.role == "throughput" and not one.per and normal(one.header) not in said
        else one
        for one in meanings
    ]


def of_all_by_its_work(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads a rate as that of all devices if it is another column over a time: work that is constant or grows.

    Work that grows with the devices may have another unit than the rate, such as samples beside tokens/s.
    """
    rates = [at for at, one in enumerate(meanings) if one.role == "throughput" and not one.per]
    times = [at for at, one in enumerate(meanings) if one.role in TIMES and one.unit in ("", "s")]
    works = [at for at, one in enumerate(meanings) if one.role in ("ignore", "label")]
    devices = place_of_devices(meanings)
    if len(rates) != 1 or devices is None or normal(meanings[rates[0]].header) in said:
        return meanings
    for time, work in product(times, works):
        pairs = {(plain(row[work]), plain(row[devices])) for _, row in raw.rows if len(row) == len(meanings)}
        if len(pairs) > len({done for done, _ in pairs}) and is_exact(raw, rates[0], (work, time), fewest=2):
            return with_role(meanings, rates[0], "throughput", per="all")
        if _is_of_growing_work(raw, (devices, rates[0], time, work)):
            return with_role(meanings, rates[0], "throughput", per="all")
    return meanings


def _is_of_growing_work(raw: RawTable, places: tuple[int, int, int, int]) -> bool:
    """Whether a rate times a time is the same share of a work that grows as the devices do.

    places: of the devices, the rate, the time and the work.
    """
    found = []
    for _, row in raw.rows:
        with suppress(ValueError, IndexError, ZeroDivisionError):
            rate, time, work = (read_cell(row[place]).printed.value for place in places[1:])
            found.append((read_count(row[places[0]]).gpus, work, rate * time / work))
    if len(found) < max(2, len(raw.rows)) or len({gpus for gpus, _, _ in found}) < 2:
        return False
    _, _, share = found[0]
    grows = len({round(work / gpus, 6) for gpus, work, _ in found}) == 1
    return grows and all(abs(own / share - 1) < CLOSE for _, _, own in found)


def of_each_beside_all(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads one of two rates as that of each device if it is the other over the devices in all rows."""
    rates = [at for at, one in enumerate(meanings) if one.role == "throughput"]
    rates = rates or [at for at, one in enumerate(meanings) if one.role == "steps_per_s"]  # each on its own
    devices = next((at for role in ("gpus", "nodes") for at, one in enumerate(meanings) if one.role == role), None)
    if len(rates) != 2 or devices is None or len(set(raw.cells(devices))) < 2:
        return meanings
    for whole, each in (rates, reversed(rates)):
        ratios = over_devices(raw, whole, each, devices)
        close = len(ratios) == len(raw.rows) and all(abs(ratio - 1) < CLOSE for ratio in ratios)
        if close and normal(meanings[each].header) not in said and meanings[each].per != "all":
            found = with_role(meanings, each, "throughput_per_gpu", per="gpu")
            return with_role(found, whole, "throughput")
    return meanings


def without_flops_of_unknown_devices(meanings: list[Meaning], said: set[str]) -> list[Meaning]:
    """Leaves out FLOP/s that do not say of how many devices, beside a rate of each device that says so."""
    if not any(one.role == "throughput_per_gpu" and not is_of_flops(one.unit) for one in meanings):
        return meanings
    return [
        replace(one, role="ignore")
        if one.role == "throughput" and not one.per and is_of_flops(one.unit) and normal(one.header) not in said
        else one
        for one in meanings
    ]


def shares_of_times(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Leaves out a time that is another time over the devices in all rows, as a mean of all threads is."""
    times = [at for at, one in enumerate(meanings) if one.role in TIMES]
    devices = place_of_devices(meanings)
    if len(times) < 2 or devices is None or len(set(raw.cells(devices))) < _FEW:
        return meanings
    for whole, each in permutations(times, 2):
        ratios = over_devices(raw, whole, each, devices)
        close = len(ratios) >= _FEW and all(abs(ratio - 1) < CLOSE for ratio in ratios)
        if close and normal(meanings[each].header) not in said:
            return with_role(meanings, each, "ignore")
    return meanings


def over_devices(raw: RawTable, whole: int, each: int, devices: int) -> list[float]:
    """Return the quotients of two columns over the devices: 1 if the second is that of each device."""
    ratios = []
    for _, row in raw.rows:
        with suppress(ValueError, IndexError, ZeroDivisionError):
            of_all, of_each = (read_cell(row[at]).printed.value for at in (whole, each))
            ratios.append(of_all / of_each / read_count(row[devices]).gpus)
    return ratios


def follows_from_each(raw: RawTable, meanings: Sequence[Meaning], each: int) -> bool:
    """Return whether a rate times the devices is proportional to a rate of another unit, in all rows."""
    devices = place_of_devices(meanings)
    others = [at for at, one in enumerate(meanings) if one.role == "throughput" and at != each]
    if devices is None or len(set(raw.cells(devices))) < _FEW:
        return False
    for whole in others:
        ratios = over_devices(raw, whole, each, devices)
        if len(ratios) >= _FEW and all(abs(ratio / ratios[0] - 1) < CLOSE for ratio in ratios):
            return True
    return False


def note_on_words(meanings: Sequence[Meaning], raw: RawTable) -> list[str]:
    """Return a note if a sentence beside the table, and no header, says whose throughputs are."""
    of_all = [one for one in meanings if one.role == "throughput" and one.per == "all"]
    rate = only_rate(raw.said) if of_all else None
    if rate and rate.per == "all" and not any(OF_ALL.search(normal(one.header)) for one in of_all):
        return ["the throughputs are of all devices, as stated beside the table"]
    per_device = [normal(one.header) for one in meanings if one.role == "throughput_per_gpu" and one.unit != "MFU"]
    if not per_device or any(map(PER_DEVICE.search, per_device)):
        return []
    said = _is_said_per_device(raw) or _is_multiplied(raw, meanings, "throughput_per_gpu")
    return ["the throughputs are per device, as stated beside the table"] if said else []


def _is_multiplied(raw: RawTable, meanings: Sequence[Meaning], role: str) -> bool:
    """Whether the text multiplies a rate of the table with devices: 3.6M tokens/s (14,123 x 256 GPUs)."""
    cells = {plain(cell) for at, one in enumerate(meanings) if one.role == role for cell in raw.cells(at)}
    products = [found["rate"] for words in raw.text for found in _PRODUCT.finditer(words)]
    return any(rate in cells for rate in products)


def _is_said_per_device(raw: RawTable) -> bool:
    """Whether a sentence says so. One with a number of its own, `122K FPS per GPU`, says nothing of the others."""
    if (rate := only_rate(raw.said)) and rate.per == "gpu":
        return True
    found = filter(None, map(_SAID_PER_DEVICE.search, map(normal, raw.sentences)))
    return any(not re.search(r"\d[kmg]? ?$", one.string[: one.start()]) for one in found)
