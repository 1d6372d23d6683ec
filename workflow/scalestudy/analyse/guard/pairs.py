"""Alternating runs before and after a change: their order, the looks, and the changes within pairs of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, isnan, log, nan
from typing import Any, ClassVar, Literal

from scalestudy.analyse.guard.decide import Change, of_pairs
from scalestudy.analyse.guard.limits import QUANTITIES, Quantity
from scalestudy.analyse.statistics.intervals import Sample
from scalestudy.record.document import Document, Part, Real
from scalestudy.registry.codes import Guarded, Spoiled

LOOKS = 3
"""Number of looks: after a third, two thirds and all of the pairs."""
FEWEST = 4
"""Smallest number of pairs before the first look, and after leaving out disturbed pairs: the spread of fewer pairs
is hardly known."""
Values = Mapping[str, Any]
"""Columns of a run: a row of runs.csv with `epoch_time_s`."""


def after_first(pair: int) -> bool:
    """Whether the run after the change comes first in a pair, counted from 1: ABBA BAAB BAAB ABBA.

    A pair is reversed if the number of ones in its binary index is odd (Thue and Morse). A linear drift over time
    cancels in every two pairs, a quadratic drift in every four pairs.
    """
    return (pair - 1).bit_count() % 2 == 1


def looks_at(pairs: int) -> tuple[int, ...]:
    """Numbers of pairs after which there is a look: 4, 8, 12 of 12. All but the last are even."""
    shares = {2 * ceil(pairs * look / LOOKS / 2) for look in range(1, LOOKS)}
    return tuple(sorted({look for look in shares if FEWEST <= look < pairs} | {pairs}))


class Pair(Part):
    """Two consecutive runs, one before and one after the change."""

    point: str
    pair: int
    """Its number at this point, from 1."""
    first: Literal["before", "after"]
    before: str
    """Run id."""
    after: str
    """Run id."""
    worsening: dict[str, Real]
    """By quantity: how much worse it was after the change, as a logarithm of a ratio, or a difference of
    accuracies."""
    spoiled: tuple[str, ...] = ()
    """How a run of the pair was disturbed, as in the column `spoiled` of runs.csv."""


class CheckOfGuard(Part):
    """A quantity at a point, with its limit and the result. Changes are fractions, 0.03 for 3 %."""

    point: str
    quantity: str
    limit: float
    change: Real
    change_low: Real
    change_high: Real
    pairs: int
    answer: Guarded
    more_runs: Real
    """Further runs of each side that are needed to decide; null if it is decided, or no number is enough."""


class GuardFile(Document):
    """guard.json: every pair of a guard, and the decision."""

    made_by: ClassVar[str] = "scalestudy guard"
    schema_version: Literal[1] = 1
    scalestudy: str
    before: str
    """Description of the side before the change."""
    after: str
    looks: tuple[int, ...]
    """Numbers of pairs after which the guard tests."""
    answer: Guarded | None = None
    """null until there is a decision."""
    sentence: str = ""
    checks: tuple[CheckOfGuard, ...] = ()
    pairs: tuple[Pair, ...] = ()


def worsening(quantity: str, before: Values, after: Values) -> float:
    """How much worse a quantity is after the change, in one pair; nan if a run has no value of it."""
    of = QUANTITIES[quantity]
    for column in of.columns:
        values = [_value(launch, column, of) for launch in (before, after)]
        if not any(map(isnan, values)):
            return of.worse * (values[1] - values[0])
    return nan


def _value(launch: Values, column: str, of: Quantity) -> float:
    value = float(launch.get(column, nan))
    if not of.relative:
        return value
    return log(value) if value > 0 else nan


def spoiled_in(launches: Sequence[Values]) -> tuple[str, ...]:
    """How the runs of a pair were disturbed, by the host's own reports; without codes for nothing and unknown."""
    codes = [code for launch in launches for code in str(launch.get("spoiled", "")).split()]
    return tuple(dict.fromkeys(code for code in codes if code not in (Spoiled.NONE, Spoiled.UNKNOWN)))


def pairs_that_count(pairs: Sequence[Pair], point: str) -> list[Pair]:
    """The pairs of a point that count: disturbed pairs are left out if enough others remain."""
    of_point = [pair for pair in pairs if pair.point == point]
    clean = [pair for pair in of_point if not pair.spoiled]
    return clean if len(clean) >= FEWEST else of_point


def is_disturbed(pairs: Sequence[Pair], point: str) -> bool:
    """Whether more than half of the pairs that count at a point were disturbed."""
    counted = pairs_that_count(pairs, point)
    return 2 * sum(bool(pair.spoiled) for pair in counted) > len(counted)


def change_in(pairs: Sequence[Pair], point: str, quantity: str) -> Change:
    """The change over the pairs of a point that count; Student's t over pairs."""
    values = [pair.worsening[quantity] for pair in pairs_that_count(pairs, point)]
    return of_pairs(Sample([value for value in values if not isnan(value)]))
