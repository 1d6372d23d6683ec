"""Baselines of printed ratios that are in another series of the table, or in another of its columns."""

from __future__ import annotations

from dataclasses import replace

from scalestudy.analyse.published.bases import speedups_held
from scalestudy.analyse.published.held import ROW, overlap
from scalestudy.analyse.published.series import KINDS_OF_SETUP, Series, series_of
from scalestudy.analyse.published.settle import Settled, settle
from scalestudy.analyse.published.table import rate_of, ratio, recompute
from scalestudy.importers.published import PublishedFile, PublishedRow, PublishedTable


def with_the_row_of_its_ratios(series: Series, settled: Settled, source: PublishedTable) -> Series:
    """Return the series with the row on fewer devices in front that its printed speedups are relative to.

    The row may differ from the others in a label, but not in what is trained, how, and on what.
    """
    first = min(series.rows, key=lambda row: row.gpus)
    stated = first.printed_speedup
    if stated is None or stated.value == 1 or first.gpus == 1:
        return series
    others = [row for one in settled.series if one is not series for row in one.rows if row.gpus < first.gpus]
    alike = [row for row in others if all(row.label(kind) == first.label(kind) for kind in KINDS_OF_SETUP)]
    if len(series.rows) == 1:
        found = _only_one(first, alike)
    else:
        held = speedups_held(recompute(series.rows, source.rows), alike, source)
        found = held.row if held.kind == ROW and not held.outside and held.pairs else None
    if found is None or found.gpus >= first.gpus:
        return series
    return replace(series, rows=(found, *series.rows))


def _only_one(row: PublishedRow, others: list[PublishedRow]) -> PublishedRow | None:
    """The only row that differs in one label, if the printed speedup follows from it."""
    near = [
        other
        for other in others
        if sum(row.label(name) != other.label(name) for name in {**row.labels, **other.labels}) == 1
    ]
    stated, rate = row.printed_speedup, rate_of(row)
    if len(near) != 1 or stated is None or not rate_of(near[0]).low > 0:
        return None
    return near[0] if overlap(stated, ratio(rate, rate_of(near[0]))) else None


def first_beside(settled: Settled, table: PublishedTable, file: PublishedFile) -> list[PublishedRow]:
    """Return the rows on the fewest devices of the other columns and cases of a table, in the same form."""
    others = [(one, series_of(one)) for one in file.tables if one.line == table.line and one is not table]
    others += [(table, [case]) for case in series_of(table)] if table.by_case else []
    known = [one for other, series in others if isinstance(one := settle(other, series), Settled)]
    series = [one for other in known if other.rate == settled.rate for one in other.series]
    return [min(one.rows, key=lambda row: row.gpus) for one in series if one.rows]
