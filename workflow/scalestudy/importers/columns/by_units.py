"""What columns are by the units of their cells, or by the units in their headers if nothing else is measured."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from scalestudy.importers.headers.meaning import (
    Meaning,
    is_utilization,
    meaning_of,
    never_a_label,
    normal,
    with_role,
)
from scalestudy.importers.headers.terms import DEVICE, IDEAL, NODE, OF_COMPUTING, SPREAD
from scalestudy.importers.numbers.printed import plain, read_cell, share
from scalestudy.importers.published import MEASURED, OF_STEPS, RATES, TIMES, UTILIZATION
from scalestudy.importers.quantities import are_times, most_are, of_a_step, quantity_of
from scalestudy.importers.raw import RawTable

_OF_ALL_STEPS = re.compile(r"(?:grand )?total|overall|whole|all|train(?:ing)?|epoch|full (?:run|epoch|training)")
"""Headers of times that are those of a training beside those of a step."""
_OF_EPOCHS = re.compile(r"total ?[(\[]\d+ epochs[)\]]")
_AS_LARGE = 3.0
"""Largest ratio of two measurements of one quantity beside each other."""
_BARE = re.compile(r"~?[\d.,]+(?:e\d+)?(?: ?\([^()]*\))?")
"""A number without a unit, perhaps with a remark."""
_DATA_RATE = re.compile(
    rf"(?:[a-z-]+ ){{0,3}}\(?[kmgt]i?b(?:ytes)?(?:/| per )s(?:ec|econd)?(?: ?(?:/|per) ?(?:{NODE}|{DEVICE}))?\)?"
    r"(?: \((?:iqr|range|min|max|std|\u00b1|[-+, ])+\))?"
)


def by_units(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Reads columns by the units of their cells: img/s is a throughput below any header.

    Times, and units in brackets in a header, count only if nothing else is measured.
    """
    nothing = all(meaning.role not in MEASURED for meaning in meanings)
    of_steps = {one.role for one in meanings} & {*MEASURED} <= {*OF_STEPS}
    used = [place for place, one in enumerate(meanings) if is_utilization(one.header) and one.role == "ignore"]
    result: list[Meaning] = []
    for place, meaning in enumerate(meanings):
        cells = raw.cells(place)
        named = _quantities(cells)
        name = normal(meaning.header)
        counted = never_a_label(meaning.header) and not (name == "epoch" and are_times(cells))
        never = counted or SPREAD.search(name) or re.match(rf"{IDEAL}\b", name)
        part = name.endswith(")") and OF_COMPUTING.search(name)
        if meaning.role == "ignore" and normal(meaning.header) not in said and not never and not part:
            most = max(named, key=named.count) if len(named) > len(cells) / 2 else ""
            own = meaning_of(most) if most else of_a_step(meaning, cells)
            shares = own.role in TIMES and most_are("efficiency", cells)  # `s`, a serial fraction in per cent
            own = replace(own, role="ignore") if shares else own
            whole = own.role in TIMES and bool(
                (of_steps and _OF_ALL_STEPS.fullmatch(name)) or _OF_EPOCHS.fullmatch(name)
            )
            own = replace(own, role="total_time_s") if whole else own
            if own.role in RATES or whole or (nothing and own.role != "ignore"):
                rest = meaning.rest or normal(meaning.header)
                meaning = replace(own, header=meaning.header, precisions=meaning.precisions, rest=rest)
        result.append(meaning)
    result = _with_those_beside(result, raw, said)
    nothing = all(meaning.role not in MEASURED for meaning in result)
    if nothing and len(used) == 1 and normal(meanings[used[0]].header) not in said and raw.cells(used[0]):
        return with_role(result, used[0], "throughput_per_gpu", per="gpu", unit="MFU")
    if nothing and (rates := [at for at, one in enumerate(result) if _is_data_rate(one, raw.cells(at), said)]):
        return [_as_data_rate(one) if at in rates else one for at, one in enumerate(result)]
    model = [place for place in used if not re.search("hfu|hardware", normal(meanings[place].header))]
    if len(model) == 1 and share(raw.cells(model[0]), read_cell) == 1:
        return with_role(result, model[0], UTILIZATION)
    return result


def _with_those_beside(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """The columns beside the only measurement whose unit is in one cell, if they have plain numbers as large.

    `294 ms/step | 310` above `176 | 158` are the steps of two programs.
    """
    own = [at for at, one in enumerate(meanings) if one.role in MEASURED]
    units = [cell for cell in raw.cells(own[0]) if quantity_of(cell)] if len(own) == 1 else []
    if len(units) != 1 or meaning_of(meanings[own[0]].header).role in MEASURED:
        return meanings
    result = list(meanings)
    for at, one in enumerate(meanings):
        name, cells = normal(one.header), raw.cells(at)
        other = never_a_label(one.header) or SPREAD.search(name) or not re.search("[a-z]", name)
        bare = len(cells) == len(raw.rows) > 1 and all(_BARE.fullmatch(plain(cell)) for cell in cells)
        if one.role == "ignore" and name not in said and bare and not other and _are_as_large(raw, own[0], at):
            result[at] = replace(meanings[own[0]], header=one.header, rest=name)
    return result


def _are_as_large(raw: RawTable, place: int, other: int) -> bool:
    """Whether the numbers of two columns are of one size in all rows."""
    for _, row in raw.rows:
        try:
            first, second = (read_cell(row[at]).printed.value for at in (place, other))
        except (ValueError, IndexError):
            return False
        if not 1 / _AS_LARGE < second / first < _AS_LARGE if first else True:
            return False
    return True


def _is_data_rate(meaning: Meaning, cells: Sequence[str], said: set[str]) -> bool:
    """Whether a column is of data per second, which is the throughput of a program if nothing else is measured."""
    name = normal(meaning.header)
    rated = _DATA_RATE.fullmatch(name) and not re.search("band|\\bbw\\b|memory|network|disk|link|bus", name)
    return bool(rated) and meaning.role == "ignore" and name not in said and share(cells, read_cell) > 0.5


def _as_data_rate(meaning: Meaning) -> Meaning:
    return replace(meaning, role="throughput_per_gpu" if meaning.per == "gpu" else "throughput")


def _quantities(cells: Sequence[str]) -> list[str]:
    """What the units of cells say; a unit in the first or the last cell alone is that of the plain numbers."""
    named = [found for cell in cells if (found := quantity_of(cell)) not in ("", "efficiency", "speedup")]
    numbers = all(_BARE.fullmatch(plain(cell)) for cell in cells if not quantity_of(cell))
    alone = len(named) == 1 and named[0] in (quantity_of(cells[0]), quantity_of(cells[-1])) and numbers
    return named * len(cells) if alone else named
