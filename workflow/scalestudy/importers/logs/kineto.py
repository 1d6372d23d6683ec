"""A trace of the PyTorch profiler (Kineto), for the times of its steps: events `ProfilerStep#N`.

Only `traceEvents` with this name are read; on the host they are complete events (`ph: X`) with `dur` in
microseconds. A step on the host may end before its work on the device does, and profiling slows steps down.
`distributedInfo` has rank and world size.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from scalestudy.errors import UserError
from scalestudy.importers.logs.json_stream import members
from scalestudy.importers.logs.model import Facts, Given, Log, Rows

KIND = "PyTorch profiler trace"
_HEAD = re.compile(rb'"(traceEvents|schemaVersion|deviceProperties|distributedInfo|baseTimeNanoseconds)"\s*:')
STEP = "ProfilerStep#"


def recognise(head: bytes) -> str:
    return KIND if head.lstrip().startswith(b"{") and _HEAD.search(head) else ""


def read(path: Path, given: Given, *, kind: str = KIND) -> list[Log]:
    """Return the run. Raises UserError if no step was marked, which needs profiler.step()."""
    rows, devices, device, events = Rows(path), None, None, 0
    found: dict[int, tuple[int, float, float]] = {}
    for name, line, value in members(path, "traceEvents"):
        if name == "traceEvents":
            events += 1
            if not isinstance(value, dict):
                raise UserError(f"{path}, line {line}: an event that is no object")
            said = value.get("name")
            if isinstance(said, str) and said.startswith(STEP) and value.get("ph") == "X":
                step, start_us, time_us = said[len(STEP) :], value.get("ts"), value.get("dur")
                if not (step.isdigit() and _is_number(start_us) and _is_number(time_us)):
                    raise UserError(f"{path}, line {line}: {said[:40]}: a step without ts and dur in microseconds")
                known = found.get(int(step))
                if known is None or time_us > known[2]:  # the device's track has it too, with its own part
                    found[int(step)] = (line, float(start_us), float(time_us))
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


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and value is not True
