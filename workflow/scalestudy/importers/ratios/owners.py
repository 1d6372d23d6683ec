"""Which of several measurements printed ratios are of, by the numbers: the warm epochs beside the cold ones."""

from __future__ import annotations

from collections.abc import Sequence

from scalestudy.importers.headers.meaning import Meaning
from scalestudy.importers.published import MEASURED, TIMES
from scalestudy.importers.ratios.columns import CLOSE
from scalestudy.importers.ratios.following import following
from scalestudy.importers.raw import RawTable

_POWERS = {"printed_speedup": 0, "printed_efficiency": 1}


def owners_of_ratios(meanings: Sequence[Meaning], raw: RawTable) -> dict[int, int]:
    """Return place of a ratio -> place of the only one of several measurements of a kind that it follows from."""
    devices = next((place for place, one in enumerate(meanings) if one.role == "gpus"), None)
    best = next((role for role in MEASURED if any(one.role == role for one in meanings)), "")
    measured = [place for place, one in enumerate(meanings) if one.role == best]
    found: dict[int, int] = {}
    for place, one in enumerate(meanings):
        if one.role not in _POWERS or devices is None or len(measured) < 2:
            continue
        own = [at for at in measured if _follows(raw, meanings, (devices, at, place), best in TIMES)]
        if len(own) == 1:
            found[place] = own[0]
    return found


def _follows(raw: RawTable, meanings: Sequence[Meaning], places: tuple[int, int, int], of_times: bool) -> bool:
    power = _POWERS[meanings[places[2]].role]
    close = following(raw, meanings, places, of_times=of_times, close=CLOSE, power=power)
    return bool(close) and all(close)
