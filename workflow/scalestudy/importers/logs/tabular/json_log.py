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
from scalestudy.importers.logs.quantities import meaning_of
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

_OF_OTHER_WORK = re.compile(
    r"(?<![a-z])(?:val|valid|validation|eval|evaluation|test|infer|inference|predict|compute|data|dataloader|best|max"
    r"|min|peak)(?![a-z])"
)
"""In the name of a throughput that is not that of all work of a training."""


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
    remarks = []
    if rated := _by_unit(names, units):
        remarks = [f"`{rated}` is read as a throughput, by its unit"]
        total = "total " if "total" in rated.lower() else ""
        renamed = {rated: f"{total}throughput ({units[rated.rpartition(' (')[0]]})"}
        found = _with_names(chain(first, found), renamed)
        first = list(islice(found, LOOKED_AT))
        names = [renamed.get(name, name) for name in names]
    facts: dict[str, Any] = {field: _whole(said, known) for field, known in _PARAMETERS.items()}
    logs = logs_of(kind, Columns.of(path, names, given), chain(first, found), facts=Facts(**facts))
    logs[0].remarks[:0] = remarks
    return logs


def _with_names(
    rows: Iterable[tuple[int, dict[str, Any]]], names: dict[str, str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows with other names of some columns."""
    for number, row in rows:
        yield number, {names.get(name, name): value for name, value in row.items()}


def _by_unit(names: list[str], units: dict[str, str]) -> str:
    """The column of a training that is a throughput by its unit alone, such as `train.total_ips (images/s)`.

    '' if there is none, or if another column is known to be a throughput or a step time.
    """
    known = [meaning_of(name) for name in names]
    if any(one and one.quantity in ("step_time_s", "work_per_s") for one in known):
        return ""
    rates = []
    for metric, unit in units.items():
        meaning = meaning_of(f"throughput ({unit})")
        name = _with_unit(metric, units)
        if meaning and meaning.unit and name in names and not _OF_OTHER_WORK.search(metric.lower()):
            rates.append(name)
    return max(rates, key=lambda name: "total" in name.lower(), default="")


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
    """Rows with a step number; parameters and units of metrics are collected.

    A row whose step has fewer numbers than another one's is the summary of an epoch.
    """
    longest = 1
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
        if len(numbers) < longest:
            continue  # a summary
        longest = len(numbers)
        yield number, {"step": numbers[-1], "timestamp": row.get("timestamp"), **data}


def _with_unit(name: str, units: dict[str, str]) -> str:
    unit = units.get(name)
    return f"{name} ({unit})" if unit and "(" not in name else name


def _whole(said: dict[str, Any], names: tuple[str, ...]) -> int | None:
    for name, value in said.items():
        if name.rpartition("/")[2].lower() in names and str(value).isdigit() and int(value) > 0:
            return int(value)
    return None
