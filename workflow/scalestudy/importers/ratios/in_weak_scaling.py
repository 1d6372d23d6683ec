"""Ratios of times in weak scaling that a column calls speedups: they are efficiencies, since the work grows."""

from __future__ import annotations

from dataclasses import replace

from scalestudy.importers.published import RATES, TIMES, PublishedRow, PublishedTable

_HARDLY_ABOVE = 1.05
"""A ratio of times up to this may be the efficiency of weak scaling. Rounding and noise are below it."""
_FEWEST = 2
"""Rows beside that of the baseline that show what the ratios are."""


def with_ratios_of_weak_times(table: PublishedTable) -> PublishedTable:
    """Return a table of weak scaling whose printed speedups are left open if none is above 1.

    The numbers then show whether they are speedups or efficiencies. A table of throughputs is returned as it is,
    and so is one with efficiencies beside the speedups.
    """
    roles = {one.role for one in table.columns}
    timed = bool(roles & {*TIMES}) and not roles & {*RATES}
    if table.scaling != "weak" or not timed or "printed_efficiency" in roles:
        return table
    fewest = min(row.gpus for row in table.rows)
    known = [value for row in table.rows if row.gpus > fewest and (value := row.number("printed_speedup"))]
    if len(known) < _FEWEST or max(known) > _HARDLY_ABOVE:
        return table
    columns = tuple(
        replace(one, role="scaling_ratio") if one.role == "printed_speedup" else one for one in table.columns
    )
    return replace(table, columns=columns, rows=tuple(map(_left_open, table.rows)))


def _left_open(row: PublishedRow) -> PublishedRow:
    """A row whose printed speedup may be an efficiency."""
    return row.having(scaling_ratio=row.printed_speedup, printed_speedup=None) if row.printed_speedup else row
