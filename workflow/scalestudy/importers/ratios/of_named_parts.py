"""Speedups that name a part of the work, such as `Speedup (solve)` beside `Solve (s)` and `Total (s)`."""

from __future__ import annotations

from dataclasses import replace

from scalestudy.importers.headers.meaning import PART, Meaning, normal
from scalestudy.importers.published import RATES, TIMES
from scalestudy.importers.quantities import in_brackets
from scalestudy.importers.ratios.of_no_scaling import are_close
from scalestudy.importers.raw import RawTable

_FEWEST = 2
"""Speedups beside that of the baseline, of which half have to follow from the times of the part."""


def times_of_named_parts(meanings: list[Meaning], raw: RawTable, said: set[str]) -> list[Meaning]:
    """Read the time of a part that a speedup names beside that of the whole, if half of the speedups follow."""
    whole = [one for one in meanings if one.role in TIMES]
    if len(whole) != 1 or any(one.role in RATES for one in meanings):
        return meanings
    result = list(meanings)
    for place, one in enumerate(meanings):
        if one.role != "printed_speedup" or not one.rest:
            continue
        named = [at for at, part in enumerate(meanings) if _is_time_of(part, one.rest, said)]
        close = are_close(raw, place, named[0])[1:] if len(named) == 1 else []
        if len(close) >= _FEWEST and 2 * sum(close) >= len(close):
            own = in_brackets(meanings[named[0]])
            result[named[0]] = replace(own, role=whole[0].role, per=PART)
    return result


def _is_time_of(part: Meaning, name: str, said: set[str]) -> bool:
    """Whether a column that is not read has the name of a part and a unit of time."""
    free = part.role in ("ignore", "label") and normal(part.header) not in said
    return free and part.rest == name and in_brackets(part).role in TIMES
