"""DeepSpeed's console log: the line of its ThroughputTimer (deepspeed/utils/timer.py).

Before 0.6: `0/20, SamplesPerSec=232.7`, which is the mean since the start, so the time between lines is read
instead. Then `0/20, RunningAvgSamplesPerSec=232.7, CurrSamplesPerSec=227.5, MemAllocated=...`; since 0.6.1
`epoch=0/micro_step=40/global_step=10, RunningAvgSamplesPerSec=...`. The rate is that of all devices: the timer
divides the training batch by the time of the last step. The first lines of a run print the batch and the world
size.
"""

from __future__ import annotations

import re
from math import nan
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.importers.logs.lines import REAL, WHOLE, clock_of, numbered_lines
from scalestudy.importers.logs.model import Facts, Given, Log, Rows

KIND = "DeepSpeed console log"
MARK = re.compile(rb"SamplesPerSec=")
_ROW = re.compile(
    rb"(?:global_step=|stop\] \d+/)(%b), RunningAvgSamplesPerSec=[^,]+, CurrSamplesPerSec=(%b), " % (WHOLE, REAL)
)
_OLD_ROW = re.compile(rb"\] \d+/(%b), SamplesPerSec=(%b)(?:, |\s)" % (WHOLE, REAL))
_STAMP = re.compile(rb"\[(?:INFO )?(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:,(\d+))?\]")
_FACT = re.compile(
    rb"(train_batch_size|gradient_accumulation_steps|world_size|bfloat16_enabled|fp16_enabled)"
    rb" ?(?:\.{2,}|=|:) *(\d{1,15}|True|False)"
)


def read(path: Path, given: Given) -> list[Log]:
    """Return the run of a log. Raises UserError if it has no row, or the batch changes."""
    rows, said, means = Rows(path), dict[str, str](), 0
    for number, line in numbered_lines(path):
        if b"CurrSamplesPerSec=" in line:
            found = _ROW.search(line)
            if found is None:
                raise UserError(f"{path}, line {number}: not a complete line of DeepSpeed's ThroughputTimer")
            stamp = _STAMP.search(line)
            rate = float(found[2])
            rows.add(number, int(found[1]), work_per_s=rate, clock_s=clock_of(*stamp.groups()) if stamp else nan)
        elif b" SamplesPerSec=" in line:
            found, stamp = _OLD_ROW.search(line), _STAMP.search(line)
            if found is None or stamp is None:
                raise UserError(f"{path}, line {number}: not a complete line of DeepSpeed's ThroughputTimer")
            rows.add(number, int(found[1]), clock_s=clock_of(*stamp.groups()))
            means += 1
        elif b"_size" in line or b"_enabled" in line or b"accumulation" in line:
            for name, value in _FACT.findall(line):
                key, word = name.decode(), value.decode()
                if said.setdefault(key, word) != word and key in ("train_batch_size", "world_size"):
                    raise UserError(
                        f"{path}, line {number}: a second run begins here, with {key} {word} after {said[key]};"
                        " one log is one run: split the file"
                    )
    if not len(rows):
        raise UserError(f"{path}: no complete line of DeepSpeed's ThroughputTimer (CurrSamplesPerSec=)")

    def whole(name: str) -> int | None:
        return int(said[name]) if said.get(name, "").isdigit() and int(said[name]) > 0 else None

    precision = "bf16" if said.get("bfloat16_enabled") == "True" else None
    precision = "fp16" if said.get("fp16_enabled") == "True" else precision
    log = Log(
        path=path,
        kind=KIND,
        columns=rows.columns(),
        facts=Facts(
            devices=whole("world_size"),
            global_batch=whole("train_batch_size"),
            accumulation=whole("gradient_accumulation_steps"),
            precision=precision,
        ),
        unit="samples",
        per="all",
        each="last",
    )
    if means:
        log.each = "mean"
        log.remarks.append("the printed rates are means since the start; the time between lines counts instead")
        return [log]
    log.remarks.append("each line has the rate of its last step; it counts for all steps since the line before")
    return [log]
