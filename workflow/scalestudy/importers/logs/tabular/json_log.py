"""A log of JSON: a line or an item of an array per row, such as an export of Weights & Biases, or NVIDIA's
DLLogger.

DLLogger's JSONStreamBackend writes `DLLL {"timestamp": "...", "elapsedtime": "...", "datetime": "...", "type":
"LOG", "step": ..., "data": {...}}`; `step` is a number, a list such as [epoch, iteration], or a text such as
PARAMETER or () for a summary. Inner objects are read as columns with a slash in their name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from scalestudy.errors import UserError
from scalestudy.importers.logs.model import Facts, Given, Log
from scalestudy.importers.logs.tabular.columns import Columns
from scalestudy.importers.logs.tabular.json_stream import json_lines, members
from scalestudy.importers.logs.tabular.table import flat, logs_of

KIND, DLLOGGER, WANDB = "JSON lines log", "DLLogger JSON log", "JSON lines of Weights & Biases"
ARRAY = "JSON array of rows"
PREFIX = b"DLLL "
STEP_TIME = "step time (s)"
LOOKED_AT = 200
"""Rows whose names are the columns: the first ones may have fewer."""
_PARAMETERS = {
    "devices": ("num_gpus", "n_gpu", "gpus", "world_size", "num_devices"),
    "global_batch": ("global_batch_size", "total_batch_size", "train_global_batch_size"),
}


def recognise(head: bytes) -> str:
    """Return the kind of the file; '' if its first line is no object, and the file is no array of objects."""
    if re.match(rb"\s*\[\s*\{", head):
        return ARRAY
    first = head.lstrip().split(b"\n", 1)[0].strip()
    if first.startswith(PREFIX):
        return DLLOGGER
    if not (first.startswith(b"{") and first.endswith(b"}")):
        return ""
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        return ""
    return WANDB if {"_step", "_timestamp", "_runtime"} & set(row) else KIND


def read(path: Path, given: Given, *, kind: str = KIND) -> list[Log]:
    """Return the runs. Raises UserError that names the line of a row that is no object."""
    said: dict[str, Any] = {}
    units: dict[str, str] = {}
    rows = _of_dllogger(path, said, units) if kind == DLLOGGER else json_lines(path)
    if kind == ARRAY:
        rows = _of_array(path)
    found: Iterator[tuple[int, dict[str, Any]]] = ((number, dict(flat(row))) for number, row in rows)
    first = [row for _, row in zip(range(LOOKED_AT), found, strict=False)]
    if not first:
        raise UserError(f"{path}: no row with a step")
    names = list(dict.fromkeys(name for _, row in first for name in row))
    if units:
        first = [
            (number, {_with_unit(name, units): value for name, value in row.items()}) for number, row in first
        ]
        found = (
            (number, {_with_unit(name, units): value for name, value in row.items()}) for number, row in found
        )
        names = [_with_unit(name, units) for name in names]
    if {"time", "data_time"} <= set(names) and "step_time" not in names:  # MMCV, MMEngine and Detectron2: seconds
        found = _of_epochs((number, _renamed(row)) for number, row in chain(first, found))
        first = list(islice(found, LOOKED_AT))
        names = [STEP_TIME if name == "time" else name for name in names]
    facts: dict[str, Any] = {field: _whole(said, known) for field, known in _PARAMETERS.items()}
    return logs_of(kind, Columns.of(path, names, given), chain(first, found), facts=Facts(**facts))


def _renamed(row: dict[str, Any]) -> dict[str, Any]:
    """A row of MMEngine or Detectron2 with a name for its time; rows of a validation have none."""
    timed = row.get("mode") in (None, "train")
    return {STEP_TIME if name == "time" and timed else name: value for name, value in row.items()}


def _of_epochs(rows: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows whose `iter` counts on where it is the same in each epoch, as with a row per epoch."""
    done, last = 0, (0, 0)
    for number, row in rows:
        epoch, step = row.get("epoch"), row.get("iter")
        if isinstance(epoch, int) and isinstance(step, int) and row.get("mode") in (None, "train"):
            done += step * (epoch - last[0]) if step == last[1] and epoch > last[0] else 0
            last = (epoch, step)
            row = row | {"iter": done + step}
        yield number, row


def _of_array(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file that is one array, as pandas writes records."""
    for _, line, row in members(path, ""):
        if not isinstance(row, dict):
            raise UserError(f"{path}, line {line}: not a JSON object")
        yield line, row


def _of_dllogger(path: Path, said: dict[str, Any], units: dict[str, str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows with a step number; parameters and units of metrics are collected."""
    for number, row in json_lines(path, prefix=PREFIX):
        step, data = row.get("step"), row.get("data")
        if row.get("type") == "METADATA":
            unit = (row.get("metadata") or {}).get("unit")
            if unit:
                units[str(row.get("metric"))] = str(unit)
            continue
        if not isinstance(data, dict):
            continue
        if step == "PARAMETER":
            said.update(flat(data))
            continue
        numbers = [one for one in (step if isinstance(step, list) else [step]) if isinstance(one, (int, float))]
        if not numbers:
            continue  # a summary
        yield number, {"step": numbers[-1], "timestamp": row.get("timestamp"), **data}


def _with_unit(name: str, units: dict[str, str]) -> str:
    unit = units.get(name)
    return f"{name} ({unit})" if unit and "(" not in name else name


def _whole(said: dict[str, Any], names: tuple[str, ...]) -> int | None:
    for name, value in said.items():
        if name.rpartition("/")[2].lower() in names and str(value).isdigit() and int(value) > 0:
            return int(value)
    return None
