"""Baselines of printed ratios that a table does not have."""

from __future__ import annotations

from collections.abc import Sequence

from scalestudy.analyse.published.held import FEWEST, ROW, Held
from scalestudy.analyse.published.table import Table, limits_of, ratio
from scalestudy.analyse.statistics.intervals import Interval


def common_baseline(held: Held) -> Interval | None:
    """Returns the throughput that all printed speedups are relative to, if they share one that is not printed.

    It is wider than a single ratio's: each speedup allows a range, and the result is what they have in common.
    """
    known = [pair for pair in held.pairs if held.row is None or pair[0].row.gpus != held.row.gpus]
    if len(known) < FEWEST or len(held.outside) < len(known):
        return None
    implied = [ratio(scale.throughput, limits_of(printed)) for scale, printed, _ in known if printed.low > 0]
    return _in_common(implied) if len(implied) == len(known) else None


def common_unit(held: Held) -> Interval | None:
    """Returns the throughput of a device that all printed efficiencies are relative to, if none fits the table."""
    if len(held.pairs) < FEWEST or len(held.outside) < len(held.pairs):
        return None
    implied = [
        ratio(scale.throughput, limits_of(printed)).scaled(1 / scale.row.gpus)
        for scale, printed, _ in held.pairs
        if printed.low > 0
    ]
    return _in_common(implied) if len(implied) == len(held.pairs) else None


def _in_common(ranges: Sequence[Interval]) -> Interval | None:
    """The values that all ranges allow; None if there are none."""
    low, high = max(one.low for one in ranges), min(one.high for one in ranges)
    return Interval((low + high) / 2, low, high) if low <= high else None


def of_another(held: Held, table: Table) -> float | None:
    """Returns the printed speedup of one device if it is not 1, and if most of the others do not follow either.

    held: against the smallest scale, since another row would be what they are relative to.
    """
    if held.kind == ROW:
        return None
    alone = [printed for scale, printed, _ in held.outside if scale.row is table.base and scale.row.gpus == 1]
    return alone[0].value if alone and 2 * len(held.outside) > len(held.pairs) else None
