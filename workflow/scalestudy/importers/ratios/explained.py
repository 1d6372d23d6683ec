"""What columns with unknown headers are: a measurement that explains printed ratios, or speedups that grow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from scalestudy.importers.headers.meaning import Meaning, never_a_label, normal, with_role
from scalestudy.importers.headers.terms import IDEAL, SPREAD
from scalestudy.importers.numbers.printed import plain, read_cell, share
from scalestudy.importers.published import MEASURED, STATED, TIMES
from scalestudy.importers.quantities import most_are, quantity_of
from scalestudy.importers.ratios.columns import by_devices, starts_at_one
from scalestudy.importers.ratios.following import POWERS, following
from scalestudy.importers.raw import RawTable

_CLOSE = 0.02
"""Relative difference up to which a ratio follows. Wider than rounding."""
_FEWEST = 2
"""Rows beside that of the baseline from which the ratio follows by no chance."""
_MOST = 0.7
"""Share of the rows from which it has to follow; others may contradict."""
_NUMBERS = 0.9
"""Share of the cells of a measurement that are numbers."""
_FACTOR = 1.5
"""A factor that a speedup over fewer devices reaches."""


def _of_devices(meanings: Sequence[Meaning]) -> list[int]:
    """The columns of devices, or those of nodes if there is none."""
    named = [[place for place, one in enumerate(meanings) if one.role == role] for role in ("gpus", "nodes")]
    return named[0] or named[1]


def by_printed_ratios(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Read the only column from which the printed ratios follow as a measurement, if they follow from no other."""
    devices = _of_devices(meanings)
    ratios = [place for place, one in enumerate(meanings) if one.role in POWERS]
    measured = [place for place, one in enumerate(meanings) if one.role in MEASURED]
    if len(devices) != 1 or not ratios or len(measured) > 1:
        return meanings
    power = POWERS[meanings[ratios[0]].role]

    def follows(place: int, role: str) -> bool:
        places = (devices[0], place, ratios[0])
        close = following(raw, meanings, places, of_times=role in TIMES, close=_CLOSE, power=power)
        return len(close) >= _FEWEST and sum(close) > _MOST * len(close)

    if any(follows(place, meanings[place].role) for place in measured):
        return meanings
    roles = [meanings[place].role for place in measured] or ["time_s", "throughput"]
    found = []
    for place, one in enumerate(meanings):
        free = one.role in ("ignore", "label") and normal(one.header) not in said and not never_a_label(one.header)
        if free and share(raw.cells(place), read_cell) >= _NUMBERS:
            found += [(place, role) for role in roles if follows(place, role)]
    return with_role(meanings, *found[0]) if len(found) == 1 else meanings


