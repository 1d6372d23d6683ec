"""MLPerf's training log: lines `:::MLLOG {...}` as mlperf_logging prints them (mllog, since v0.7).

Each has `time_ms`, `event_type`, `key`, `value` and `metadata`. Step times come from `tracked_stats` with
`throughput` (samples per second of all devices) or a step time, else from the time between rows with the samples
done (`samples_count` of block_start and block_stop). The time from a block_stop to the next block_start is that of
an evaluation or a pause, and left out. A log may be prefixed by the rank, such as `0: `.
"""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.logs.model import Facts, Given, Log, Rows
from scalestudy.importers.logs.tabular.json_stream import json_lines

KIND = "MLPerf log"
PREFIX = b":::MLLOG "
STEP_TIMES = ("train_step_time", "step_time", "train_step_timing")
DONE = ("samples_count", "step", "epoch_num")
"""Members of metadata with the samples done, by year of the benchmark."""
LEAST_SAID_S = 0.5
"""Seconds between blocks from which a remark says that they are left out."""
DEVICES = ("number_of_ranks", "num_gpus", "world_size")


def read(path: Path, given: Given) -> list[Log]:
    """Return the run. Raises UserError if the file has two runs, or nothing that a step time follows from."""
    rows, said = Rows(path), dict[str, Any]()
    begun, ended, by_stats, counted, between_s = None, False, 0, True, 0.0
    marks: list[tuple[int, float, float, bool]] = []
    for number, event in json_lines(path, prefix=PREFIX):
        key, value, clock = event.get("key"), event.get("value"), event.get("time_ms")
        metadata: dict[str, Any] = event["metadata"] if isinstance(event.get("metadata"), dict) else {}
        if not isinstance(key, str) or not isinstance(clock, (int, float)):
            raise UserError(f"{path}, line {number}: an event without key or time_ms")
        if key == "run_start":
            if begun is not None and ended:
                raise UserError(
                    f"{path}, line {number}: a second run begins here; one log is one run: split the file"
                )
            begun = begun or number
            marks.append((number, clock * 1e-3, 0.0, False))
        elif key == "run_stop":
            ended = True
        elif key == "tracked_stats" and isinstance(value, dict):
            rate = _number(value.get("throughput"))
            time_s = next((_number(value[name]) for name in STEP_TIMES if name in value), nan)
            if rate == rate or time_s == time_s:
                by_stats += 1
                step = _step(metadata, said.get("global_batch_size"))
                counted &= step == step
                rows.add(number, step if counted else by_stats, time_s, rate, clock * 1e-3)
        elif key == "block_start":
            marks.append((number, clock * 1e-3, _number(metadata.get("samples_count")), True))
        elif key == "block_stop" and "samples_count" in metadata:
            marks.append((number, clock * 1e-3, _number(metadata["samples_count"]), False))
        elif not isinstance(value, (dict, list)):
            said.setdefault(key, value)
    batch = said.get("global_batch_size")
    if not by_stats:
        rows, between_s = _between(path, marks, batch)
    devices = next((said[name] for name in DEVICES if isinstance(said.get(name), int)), None)
    columns = rows.columns()
    if by_stats and not counted:
        columns["step"] = np.arange(1.0, by_stats + 1)
    log = Log(
        path=path,
        kind=KIND,
        columns=columns,
        facts=Facts(
            devices=devices,
            global_batch=batch if isinstance(batch, int) and batch > 0 else None,
            accumulation=_whole(said.get("gradient_accumulation_steps")),
        ),
        unit="samples",
        per="all",
    )
    if by_stats and not counted:
        log.each = "unknown"
        log.remarks.append(
            "rows of tracked_stats do not say how many steps they are a mean of; each counts as one"
        )
    if not by_stats and between_s >= LEAST_SAID_S:
        log.remarks.append(f"{between_s:.0f} s between blocks are left out, as of evaluations")
    for name in ("submission_benchmark", "submission_org", "submission_platform"):
        if said.get(name):
            log.remarks.append(f"{name}: {said[name]}")
    return [log]


def _between(path: Path, marks: list[tuple[int, float, float, bool]], batch: Any) -> tuple[Rows, float]:
    """(rows from the time between events with the samples done, seconds from the end of a block to the next one).

    Without tracked_stats nothing else has a time. The clock stops between blocks. Each rank may print its events.
    """
    rows, last, left_out_s, ended_s = Rows(path), -1.0, 0.0, nan
    if not _whole(batch):
        raise UserError(
            f"{path}: no tracked_stats with a throughput, and no global_batch_size; no step time follows"
        )
    for number, clock_s, samples, begins in marks:
        if samples > last:
            last, ended_s = samples, nan if begins else clock_s
            rows.add(number, samples / batch, clock_s=clock_s - left_out_s, work=samples)
        elif begins and clock_s > ended_s:
            left_out_s += clock_s - ended_s
            ended_s = nan
    if len(rows) < 2:
        raise UserError(f"{path}: no tracked_stats with a throughput, and no blocks with a samples_count")
    return rows, left_out_s


def _step(metadata: dict[str, Any], batch: Any) -> float:
    """The number of steps done; nan if unknown. All but `step_num` count samples."""
    if "step_num" in metadata:
        return _number(metadata["step_num"])
    done = next((_number(metadata[name]) for name in DONE if name in metadata), nan)
    return done / batch if _whole(batch) and done >= batch else nan


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and value is not True else nan


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
