"""Times of parts of the work beside that of the whole: `Assembly (s)` and `Solve (s)` beside `Total (s)`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import isclose

from scalestudy.importers.headers.meaning import PART, TEXTS, Meaning, never_a_label, normal, with_role
from scalestudy.importers.headers.terms import IDEAL, SECONDS, SERIAL_RUN, SPREAD
from scalestudy.importers.numbers.durations import read_duration
from scalestudy.importers.numbers.printed import plain, read_cell
from scalestudy.importers.published import MEASURED, OF_STEPS, RATES, STATED, TIMES
from scalestudy.importers.quantities import are_times, in_brackets, unit_of_time
from scalestudy.importers.raw import RawTable

_WHOLE = re.compile(r"\b(?:total|overall|whole|wall|elapsed|end[- ]to[- ]end|e2e)\b")
"""Headers of the time of all parts."""
_OF_A_PART = re.compile(
    r"\b(?:comm(?:unication)?|comp(?:ut(?:e|ing|ation))?|i/?o|load(?:ing)?|wait(?:ing)?|sync\w*|halo|exchange|forward|backward|"
    r"all-?reduce|setup|init\w*)\b"
)
_OF_A_PHASE = re.compile(r"\b(?:data[ -]?load\w*|loader|valid\w*|eval\w*|test(?:ing)?|inference)\b(?!.*\btrain)")
_SEVERAL = 2
_SAME = 0.01
"""Relative difference up to which times in two units are the same, since they are rounded."""
_NO_PART = re.compile(
    r"\b(?:min(?:imum)?|max(?:imum)?|best|worst|median|mean|avg|average|beat|target|baseline|prev(?:ious)?|old|before|"
    rf"after|user|sys|cpu|p\d\d|epochs?|steps?|iter(?:ation)?s?|per|{SERIAL_RUN}|{IDEAL})\b"
)
"""Headers of another statistic, of another run, of one of several equal parts, or of the processors."""
_FREE = ("ignore", "label", "hardware", "strategy", "framework", *TIMES, "step_time_s")
_ABOVE = 1.1
"""Times the whole, what parts may add up to at most: they overlap, and they are rounded."""
_BELOW = 0.9
"""The same at least, if they are all parts."""
_SUM = re.compile(r"(?:t )?(?:total|sum|overall)")


def parts_of_times(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Marks times as those of parts if they add up to no more than the time of the whole in any row.

    Ratios that name nothing are those of the whole. Labels whose cells are such times are left out.
    """
    whole = _whole(meanings)
    if whole is None:
        return _without_parts_of_several(meanings, said)
    others = {place: _part(one, raw, place, said) for place, one in enumerate(meanings) if place != whole}
    found = {place: own for place, own in others.items() if own}
    shares = _shares(raw, {place: one.unit for place, one in found.items()}, (whole, meanings[whole].unit))
    if any(share > _ABOVE for share in shares):
        return meanings
    all_parts = len(found) > 1 and bool(shares) and min(shares) >= _BELOW and meanings[whole].role in TIMES
    result = list(meanings)
    for place in found:
        one = meanings[place]
        if one.role in TEXTS:
            result[place] = replace(one, role="ignore")
        elif one.role == meanings[whole].role:
            result[place] = replace(one, per=PART)
        elif all_parts and (one.role in TIMES or are_times(raw.cells(place))):
            result[place] = replace(one, role=meanings[whole].role, per=PART, rest=one.rest or normal(one.header))
    if not any(one.per == PART for one in result):
        return result
    name = meanings[whole].rest or "total"
    result[whole] = replace(meanings[whole], rest=name)
    return [replace(one, rest=name) if one.role in STATED and not one.rest else one for one in result]