def by_what_follows(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads per cents and factors below unknown headers as ratios if they follow from the only measurement.

    So it does with all numbers below a Greek letter.
    """
    devices = _of_devices(meanings)
    measured = [place for place, one in enumerate(meanings) if one.role in MEASURED]
    if len(devices) != 1 or len(measured) != 1:
        return meanings
    meanings = _greek_ratios(meanings, raw, said, (devices[0], measured[0]))
    if any(one.role in STATED for one in meanings):
        return meanings
    of_times = meanings[measured[0]].role in TIMES
    for place, one in enumerate(meanings):
        if one.role != "ignore" or normal(one.header) in said:
            continue
        role = next((role for role, kind in _KINDS.items() if most_are(kind, raw.cells(place))), "")
        first = by_devices(raw, devices[0], place) if role else []
        if not first or not starts_at_one(first):
            continue
        places = (devices[0], measured[0], place)
        close = following(raw, meanings, places, of_times=of_times, close=_CLOSE, power=POWERS[role])
        if len(close) >= _FEWEST and all(close):
            return with_role(meanings, place, role)
    return meanings


def _greek_ratios(meanings: list[Meaning], raw: RawTable, said: set[str], of: tuple[int, int]) -> list[Meaning]:
    """Reads what is below a Greek letter as the ratio that its numbers are in most rows.

    Those that follow as speedups may also be efficiencies of weak scaling. of: places of devices and measurement.
    """
    for place, one in enumerate(meanings):
        header = plain(one.header)
        free = one.role == "ignore" and normal(one.header) not in said and not SPREAD.search(normal(header))
        first = by_devices(raw, of[0], place) if free and _GREEK.fullmatch(header) else []
        if not first or not starts_at_one(first):
            continue
        for role, power in POWERS.items():
            of_times = meanings[of[1]].role in TIMES
            close = following(raw, meanings, (*of, place), of_times=of_times, close=_CLOSE, power=power)
            if len(close) >= _FEWEST and sum(close) > len(close) / 2:
                known = any(other.role == "scaling_ratio" for other in meanings)
                own = role if power or known else "scaling_ratio"
                meanings = with_role(meanings, place, own, rest="")
    return meanings


_GREEK = re.compile(r"[\u0391-\u03c9](?: ?\(?_?\{?[A-Za-z]\}?\)?)?(?:,? ?[(\[]?%[)\]]?)?")
"""Headers of a Greek letter, perhaps with that of the devices and a unit."""


def bare_percents(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Read a column `percent` as the efficiency if most of its numbers follow as one from the only measurement."""
    devices = _of_devices(meanings)
    measured = [place for place, one in enumerate(meanings) if one.role in MEASURED]
    named = [
        place
        for place, one in enumerate(meanings)
        if one.role == "ignore" and normal(one.header) not in said and _PERCENT.fullmatch(normal(one.header))
    ]
    known = any(one.role == "printed_efficiency" for one in meanings)
    if known or not len(devices) == len(measured) == len(named) == 1:
        return meanings
    _, first = next(iter(by_devices(raw, devices[0], named[0])), (0, None))
    if first is None or first.value not in (1, 100):  # a share of the peak follows too
        return meanings
    of_times = meanings[measured[0]].role in TIMES
    close = following(raw, meanings, (devices[0], measured[0], named[0]), of_times=of_times, close=_CLOSE, power=1)
    follows = sum(close) >= _FEWEST and 2 * sum(close) > len(close)
    return with_role(meanings, named[0], "printed_efficiency") if follows else meanings


_PERCENT = re.compile(r"[(\[]?(?:%|per ?cent|pct\.?|percentage)[)\]]?")
_KINDS = {"printed_speedup": "speedup", "printed_efficiency": "efficiency"}
"""Ratios of measurements -> what their cells are by their signs."""


def factors(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Read factors that grow, such as 1.9x, 3.7x and 7.2x below DDP, as speedups if nothing is measured.

    Per cents that fall from 100 are efficiencies, if there are no other numbers.
    """
    roles = {one.role for one in meanings}
    if roles & {*MEASURED, *STATED} or not roles & {"gpus", "nodes"}:
        return meanings
    free = [
        place
        for place, one in enumerate(meanings)
        if one.role in ("ignore", "strategy", "framework")
        and normal(one.header) not in said
        and not never_a_label(one.header)
        and share(raw.cells(place), read_cell)
    ]
    alone = all(quantity_of(cell) == "efficiency" for place in free for cell in raw.cells(place))
    return [
        _as_ratio(one, raw.cells(place), shares=alone) if place in free else one
        for place, one in enumerate(meanings)
    ]


def actual_beside_ideal(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Read `Actual` as the speedup if the numbers of `Ideal` beside it are those of the devices.

    As the efficiency if they are all 100 %.
    """
    devices = _of_devices(meanings)
    ideal = [place for place, one in enumerate(meanings) if re.fullmatch(IDEAL, normal(one.header))]
    actual = [place for place, one in enumerate(meanings) if _ACTUAL.fullmatch(normal(one.header))]
    if not len(devices) == len(ideal) == len(actual) == 1 or meanings[actual[0]].role != "ignore":
        return meanings
    found = by_devices(raw, devices[0], ideal[0])
    if len({gpus for gpus, _ in found}) < _FEWEST or not all(ratio for _, ratio in found):
        return meanings
    first = found[0][0]
    grows = all(ratio and ratio.value * first == gpus for gpus, ratio in found)
    whole = all(ratio and ratio.value in (1, 100) for _, ratio in found)
    kind = "printed_speedup" if grows else "printed_efficiency" if whole else ""
    return (
        with_role(meanings, actual[0], kind)
        if kind and normal(meanings[actual[0]].header) not in said
        else meanings
    )


_ACTUAL = re.compile(r"actual|measured|real|observed|achieved|obtained")


def _as_ratio(meaning: Meaning, cells: Sequence[str], *, shares: bool) -> Meaning:
    """A column as one of speedups or efficiencies, if its cells are factors that grow or per cents that fall.

    shares: whether the table has no other numbers than per cents.
    """
    falls = shares and _fall_from_all(cells)
    role = "printed_speedup" if _grow(cells) else "printed_efficiency" if falls else ""
    if not role:
        return meaning
    return replace(meaning, role=role, rest=meaning.rest or normal(meaning.header))


def _fall_from_all(cells: Sequence[str]) -> bool:
    """Whether all cells are per cents, the first is 100, and no other is larger than the one above it."""
    if len(cells) < 2 or any(quantity_of(cell) != "efficiency" for cell in cells) or share(cells, read_cell) < 1:
        return False
    values = [read_cell(cell).printed.value for cell in cells]
    return values[0] == 100 and all(last <= first for first, last in pairwise(values)) and values[-1] < 100


def _grow(cells: Sequence[str]) -> bool:
    """Whether all cells are factors, and most are larger than the one above them."""
    if len(cells) < 2 or any(quantity_of(cell) != "speedup" for cell in cells) or share(cells, read_cell) < 1:
        return False  # a range is not one number: 0.33-0.35x
    values = [read_cell(cell).printed.value for cell in cells]
    return sum(last > first for first, last in pairwise(values)) > len(values) / 2 and max(values) > _FACTOR
