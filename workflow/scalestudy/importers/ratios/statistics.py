"""Columns of statistics of one measurement: the mean, the median, the minimum or the maximum of several runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from scalestudy.importers.headers.meaning import Meaning, normal, with_role
from scalestudy.importers.numbers.printed import plain, read_cell
from scalestudy.importers.published import MEASURED, STATED, TIMES
from scalestudy.importers.ratios.columns import follows
from scalestudy.importers.ratios.following import POWERS, following
from scalestudy.importers.raw import RawTable

_STATISTIC = re.compile(
    r"\b(?:(?P<middle>mean|avg\.?|average|median|med\.?|p50)|"
    r"(?P<extreme>min(?:imum)?(?!utes)|max(?:imum)?|best|worst|fastest|slowest)|p\d\d)\b"
)
_OF_RUNS = ("time_s", "total_time_s")
"""Times whose extremes are measurements of their own; those of a step are those of single steps."""
_RUN = re.compile(r"(?:run|trial|test|rep(?:etition|eat)?|measurement|attempt|try|sample|#)[ #.:]*\d{1,2}")
_FEWEST = 2
"""Runs that a column may be a statistic of, and ratios that have to follow from it."""
_CLOSE = 0.02
"""Relative difference up to which a ratio follows. Wider than rounding."""


def minima(meanings: list[Meaning], said: set[str]) -> list[Meaning]:
    """Read `time_min` beside `time_max` or `time_mean` as the minimum, and not as a time in minutes."""
    result = list(meanings)
    for place, one in enumerate(meanings):
        words, name = _template(one.header)
        if words != "min" or one.unit not in ("min", ""):
            continue
        others = [other for other in meanings if other is not one and _template(other.header)[1] == name]
        timed = next((other for other in others if other.role in TIMES), None)
        if timed is not None:
            own = normal(one.header) in said
            unit = timed.unit or ("s" if own else "")
            role = one.role if own else timed.role
            result[place] = _named(replace(one, role=role, unit=unit, factor=timed.factor))
    return result


def _template(header: str) -> tuple[str, str]:
    """The statistic that a header names, and the header with a sign instead of it; '' if it does not name one."""
    text = _spaced(header)
    found = list(_STATISTIC.finditer(text))
    if len(found) != 1:
        return "", ""
    return found[0][0], f"{text[: found[0].start()]}~{text[found[0].end() :]}"


def _spaced(header: str) -> str:
    return plain(header).lower().replace("_", " ")


def _statistic(one: Meaning) -> re.Match[str] | None:
    """The statistic that a header names. `Time (min)` names a unit."""
    found = _STATISTIC.search(_spaced(one.header))
    return None if found and found[0] == one.unit else found


def _named(one: Meaning) -> Meaning:
    """The column with its statistic as the last of the words that tell it from others."""
    found = _statistic(one)
    words = _STATISTIC.sub("", one.rest).split()
    return replace(one, rest=" ".join([*words, found[0]])) if found else one


def by_statistic(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Leave out percentiles, and extremes of a rate or a step, of a measurement that also has a mean or a median.

    Extremes of the time of a run are series of their own. If printed ratios follow from one of the times left out
    and not from the mean, it is the mean that is left out.
    """
    result = list(meanings)
    for role in MEASURED:
        mine = [place for place, one in enumerate(meanings) if one.role == role]
        names = {place: _statistic(meanings[place]) for place in mine}
        bare = {place: _STATISTIC.sub("", _spaced(meanings[place].header)).strip(" ()") for place in mine}
        middle = [place for place in mine if not (found := names[place]) or found["middle"]]
        for place in (place for place in mine if place not in middle):
            alike = [one for one in middle if bare[place].replace(" ", "") == bare[one].replace(" ", "")]
            extreme = (found := names[place]) and found["extreme"]
            if alike and extreme and role in _OF_RUNS:
                result[place] = _named(meanings[place])
                result[alike[0]] = _named(meanings[alike[0]])
                result = _of_the_middle(result, result[alike[0]].rest)
                continue
            left_out = alike if _follow_from_it(meanings, raw, place, alike) else [place] if alike else []
            for other in left_out:
                if normal(meanings[other].header) not in said:
                    result[other] = replace(meanings[other], role="ignore")
    return result


def _of_the_middle(meanings: list[Meaning], name: str) -> list[Meaning]:
    """The ratios that name nothing as those of the mean, whose column has this name."""
    return [replace(one, rest=name) if one.role in STATED and not one.rest else one for one in meanings]


def _follow_from_it(meanings: Sequence[Meaning], raw: RawTable, place: int, middle: Sequence[int]) -> bool:
    """Whether the only speedups follow from the times of a column, and not from a mean or a median of them."""
    stated = [at for at, one in enumerate(meanings) if one.role == "printed_speedup"]
    of_it = meanings[place].role in TIMES and len(stated) == 1 and bool(middle) and follows(raw, stated[0], place)
    return of_it and not any(follows(raw, stated[0], one) for one in middle)


def means_of_runs(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Read `Average` behind `Run 1` and `Run 2` as the measurement if most printed ratios follow from it.

    Its numbers have to be between those of the runs in all rows. It may be a time or a throughput.
    """
    devices = [place for place, one in enumerate(meanings) if one.role == "gpus"]
    ratios = [place for place, one in enumerate(meanings) if one.role in POWERS]
    if len(devices) != 1 or not ratios or any(one.role in MEASURED for one in meanings):
        return meanings
    free = [
        place
        for place, one in enumerate(meanings)
        if one.role in ("ignore", "label") and normal(one.header) not in said
    ]
    runs = [place for place in free if _RUN.fullmatch(_spaced(meanings[place].header))]
    found: dict[int, tuple[str, int]] = {}
    for place in free if len(runs) >= _FEWEST else ():
        if not _STATISTIC.fullmatch(_spaced(meanings[place].header)) or not _is_between(raw, place, runs):
            continue
        for role in ("time_s", "throughput"):
            places, power = (devices[0], place, ratios[0]), POWERS[meanings[ratios[0]].role]
            close = following(raw, meanings, places, of_times=role in TIMES, close=_CLOSE, power=power)
            if sum(close) >= _FEWEST and 2 * sum(close) > len(close):
                found[place] = (role, sum(close))
    best = max(found, key=lambda place: found[place][1], default=None)
    return meanings if best is None else with_role(meanings, best, found[best][0])


def _is_between(raw: RawTable, place: int, runs: Sequence[int]) -> bool:
    """Whether the numbers of a column are between the least and the largest of the runs in all rows."""
    known = 0
    for _, row in raw.rows:
        with suppress(ValueError, IndexError):
            own, values = read_cell(row[place]).printed, [read_cell(row[at]).printed.value for at in runs]
            known += 1
            if not min(values) - own.last <= own.value <= max(values) + own.last:
                return False
    return known >= _FEWEST