def without_other_units(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Leaves out a time that is another one in another unit: `time_minutes` behind `time_seconds`."""
    timed = [place for place, one in enumerate(meanings) if one.role in TIMES and one.unit]
    result = list(meanings)
    for first, second in combinations(timed, 2):
        if result[first].role == "ignore" or meanings[first].unit == meanings[second].unit:
            continue
        pairs = list(zip(*(_seconds(raw, at, meanings[at].unit) for at in (first, second)), strict=True))
        same = len(pairs) > 1 and all(one and other and isclose(one, other, rel_tol=_SAME) for one, other in pairs)
        if same and normal(meanings[second].header) not in said:
            result[second] = replace(meanings[second], role="ignore")
    return result


def sum_of_parts(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads `total` as a time if it is the sum of parts, such as `comm` and `comp`, and if nothing is measured."""
    names = [normal(one.header) if one.role == "ignore" else "" for one in meanings]
    whole = [at for at, name in enumerate(names) if _SUM.fullmatch(name) and name not in said]
    parts = {at: "" for at, name in enumerate(names) if _OF_A_PART.fullmatch(name)}
    if any(one.role in MEASURED for one in meanings) or len(whole) != 1 or len(parts) < _SEVERAL:
        return meanings
    shares = _shares(raw, parts, (whole[0], ""))
    added_up = len(shares) == len(raw.rows) and all(_BELOW <= share <= _ABOVE for share in shares)
    return with_role(meanings, whole[0], "time_s") if added_up else meanings


def _shares(raw: RawTable, parts: Mapping[int, str], whole: tuple[int, str]) -> list[float]:
    """The sum of parts over the whole in each row that has it. parts: place -> unit; whole: the same."""
    times = {place: _seconds(raw, place, unit) for place, unit in parts.items()}
    return [
        sum(times[place][row] or 0.0 for place in parts) / all_of_it
        for row, all_of_it in enumerate(_seconds(raw, *whole))
        if all_of_it
    ]


def without_other_phases(meanings: list[Meaning], said: set[str]) -> list[Meaning]:
    """Leaves out rates of loading data and of a validation beside that of a training."""
    rates = [one for one in meanings if one.role in (*RATES, "steps_per_s")]
    if not any(re.search(r"\btrain", normal(one.header)) for one in rates):
        return meanings
    return [
        replace(one, role="ignore")
        if one in rates and _OF_A_PHASE.search(name := normal(one.header)) and name not in said
        else one
        for one in meanings
    ]


def _without_parts_of_several(meanings: list[Meaning], said: set[str]) -> list[Meaning]:
    """Leaves out times of communication and the like beside those of two wholes or more."""
    timed = [one for one in meanings if one.role in TIMES]
    if len([one for one in timed if _WHOLE.search(normal(one.header))]) < _SEVERAL:
        return meanings
    return [
        replace(one, role="ignore")
        if one in timed
        and _OF_A_PART.search(name := normal(one.header))
        and not _WHOLE.search(name)
        and name not in said
        else one
        for one in meanings
    ]


def _whole(meanings: Sequence[Meaning]) -> int | None:
    """The place of the only time, or of the only one that says so; None beside rates."""
    measured = [place for place, one in enumerate(meanings) if one.role in MEASURED]
    if not measured or any(meanings[place].role not in (*TIMES, *OF_STEPS) for place in measured):
        return None
    named = [place for place in measured if _WHOLE.search(normal(meanings[place].header))]
    found = named if len(measured) > 1 else measured
    return found[0] if len(found) == 1 and meanings[found[0]].role != "steps_per_s" else None


def _part(meaning: Meaning, raw: RawTable, place: int, said: set[str]) -> Meaning | None:
    """The column as a time, if its unit or its header says that it is one."""
    name, cells = normal(meaning.header), raw.cells(place)
    if name in said or meaning.role not in _FREE or _NO_PART.search(name) or _WHOLE.search(name) or not cells:
        return None
    if SPREAD.search(name) or (never_a_label(meaning.header) and not are_times(cells)):
        return None
    if None in _seconds(raw, place, "") or (meaning.role in TEXTS and _repeat(cells)):
        return None
    own = in_brackets(meaning)
    if (
        own.role in TIMES
        or meaning.role in (*TIMES, "step_time_s")
        or are_times(cells)
        or re.search(r"\btime\b", name)
    ):
        return own
    return None


def _repeat(cells: Sequence[str]) -> bool:
    """Whether each of several texts is there more than once, as the names of series are: `5s` for four devices."""
    texts = list(map(plain, cells))
    return len(set(texts)) > 1 and all(texts.count(text) > 1 for text in texts)


def _seconds(raw: RawTable, place: int, unit: str) -> list[float | None]:
    """The times of a column in seconds, by the units of its cells or of its header; None for other cells."""
    result: list[float | None] = []
    for _, row in raw.rows:
        cell = row[place] if place < len(row) else ""
        try:
            duration = read_duration(plain(cell))
            factor = SECONDS.get(unit_of_time(cell) or unit, 1.0)
            result.append(duration.value if duration else read_cell(cell).printed.value * factor)
        except ValueError:
            result.append(None)
    return result
