"""What other columns of a table say of one that leaves open what is constant, or whose its rate is."""

from __future__ import annotations

from scalestudy.analyse.published.growth import throughput_grows
from scalestudy.analyse.published.series import series_of
from scalestudy.analyse.published.settle import STRONG, TOGETHER, TOTAL, WEAK, Settled, settle
from scalestudy.importers.published import PublishedFile, PublishedTable


def answer_of_others(table: PublishedTable, file: PublishedFile, kind: str) -> str:
    """Return the reading that other columns of the same table have, which are of the same runs; '' if none has.

    kind: the role of the column that leaves it open. Another rate counts if it grows and has the same unit.
    """
    others = [one for one in file.tables if one.line == table.line and one is not table]
    if kind == "throughput":
        others = [one for one in others if _unit_of(one) == _unit_of(table)]
    known = [one for other in others if isinstance(one := settle(other, series_of(other)), Settled)]
    if kind == "throughput":
        return TOGETHER if any(one.whose == TOGETHER and throughput_grows(one.series) for one in known) else ""
    return next((one.whose for one in known if one.whose in (TOTAL, WEAK, STRONG)), "")


def _unit_of(table: PublishedTable) -> str | None:
    """The unit of the rate of a table; None without a rate."""
    column = table.column("throughput")
    return None if column is None else column.unit or column.shown
