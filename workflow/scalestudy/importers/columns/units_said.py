"""The unit of measurements whose header and cells have none, if the text beside the table states one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from scalestudy.importers.headers.meaning import Meaning, normal
from scalestudy.importers.headers.terms import WORK
from scalestudy.importers.headers.units import clock_of, factor_alone
from scalestudy.importers.headers.units_in_words import only_rate, only_time
from scalestudy.importers.numbers.durations import is_duration_in_words
from scalestudy.importers.numbers.printed import plain
from scalestudy.importers.published import CLOCKED, RATES
from scalestudy.importers.quantities import quantity_of, unit_of_time
from scalestudy.importers.raw import RawTable

_OWN = re.compile(
    rf"/|\bper\b|\b\w+ps\b|flop|\b{WORK}\b|[(\[][^)\]]*(?:cycles|ticks|norm|rel|log|%|a\.?u)[^(\[]*[)\]]"
)
"""Part of a header that has a unit of its own, known here or not."""
_WITH_FACTOR = re.compile(r"\d ?[kKMGB]\b")


def units_said(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Return the columns, with the unit that the text states for those that have none: `Times are in ms`."""
    return _of_rates(_of_times(meanings, raw, said), raw, said)


def _of_rates(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Gives rates their unit and its factor, and says that they are of all devices if the text does."""
    places = [at for at, one in enumerate(meanings) if one.role in RATES and _lacks_unit(one, raw.cells(at), said)]
    rate = only_rate(raw.said) if places else None
    if rate is None:
        return meanings
    per = rate.per if rate.per == "all" else ""
    result = list(meanings)
    for at in places:
        own = factor_alone(normal(meanings[at].header))
        counted = any(map(_WITH_FACTOR.search, map(plain, raw.cells(at))))  # 12k
        factor = 1.0 if counted else rate.factor if own == 1 else own
        result[at] = replace(meanings[at], per=meanings[at].per or per, unit=rate.unit, factor=factor)
    return result


def _of_times(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Gives times their unit. That of steps is none of whole runs."""
    result = list(meanings)
    for at, one in enumerate(meanings):
        if (
            one.role in CLOCKED
            and _lacks_unit(one, raw.cells(at), said)
            and (unit := only_time(raw.said, one.role))
        ):
            result[at] = replace(one, unit=unit)
    return result


def _lacks_unit(meaning: Meaning, cells: Sequence[str], said: set[str]) -> bool:
    """Whether neither the header of a measurement nor one of its cells has a unit."""
    name = normal(meaning.header)
    if meaning.unit or meaning.factor != 1 or name in said or _OWN.search(name) or clock_of(meaning.header):
        return False
    return not any(quantity_of(cell) or unit_of_time(cell) or is_duration_in_words(cell) for cell in cells)
