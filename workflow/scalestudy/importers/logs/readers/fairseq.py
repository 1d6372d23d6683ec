"""fairseq's console log, in JSON (`... | INFO | train_inner | {"epoch": 1, ..., "wps": "5000"}`) or as text
(`| epoch 001:  100 / 2000 loss=9.2, ..., wps=5000, ups=0.3, wpb=16384, bsz=8, num_updates=100`).

`wps` is the words (tokens) per second of all devices, `wpb` the words and `bsz` the sentences of a step, `ups` the
steps per second, all means since the last line. Lines of `train_inner` come every `--log-interval` steps, those of
`train` at the end of an epoch, with names that begin with `train_`; these are read where there are no others.

Before version 0.9 `wps` and `ups` were means since the start, and rows had no `train_inner`. Then the time between
rows counts, from `wall`: the seconds since the start.
"""

from __future__ import annotations

import json
import re
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.logs.lines import clock_of, numbered_lines, real_or_nan
from scalestudy.importers.logs.model import Facts, Given, Log, Rows
from scalestudy.importers.logs.steps.windows import TOO_LONG

KIND = "fairseq console log"
MARK = re.compile(rb"\| train(?:_inner)? \| \{\"epoch\": |epoch \d+:? .*\bwps=\d.*\bwpb=\d")
_TEXT = re.compile(rb"epoch (\d+):? +(\d+) / (\d+) (.*\bwps=.*)")
_PAIR = re.compile(rb"\b(loss|wps|wpb|num_updates|wall)=(\d[\d.]*)")
_ROW = re.compile(rb"\| train(_inner)? \| (\{.*\})")
_STAMP = re.compile(rb"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)")
_DEVICES = re.compile(rb"training on (\d{1,7}) devices")


def read(path: Path, given: Given) -> list[Log]:
    """Return the run of a log. Raises UserError for a line whose JSON is damaged, or if there is no row."""
    inner, epochs = Rows(path), Rows(path)
    devices, walls = None, list[float]()
    for number, line in numbered_lines(path):
        found = _ROW.search(line) if b" | {" in line else _TEXT.search(line) if b" wps=" in line else None
        if found:
            is_text = found.re is _TEXT
            values = _of_text(found) if is_text else _values(path, number, found[2])
            rows = inner if is_text or found[1] else epochs
            stamp = _STAMP.search(line)
            if is_text and b"train_inner" not in line:
                walls.append(values.get("wall", nan))
            rows.add(
                number,
                values.get("num_updates", nan),
                step_time_s=values["wpb"] / values["wps"] if values.get("wps", 0) > 0 and "wpb" in values else nan,
                work_per_s=values.get("wps", nan),
                clock_s=clock_of(*stamp.groups()) if stamp else nan,
                loss=values.get("loss", nan),
            )
        elif b"training on" in line and (said := _DEVICES.search(line)):
            devices = int(said[1]) or None
    rows = inner if len(inner) else epochs
    if not len(rows):
        raise UserError(f"{path}: no complete line of {KIND}")
    columns = rows.columns()
    since_start = len(walls) == len(inner) > 1 and bool((np.diff(walls) > 0).all())
    if since_start:
        columns = _between(columns, np.array(walls))
    log = Log(
        path=path,
        kind=KIND,
        columns=columns,
        facts=Facts(devices=devices),
        unit="tokens",
        per="all",
    )
    log.remarks.append("a step has a different number of tokens each time; the median row counts (wpb)")
    if since_start:
        log.remarks.append("wps is a mean since the start: the time between rows counts, from `wall`")
    if rows is epochs:
        log.remarks.append("each row is the mean of an epoch, with its start")
    return [log]


def _between(columns: dict[str, np.ndarray], walls: np.ndarray) -> dict[str, np.ndarray]:
    """The columns with the step times between rows. Rows with much else in between, as a validation, have none."""
    steps = np.diff(columns["step"], prepend=nan)
    time_s = np.where(steps > 0, np.diff(walls, prepend=nan) / steps, nan)
    time_s = np.where(time_s > TOO_LONG * np.nanmedian(time_s), nan, time_s)
    words = columns["work_per_s"] * columns["step_time_s"]
    return columns | {"step_time_s": time_s, "work_per_s": words / time_s}


def _of_text(found: re.Match[bytes]) -> dict[str, float]:
    """The numbers of a row as text; early versions print no num_updates."""
    done = (int(found[1]) - 1) * int(found[3]) + int(found[2])
    return {"num_updates": float(done)} | {
        name.decode(): real_or_nan(value) for name, value in _PAIR.findall(found[4])
    }


def _values(path: Path, number: int, text: bytes) -> dict[str, float]:
    """The numbers of a row, without the prefix of their names."""
    try:
        row: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}, line {number}: not a complete line of {KIND} ({error})") from None
    return {
        name.removeprefix("train_"): real_or_nan(str(value).encode())
        for name, value in row.items()
        if name != "train_wall"
    }
