"""A trace of the PyTorch profiler (Kineto), for the times of its steps: events `ProfilerStep#N`.

Only `traceEvents` with this name are read; on the host they are complete events (`ph: X`) with `dur` in
microseconds. A step on the host may end before its work on the device does, and profiling slows steps down.
`distributedInfo` has rank and world size.
"""

from __future__ import annotations

import re
from math import nan
from pathlib import Path
from typing import Any

from scalestudy.errors import UserError
from scalestudy.importers.logs.model import Facts, Given, Log, Rows
from scalestudy.importers.logs.tabular.json_stream import members

KIND = "PyTorch profiler trace"
_HEAD = re.compile(rb'"(traceEvents|schemaVersion|deviceProperties|distributedInfo|baseTimeNanoseconds)"\s*:')
STEP = "ProfilerStep#"
MOST_STEPS = 200_000


def recognise(head: bytes) -> str:
    start = head.lstrip()
    if start.startswith(b"["):
        return KIND if b'"ph"' in start[:4096] else ""
    return KIND if start.startswith(b"{") and _HEAD.search(head) else ""


def read(path: Path, given: Given, *, kind: str = KIND) -> list[Log]:
    """Return the run. Raises UserError if no step was marked, which needs profiler.step()."""
    rows, devices, device, events = Rows(path), None, None, 0
    found: dict[int, tuple[int, float, float]] = {}
    for name, line, value in members(path, "traceEvents"):
        if name == "traceEvents":
            events += 1
            if not isinstance(value, dict):
                raise UserError(f"{path}, line {line}: an event that is not an object")
            said = value.get("name")
            if isinstance(said, str) and said.startswith(STEP) and value.get("ph") == "X":
                number, start_us, time_us = said[len(STEP) :], _number(value.get("ts")), _number(value.get("dur"))
                if not (number.isdigit() and start_us == start_us and time_us == time_us):
                    raise UserError(f"{path}, line {line}: {said[:40]}: a step without ts and dur in microseconds")
                if len(found) > MOST_STEPS:
                    raise UserError(f"{path}, line {line}: more than {MOST_STEPS} steps, which no trace has")
                known = found.get(int(number))
                if known is None or time_us > known[2]:  # the device's track has it too, with its own part
                    found[int(number)] = (line, start_us, time_us)
        elif name == "distributedInfo" and isinstance(value, dict):
            devices = value.get("world_size") if isinstance(value.get("world_size"), int) else None
        elif name == "deviceProperties" and isinstance(value, list) and value and isinstance(value[0], dict):
            device = str(value[0].get("name") or "") or None
    if not found:
        raise UserError(f"{path}: {events} events, none of them {STEP}N; call profiler.step() after each step")
    for step, (line, start_us, time_us) in sorted(found.items()):
        rows.add(line, step + 1, step_time_s=time_us * 1e-6, clock_s=(start_us + time_us) * 1e-6)
    log = Log(path=path, kind=kind, columns=rows.columns(), facts=Facts(devices=devices, device=device))
    log.remarks.append("steps as the profiler timed them on the host; profiling slows steps down")
    return [log]


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) and value is not True else nan
