"""Whether a table has a row per number of devices, as papers print it, or a row per step, as logs have."""

from __future__ import annotations

from dataclasses import replace

from scalestudy.importers.columns import columns_of
from scalestudy.importers.layout import upright
from scalestudy.importers.logs.quantities import meaning_of
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.tables import RawTable

OF_LOGS = ("step", "clock_s", "work", "loss", "rank", "run")
"""Quantities that only a log has."""
MOST_COLUMNS, MOST_ROWS = 200, 50


def shows_scaling(table: RawTable) -> bool:
    """Return whether a table has devices and a measurement, and nothing that only a log has."""
    known = [meaning for header in table.header if (meaning := meaning_of(header))]
    if len(table.header) > MOST_COLUMNS or any(meaning.quantity in OF_LOGS for meaning in known):
        return False
    few = upright(replace(table, rows=table.rows[:MOST_ROWS]))
    roles = {meaning.role for meaning in columns_of(few, {})}
    return bool(roles & {"gpus", "nodes"}) and bool(roles & {*MEASURED, *STATED})
