"""Checks what the sentences beside a table say of its speedups and efficiencies against its own numbers.

A sentence may also be of another run. So it only has a remark if no two rows of the table give its number, and the
scaling on the same devices is near to it, as if one of the two had been changed without the other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from scalestudy.analyse.published.held import overlap
from scalestudy.analyse.published.settle import Settled
from scalestudy.analyse.published.table import Table, limits_of, rate_of, ratio
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.remark import Remark, apart
from scalestudy.importers.published import LEAST, Claim, PublishedTable

_MOST_ROWS = 500
"""Rows of a table whose sentences are checked: all pairs of them may explain a number."""
_NEAR = 1.25
"""Ratio of a sentence's number to that of the table up to which both may be of the same run."""


@dataclass(frozen=True)
class Case:
    """A series that was recomputed, and the table that it is from."""

    table: Table
    settled: Settled
    source: PublishedTable


def sentence_remarks(cases: Sequence[Case]) -> Iterator[tuple[int, Remark]]:
    """Return remarks on sentences that a table contradicts, each with the place of the case nearest to it."""
    for line in dict.fromkeys(case.source.line for case in cases):
        mine = {at: case for at, case in enumerate(cases) if case.source.line == line}
        for claim in dict.fromkeys(claim for case in mine.values() for claim in case.source.claims):
            rows = sum(len(case.table.scales) for case in mine.values())
            if rows > _MOST_ROWS or any(_explains(claim, one) for one in _ratios(claim, list(mine.values()))):
                continue
            near = [(_distance(claim, one), at, one) for at, case in mine.items() for one in _own(claim, case)]
            if near and (nearest := min(near, key=lambda one: one[0]))[0] < _NEAR:
                yield nearest[1], _remark(claim, nearest[2], mine[nearest[1]])


def _own(claim: Claim, case: Case) -> list[Interval]:
    """What the recomputed scaling of a series is on the devices of a claim."""
    scales = [one for one in case.table.scales if one.row.gpus == claim.gpus and one.row is not case.table.base]
    found = [one.efficiency if claim.of_efficiency else one.speedup for one in scales]
    return [one for one in found if one.value > 0 and not (claim.bound == LEAST and one.value > claim.ratio.value)]


def _distance(claim: Claim, computed: Interval) -> float:
    """The ratio, at least 1, of a claim and a computed number."""
    over = claim.ratio.value / computed.value
    return max(over, 1 / over) if over > 0 else float("inf")


def _ratios(claim: Claim, cases: Sequence[Case]) -> Iterator[Interval]:
    """All ratios that rows of a table can give on the devices of a claim, also those of unlike rows.

    An efficiency is relative to the fewest devices, a speedup may be over any row.
    """
    rows = [row for case in cases for one in case.settled.series for row in one.rows]
    rows += [row for case in cases for row in case.settled.outside]
    least = min((row.gpus for row in rows if row.gpus), default=0)
    fewest = [row for row in rows if row.gpus == least]
    for row in (row for row in rows if row.gpus == claim.gpus):
        printed = row.printed_efficiency if claim.of_efficiency else row.printed_speedup
        if printed is not None:
            yield limits_of(printed)
        for other in fewest if claim.of_efficiency else rows:
            over = ratio(rate_of(row), rate_of(other))
            yield over.scaled(least / row.gpus) if claim.of_efficiency else over
    for case in cases:
        yield from _own(claim, case)


def _explains(claim: Claim, computed: Interval) -> bool:
    return overlap(claim.ratio, computed) or (claim.bound == LEAST and computed.high >= claim.ratio.low)


def _remark(claim: Claim, computed: Interval, case: Case) -> Remark:
    factor, unit, digits = (100, " %", 1) if claim.of_efficiency else (1, "x", 2)
    given = apart(factor * computed.value, factor * claim.ratio.value, digits)
    text = f'the text says "{claim.sentence}", but the {case.settled.given} give {given}{unit}'
    return Remark("sentence", claim.gpus, text)
