"""Turns tables with a row per measurement, or a row per number of devices, into one column of each."""

from __future__ import annotations

import re
from dataclasses import replace

from scalestudy.importers.cells import plain
from scalestudy.importers.counts import read_count
from scalestudy.importers.headers import TEXTS, meaning_of, normal
from scalestudy.importers.published import MEASURED, STATED
from scalestudy.importers.quantities import known_role
from scalestudy.importers.raw import RawTable
from scalestudy.importers.terms import DEVICE, HARDWARE

_MOST_QUANTITIES = 20
_METRIC = re.compile(r"(?:metric|measure(?:ment)?|quantity|kpi|variable|indicator)s?(?: ?name)?")
_VALUE = re.compile(r"(?:metric |measured )?(?:values?|results?)|measured")

_NAMES_DEVICES = re.compile(rf"(?i)\b(?:{DEVICE}|{HARDWARE})")


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


def with_devices_across(table: RawTable) -> RawTable:
    """Return a table with a row per model, of one with columns of models and rows of devices and their ratio.

    `1 GPU`, `8 GPUs` and `Efficiency` below each other become columns.
    """
    first = [row[0] if row else "" for _, row in table.rows]
    devices = {count for name in first if (count := _devices(name))}
    ratios = [name for name in first if meaning_of(name).role in STATED]
    known = all(_devices(name) or name in ratios for name in first)
    labels = all(meaning_of(name).role in ("ignore", *TEXTS) for name in table.header[1:])
    whole = all(len(row) == len(table.header) for _, row in table.rows)
    if len(devices) < 2 or not ratios or not (known and labels and whole):
        return table
    columns = zip(*(row for _, row in table.rows), strict=True)
    next(columns)
    rows = tuple((table.line, (name, *cells)) for name, cells in zip(table.header[1:], columns, strict=True))
    return replace(table, header=(table.header[0] or "setup", *first), rows=rows)


def _devices(name: str) -> int:
    """The devices of a label such as `8 GPUs (img/s)`; 0 for any other."""
    try:
        return read_count(name).gpus if _NAMES_DEVICES.search(plain(name)) else 0
    except ValueError:
        return 0
