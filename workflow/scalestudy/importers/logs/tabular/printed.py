"""Whether a table has a row per number of devices, as papers print it, or a row per step, as logs have."""

from __future__ import annotations

from dataclasses import replace

from scalestudy.importers.cells.together import with_ratios
from scalestudy.importers.columns.meanings import columns_of
from scalestudy.importers.logs.quantities import meaning_of
from scalestudy.importers.markup.piped import is_rule
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.raw import RawTable
from scalestudy.importers.shape.upright import upright
from scalestudy.importers.tables import find_tables

OF_LOGS = ("step", "clock_s", "work", "loss", "rank", "run")
"""Quantities that only a log has."""
MOST_COLUMNS, MOST_ROWS = 200, 50


def shows_scaling(text: str) -> bool:
    """Return whether a text has a table with devices and a measurement.

    A table with delimiters has nothing that only a log has; one in Markdown, HTML or a grid is no log anyway.
    """
    found, markup = find_tables(text), has_markup(text)
    few = [table for table in found if len(table.header) <= MOST_COLUMNS]
    return any(_has_scaling(table) and (markup or not _is_log(table)) for table in few)


def has_markup(text: str) -> bool:
    """Return whether a text has a table in Markdown or HTML."""
    return "<table" in text.lower() or any("|" in line and is_rule(line) for line in text.splitlines())


def _is_log(table: RawTable) -> bool:
    known = [meaning for header in table.header if (meaning := meaning_of(header))]
    return any(meaning.quantity in OF_LOGS for meaning in known)


def _has_scaling(table: RawTable) -> bool:
    few = upright(with_ratios(replace(table, rows=table.rows[:MOST_ROWS])))
    roles = {meaning.role for meaning in columns_of(few, {})}
    return bool(roles & {"gpus", "nodes"}) and bool(roles & {*MEASURED, *STATED})
