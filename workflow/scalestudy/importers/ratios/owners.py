"""Finds the measurement that a printed ratio follows from, such as the warm epochs beside the cold ones."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scalestudy.importers.headers.meaning import Meaning, normal
from scalestudy.importers.published import MEASURED, STATED, TIMES
from scalestudy.importers.ratios.columns import CLOSE
from scalestudy.importers.ratios.following import POWERS, following
from scalestudy.importers.raw import RawTable

_CLOSER = (CLOSE, CLOSE / 3, CLOSE / 10)
"""Relative differences up to which a ratio follows, for several measurements that it follows from."""
_FEWEST = 2
"""Ratios that follow from a measurement by no chance."""
_MOST_COLUMNS = 20
"""Measurements and ratios that are compared."""


def owners_of_ratios(meanings: Sequence[Meaning], raw: RawTable) -> dict[int, int]:
    """Return place of a ratio -> place of the only one of several measurements of a kind that it follows from.

    If some ratios of a column follow from none, it is the one that most of them follow from.
    """
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
        if not own and not _names_one(meanings, place, measured):
            most = _most_followed(raw, meanings, (devices, measured, place))
            found |= {} if most is None else {place: most}
    return found


def _names_one(meanings: Sequence[Meaning], place: int, measured: Sequence[int]) -> bool:
    """Whether the header of a ratio has the name of a measurement."""
    name = meanings[place].rest
    own = bool(name) and set(name.split()) <= set(re.findall(r"[\w.+]+", normal(meanings[place].header)))
    return own and any(meanings[at].rest == name for at in measured)


def _most_followed(
    raw: RawTable, meanings: Sequence[Meaning], places: tuple[int, Sequence[int], int]
) -> int | None:
    """The only one of the measurements that the most ratios follow from, two and more than half of them, or None.

    places: of the devices, of the measurements, of the ratio.
    """
    devices, measured, ratio = places
    of_times = meanings[measured[0]].role in TIMES
    for close in _CLOSER:
        counts: dict[int, int] = {}
        for at in measured:
            for follow in _following(raw, meanings, (devices, at, ratio), of_times, close):
                if sum(follow) >= _FEWEST and 2 * sum(follow) > len(follow):
                    counts[at] = max(counts.get(at, 0), sum(follow))
        best = [at for at, count in counts.items() if count == max(counts.values())]
        if len(best) == 1:
            return best[0]
    return None


def _follows(
    raw: RawTable,
    meanings: Sequence[Meaning],
    places: tuple[int, int, int],
    of_times: bool,
    within: float,
) -> bool:
    return any(close and all(close) for close in _following(raw, meanings, places, of_times, within))


def _following(
    raw: RawTable, meanings: Sequence[Meaning], places: tuple[int, int, int], of_times: bool, within: float
) -> list[list[bool]]:
    """Whether each ratio follows, by both meanings of a ratio that may be a speedup or an efficiency."""
    role = meanings[places[2]].role
    powers = (POWERS[role],) if role in POWERS else POWERS.values()
    return [following(raw, meanings, places, of_times=of_times, close=within, power=power) for power in powers]
