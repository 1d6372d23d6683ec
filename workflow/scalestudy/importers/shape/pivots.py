"""Turns tables with a row per measurement, `metric` and `value`, into one column per quantity."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.headers.meaning import normal
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.quantities import known_role
from scalestudy.importers.raw import RawTable

_MOST_QUANTITIES = 20
_METRIC = re.compile(r"(?:metric|measure(?:ment)?|quantity|kpi|variable|indicator)s?(?: ?name)?")
_VALUE = re.compile(r"(?:metric |measured )?(?:values?|results?)|measured")


def pivoted(table: RawTable) -> RawTable:
    """Return a table with a row per quantity, `metric` and `value`, with a column per quantity."""
    names = [normal(name) for name in table.header]
    metric = next((place for place, name in enumerate(names) if _METRIC.fullmatch(name)), None)
    value = next((place for place, name in enumerate(names) if _VALUE.fullmatch(name)), None)
    if metric is None or value is None or any(len(row) != len(names) for _, row in table.rows):
        return table
    quantities = list(dict.fromkeys(row[metric] for _, row in table.rows))
    known = {name for name in quantities if known_role(name) in (*MEASURED, *STATED)}
    if not known or len(quantities) > _MOST_QUANTITIES:
        return table
    others = [place for place in range(len(names)) if place not in (metric, value)]
    rows: list[tuple[int, tuple[str, ...], dict[str, str]]] = []
    open_: dict[tuple[str, ...], dict[str, str]] = {}
    for line, row in table.rows:
        key = tuple(row[place] for place in others)
        if row[metric] in open_.setdefault(key, {row[metric]: ""}):
            open_[key] = {}  # a further measurement of the same setup
            rows.append((line, key, open_[key]))
        open_[key][row[metric]] = row[value]
    label = () if others else ("setup",)  # devices across are right of a label
    return replace(
        table,
        header=(*label, *(table.header[place] for place in others), *quantities),
        rows=tuple(
            (line, (*label, *key, *(found.get(name, "") for name in quantities))) for line, key, found in rows
        ),
    )
