"""Finds the measurement that a printed ratio follows from, such as the warm epochs beside the cold ones."""

from __future__ import annotations

from collections.abc import Sequence

from scalestudy.importers.headers.meaning import Meaning
from scalestudy.importers.published import MEASURED, STATED, TIMES
from scalestudy.importers.ratios.columns import CLOSE
from scalestudy.importers.ratios.following import POWERS, following
from scalestudy.importers.raw import RawTable

_CLOSER = (CLOSE, CLOSE / 3, CLOSE / 10)
"""Relative differences up to which a ratio follows, for several measurements that it follows from."""
_MOST_COLUMNS = 20
"""Measurements and ratios that are compared."""


def owners_of_ratios(meanings: Sequence[Meaning], raw: RawTable) -> dict[int, int]:
    """Return place of a ratio -> place of the only one of several measurements of a kind that it follows from."""
    devices = next((place for place, one in enumerate(meanings) if one.role == "gpus"), None)
    best = next((role for role in MEASURED if any(one.role == role for one in meanings)), "")
    measured = [place for place, one in enumerate(meanings) if one.role == best][:_MOST_COLUMNS]
    found: dict[int, int] = {}
    if devices is None or len(measured) < 2:
        return found
    for place in [at for at, one in enumerate(meanings) if one.role in STATED][:_MOST_COLUMNS]:
        own = measured
        for close in _CLOSER:  # means and medians of the same runs may both be near
            own = [at for at in own if _follows(raw, meanings, (devices, at, place), best in TIMES, close)]
            if len(own) == 1:
                found[place] = own[0]
            if len(own) < 2:
                break
    return found


def _follows(
    raw: RawTable,
    meanings: Sequence[Meaning],
    places: tuple[int, int, int],
    of_times: bool,
    within: float,
) -> bool:
    role = meanings[places[2]].role
    for power in (POWERS[role],) if role in POWERS else POWERS.values():  # a scaling ratio may be either
        close = following(raw, meanings, places, of_times=of_times, close=within, power=power)
        if close and all(close):
            return True
    return False
