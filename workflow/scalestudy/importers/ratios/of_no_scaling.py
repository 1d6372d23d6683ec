"""Columns of ratios that are of no scaling: the devices themselves, gains and shares of two other columns."""

from __future__ import annotations

import re
from itertools import combinations

from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.headers.meaning import Meaning, normal, place_of_devices
from scalestudy.importers.headers.terms import IDEAL
from scalestudy.importers.numbers.printed import read_cell
from scalestudy.importers.published import MEASURED, STATED, TIMES
from scalestudy.importers.quantities import known_role
from scalestudy.importers.ratios.columns import (
    CLOSE,
    FEW_ROWS,
    MOST_COLUMNS,
    beside,
    is_exact,
    varies,
    without_columns,
)
from scalestudy.importers.ratios.following import following
from scalestudy.importers.raw import RawTable

_MOST = 0.75
"""Share of the speedups of a column that follow from times."""
_FEW_OF_A_GAIN = 2
"""Rows from which a column is a gain."""


def without_other_ratios(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Leave out ideal speedups, and gains and efficiencies that compare two columns of each row."""
    for leave_out in (
        _without_devices,
        _without_shares,
        _without_gains,
        _without_repetitions,
        _without_those_of_parts,
        _without_those_of_other_runs,
    ):
        meanings = leave_out(meanings, raw, said)
    return meanings


def _without_devices(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """The meanings without what is called ideal and is the number of devices in each row: `vs Ideal`."""
    stated = [place for place, one in enumerate(meanings) if one.role in STATED]
    devices = next((place for place, one in enumerate(meanings) if one.role in ("gpus", "nodes")), None)
    if devices is None or len(stated) < 2:
        return meanings
    named = [place for place in stated if re.search(rf"\b{IDEAL}\b", normal(meanings[place].header))]
    ideal = [place for place in named if _are_equal(raw, place, devices)]
    return without_columns(meanings, ideal if len(ideal) < len(stated) else [], said)


def _are_equal(raw: RawTable, place: int, devices: int) -> bool:
    """Whether a ratio is the number of devices in three rows or more, and in all."""
    known = 0
    for _, row in raw.rows:
        try:
            ratio, count = read_cell(row[place]).printed.value, read_count(row[devices]).gpus
        except (ValueError, IndexError):
            continue
        known += 1
        if ratio != count:
            return False
    return known >= FEW_ROWS


def _without_shares(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """The meanings without efficiencies that are, in each row, the quotient of two of its measurements."""
    best = next((role for role in MEASURED if any(one.role == role for one in meanings)), "")
    mine = [place for place, one in enumerate(meanings) if one.role == best][:MOST_COLUMNS]
    shares = [
        place
        for place, one in enumerate(meanings)
        if one.role == "printed_efficiency" and any(is_exact(raw, place, pair) for pair in combinations(mine, 2))
    ]
    return without_columns(meanings, shares, said)


def without_shares_of_the_added(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Return the meanings without what added devices gain of an ideal speedup: (S - 1) / (N - 1), not S / N."""
    of_role = {one.role: place for place, one in enumerate(meanings)}
    speedup, share, devices = map(of_role.get, ("printed_speedup", "printed_efficiency", "gpus"))
    if speedup is None or share is None or devices is None:
        return meanings
    known = []
    for _, row in raw.rows:
        try:
            ratio, own, count = read_cell(row[speedup]), read_cell(row[share]), read_count(row[devices]).gpus
        except (ValueError, IndexError):
            continue
        printed = own.printed.times(0.01) if own.percent else own.printed
        if count > 1:
            gained = [(end - 1) / (count - 1) for end in (ratio.printed.low, ratio.printed.high)]
            usual = ratio.printed.high / count
            known.append(
                (gained[0] <= printed.high and printed.low <= gained[1], printed.high < usual * (1 - CLOSE))
            )
    follows = len(known) >= FEW_ROWS and all(gained and below for gained, below in known)
    return without_columns(meanings, [share] if follows else [], said)


def _without_gains(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """The meanings without gains in per cent of one column over another: 2.3% beside 232.3 and 227.0."""
    stated = [place for place, one in enumerate(meanings) if one.role in ("printed_speedup", "scaling_ratio")]
    numbers = [place for place, one in enumerate(meanings) if one.role != "gpus" and varies(raw, place)]
    pairs = list(combinations([place for place in numbers if place not in stated][:MOST_COLUMNS], 2))
    gains = [place for place in stated if any(_is_gain_of(raw, place, pair) for pair in pairs)]
    return without_columns(meanings, gains, said)


def _without_repetitions(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """The meanings without ratios of one measurement that are, in all rows, those of a column before them."""
    if sum(one.role in MEASURED for one in meanings) != 1:
        return meanings
    seen: dict[tuple[str, tuple[float | None, ...]], int] = {}
    again = []
    for place, one in enumerate(meanings):
        if one.role in STATED:
            values = tuple(_value(row, place) for _, row in raw.rows)
            known = len(values) >= FEW_ROWS and None not in values
            again += [place] if known and seen.setdefault((one.role, values), place) != place else []
    return without_columns(meanings, again, said)


def _without_those_of_parts(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """The meanings without speedups of a part of the work: they follow from its times, which are not read."""
    read = [place for place, one in enumerate(meanings) if one.role in TIMES]
    parts = [
        place for place, one in enumerate(meanings) if one.role == "ignore" and known_role(one.header) in TIMES
    ]
    of_parts = [
        place
        for place, one in enumerate(meanings)
        if one.role == "printed_speedup"
        and not any(_mostly_follows(raw, place, time) for time in read)
        and any(_mostly_follows(raw, place, time) for time in parts)
    ]
    return without_columns(meanings, of_parts if read else [], said)


def _mostly_follows(raw: RawTable, place: int, time: int) -> bool:
    """Whether most speedups are close to the ratios of the first of the times to each of them."""
    close = are_close(raw, place, time)
    return len(close) >= FEW_ROWS and sum(close) >= _MOST * len(close)


def are_close(raw: RawTable, place: int, time: int) -> list[bool]:
    """Return for each speedup whether it is close to the ratio of the first of the times to its own."""
    pairs = [(_value(row, place), _value(row, time)) for _, row in raw.rows]
    known = [(speedup, seconds) for speedup, seconds in pairs if speedup and seconds]
    return [abs(known[0][1] / seconds / speedup - 1) < CLOSE for speedup, seconds in known]


def _value(row: tuple[str, ...], place: int) -> float | None:
    try:
        return read_cell(row[place]).printed.value
    except (ValueError, IndexError):
        return None


def _is_gain_of(raw: RawTable, place: int, pair: tuple[int, int]) -> bool:
    """Whether a column is, to its last digit, the gain or the saving between two others in two rows or more."""
    known, fits = 0, {"gain": True, "saving": True}
    for cell, first, second in beside(raw, place, pair):
        known += 1
        less, more = sorted((first, second))
        if not cell.percent or less <= 0:
            return False
        shares = {"gain": more / less - 1, "saving": 1 - less / more}
        fits = {
            one: fits[one] and abs(cell.printed.value - 100 * shares[one]) <= cell.printed.last for one in fits
        }
    return known >= _FEW_OF_A_GAIN and any(fits.values())


def _without_those_of_other_runs(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """The meanings without speedups of which none follows, beside others that do: before and after a fix."""
    devices = place_of_devices(meanings)
    measured = [place for place, one in enumerate(meanings) if one.role in MEASURED]
    stated = [place for place, one in enumerate(meanings) if one.role == "printed_speedup"]
    if devices is None or len(measured) != 1 or len(stated) < 2:
        return meanings
    of_times = meanings[measured[0]].role in TIMES
    found = {
        place: following(raw, meanings, (devices, measured[0], place), of_times=of_times, close=CLOSE)
        for place in stated
    }
    own = any(len(one) >= FEW_ROWS and 3 * sum(one) >= 2 * len(one) for one in found.values())
    others = [place for place, one in found.items() if len(one) >= FEW_ROWS and not any(one)]
    return without_columns(meanings, others if own else [], said)
