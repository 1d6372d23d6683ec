"""Ratios that are printed as gains over the baseline, +90 % for a speedup of 1.9, or as the time saved."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import isclose, nan

from scalestudy.importers.headers.meaning import Meaning, normal
from scalestudy.importers.headers.ratios import says_percent
from scalestudy.importers.headers.terms import IDEAL
from scalestudy.importers.numbers.printed import Printed, is_blank, plain, read_cell
from scalestudy.importers.published import MEASURED, TIMES
from scalestudy.importers.ratios.columns import CLOSE, by_devices
from scalestudy.importers.raw import RawTable

_GAIN = re.compile(
    r"[-+\u2212] ?[\d.,]+ ?%|[\d.,]+ ?% (?:faster|higher|more|better|gain|increase|improvement)\b", re.IGNORECASE
)
SAVED = "saved"
"""How a column of ratios is printed that is of the time saved."""
_ROUNDED = 0.006
"""Difference up to which a share is that of the time saved: per cents may have no decimals."""
_FEW_ROWS = 3


def gains(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads gains, +90 % for a speedup of 1.9, and the time saved since the first row as speedups.

    Leaves out the time saved since the row before, and the ideal.
    """
    measured = next((at for role in MEASURED for at, one in enumerate(meanings) if one.role == role), None)
    result = []
    for place, meaning in enumerate(_without_ideal(meanings, raw, said)):
        of_times = measured is not None and meanings[measured].role in TIMES
        free = normal(meaning.header) not in said
        cells = [row[place] for _, row in raw.rows if place < len(row)]
        if free and measured is not None and of_times and _are_shares(cells, meaning):
            if _is_saved_since_the_first(raw, place, measured):
                meaning = replace(meaning, role="printed_speedup", per=SAVED)
        elif free and is_gain(cells, meaning):
            if measured is not None and of_times and _is_saved_since_the_first(raw, place, measured):
                meaning = replace(meaning, role="printed_speedup", per=SAVED)
            else:
                saved = measured is not None and _is_saved(raw, place, measured, of_times=of_times)
                meaning = replace(meaning, role="ignore" if saved else "printed_speedup")
        result.append(meaning)
    return result


def _are_shares(cells: list[str], meaning: Meaning) -> bool:
    """Whether all speedups are per cents below 100, as shares of the time that is saved are."""
    texts = [plain(cell) for cell in cells if not is_blank(cell)]
    shares = [re.match(r"~?(\d{1,2}(?:\.\d+)?) ?%", text) for text in texts]
    return meaning.role == "printed_speedup" and len(shares) > 1 and all(shares)


def says_gain(cell: str) -> bool:
    """Return whether a per cent number is a gain by its sign or its words: +90 %, 27% faster."""
    return bool(_GAIN.match(plain(cell)))


def is_gain(cells: list[str], meaning: Meaning) -> bool:
    """Return whether the ratios of a column are gains over the baseline: +90 % for a speedup of 1.9."""
    if meaning.role not in ("printed_speedup", "scaling_ratio"):
        return False
    texts = [plain(cell) for cell in cells if not is_blank(cell)]
    signed = [text for text in texts if says_gain(text)]
    sign = "%?" if says_percent(meaning.header) else "%"
    percents = [text for text in texts if re.fullmatch(rf"~?[-+]? ?[\d.,]+ ?{sign}.*", text)]
    named = bool(re.search(r"\bgain|increase|improve|faster", normal(meaning.header)))
    nothing = any(re.fullmatch(rf"[+-]?0(?:\.0+)? ?{sign}", text) for text in texts)
    alone = named and len(percents) == len(texts) and not any(re.match(r"100(?:\.0*)? ?%", text) for text in texts)
    return bool(signed) or alone or bool(percents and nothing and (named or len(percents) == len(texts)))


def _without_ideal(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Leaves out `Linear scaling` and the like if its numbers are those of the devices."""
    devices = next((place for place, one in enumerate(meanings) if one.role == "gpus"), None)
    result = []
    for place, meaning in enumerate(meanings):
        stated = meaning.role in ("printed_speedup", "scaling_ratio") and normal(meaning.header) not in said
        ideal = stated and bool(re.match(rf"{IDEAL}\b", normal(meaning.header)))
        if devices is not None and ideal and _grows_as_devices(by_devices(raw, devices, place)):
            meaning = replace(meaning, role="ignore")
        result.append(meaning)
    return result


def _grows_as_devices(found: Sequence[tuple[int, Printed | None]]) -> bool:
    """Whether numbers are those of the devices, or the first of them times the devices: 326, 652 and 1304."""
    values = [(gpus, ratio.value) for gpus, ratio in found if ratio and ratio.value > 0]
    if len(values) < len(found) or len(found) <= 1:
        return False
    fewest, first = values[0]
    whole = all(value * fewest == gpus for gpus, value in values)
    alike = [isclose(value / first, gpus / fewest, rel_tol=_ROUNDED) for gpus, value in values]
    return whole or (first > fewest and sum(alike) >= max(_FEW_ROWS, len(alike) - 1))


def _is_saved(raw: RawTable, place: int, measured: int, *, of_times: bool) -> bool:
    """Whether percents are the time saved against the first row or the row before: 47 % for a speedup of 1.9.

    They may also be the change of the time, -47 %.
    Gains over the row before are left out too if their numbers are printed as approximate: they check nothing.
    """
    found: list[tuple[float, float]] = []
    for _, row in raw.rows:
        try:
            value = read_cell(row[measured]).printed.value
            found.append((1 / value if of_times else value, _share(row[place])))
        except (ValueError, IndexError, ZeroDivisionError):
            continue
    saved = gained = stepwise = 0
    about = any("~" in plain(row[measured]) for _, row in raw.rows if measured < len(row))
    for (before, _), (rate, share) in pairwise(found):
        speedups = (rate / before, rate / found[0][0]) if before > 0 and found[0][0] > 0 else ()
        changes = [(1 - 1 / speedup, 1 / speedup - 1 if of_times else nan) for speedup in speedups]
        saved += any(abs(share - change) < CLOSE for both in changes for change in both)
        close = [abs(share - (speedup - 1)) < CLOSE * speedup for speedup in speedups]
        gained += any(close)
        stepwise += close[:1] == [True] and not close[1]
    return saved > gained or (about and stepwise > 0)


def _is_saved_since_the_first(raw: RawTable, place: int, measured: int) -> bool:
    """Whether percents are the time saved since the first row in all rows: 0, 47 % for half the time or so."""
    found: list[tuple[float, float]] = []
    for _, row in raw.rows:
        try:
            found.append((read_cell(row[measured]).printed.value, _share(row[place])))
        except (ValueError, IndexError):
            return False
    if len(found) < _FEW_ROWS or not all(time > 0 for time, _ in found):
        return False
    return all(abs(share - (1 - time / found[0][0])) < _ROUNDED for time, share in found)


def _share(cell: str) -> float:
    return 0.0 if is_blank(cell) else read_cell(cell).printed.value / 100
