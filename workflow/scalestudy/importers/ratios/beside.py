"""Speedups of a row over another on the same number of devices, such as another framework: not of scaling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.headers.meaning import TEXTS, Meaning, normal, with_role
from scalestudy.importers.numbers.durations import read_duration
from scalestudy.importers.numbers.printed import Printed, is_blank, plain, read_cell
from scalestudy.importers.published import MEASURED, TIMES
from scalestudy.importers.raw import RawTable

BESIDE = "rows beside"
"""What a speedup is `per` if it is over another row on the same number of devices."""
_FEWEST = 3
"""Ratios that have to follow from the rows of 1x on the same number of devices."""
_MOST = 0.75
"""Share of the ratios that have to."""
_FEWEST_EXACT = 2
"""Ratios that are enough if all of them follow."""


def over_rows_beside(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Leaves out a speedup over a row of each number of devices, which has 1 or alone has none.

    A number of devices without any such ratio is none of them.
    """
    stated = [place for place, one in enumerate(meanings) if one.role in ("printed_speedup", "scaling_ratio")]
    devices = next((place for place, one in enumerate(meanings) if one.role == "gpus"), None)
    labels = any(one.role in TEXTS for one in meanings)
    if len(stated) != 1 or devices is None or not labels or normal(meanings[stated[0]].header) in said:
        return meanings
    for place, one in enumerate(meanings):
        if one.role in MEASURED and _explains(raw, (devices, place, stated[0]), of_times=one.role in TIMES):
            return with_role(meanings, stated[0], "ignore", per=BESIDE)
    return meanings


def notes_on_rows_beside(meanings: Sequence[Meaning]) -> list[str]:
    """Return why a speedup over rows on the same number of devices was left out."""
    why = "compares rows on the same number of devices with one of them, and not with fewer devices"
    return [f"{plain(one.header)} {why}" for one in meanings if one.per == BESIDE]


def _explains(raw: RawTable, places: tuple[int, int, int], *, of_times: bool) -> bool:
    """Whether ratios follow from rows with 1 on one number of devices. places: devices, measurement, ratio."""
    groups: dict[int, list[tuple[Printed, Printed]]] = {}
    without: dict[int, list[Printed]] = {}
    sizes = set()
    for _, row in raw.rows:
        try:
            gpus = read_count(row[places[0]]).gpus
            sizes.add(gpus)
            measured = read_duration(row[places[1]]) or read_cell(row[places[1]]).printed
            if len(row) <= places[2] or is_blank(row[places[2]]):
                without.setdefault(gpus, []).append(measured)
                continue
            ratio = read_cell(row[places[2]])
        except (ValueError, IndexError):
            continue
        if measured.low > 0 and not ratio.percent:
            groups.setdefault(gpus, []).append((measured, ratio.printed))
    alone = {gpus: found[0] for gpus, found in without.items() if len(found) == 1}
    return len(sizes) > 1 and bool(groups) and _follow(groups, alone, of_times=of_times)


def _follow(
    groups: Mapping[int, Sequence[tuple[Printed, Printed]]], alone: Mapping[int, Printed], *, of_times: bool
) -> bool:
    """Whether ratios follow from the row of 1x of their devices, or from the only one without a ratio (alone)."""
    known = explained = 0
    for gpus, rows in groups.items():
        unit = next((measured for measured, ratio in rows if ratio.value == 1), alone.get(gpus))
        if unit is None:
            return False
        for measured, ratio in rows:
            above, below = (unit, measured) if of_times else (measured, unit)
            known += ratio.value != 1
            fits = above.low <= ratio.high * below.high and ratio.low * below.low <= above.high
            explained += ratio.value != 1 and fits
    exact = known >= _FEWEST_EXACT and explained == known
    return exact or (known >= _FEWEST and explained >= _MOST * known)
