"""The console log of OLMo and OLMo-core: a line `[step=10/1000,epoch=0]`, and a metric on each line below it.

`throughput/device/tokens_per_second=68,289` and `throughput/device/TPS=...` are means over the last steps (20 by
default) of one device. The configuration is in the log: `global_train_batch_size=512`, `max_sequence_length=4096`.
"""

from __future__ import annotations

import re
from math import nan
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.importers.logs.lines import REAL, WHOLE, clock_of, numbered_lines, real_or_nan
from scalestudy.importers.logs.model import Facts, Given, Log, Rows

KIND = "OLMo console log"
MARK = re.compile(rb"\[step=\d+(?:/\d+)?,epoch=\d+")
_STEP = re.compile(rb"\[step=(%b)(?:/\d+)?,epoch=\d+" % WHOLE)
_STAMP = re.compile(rb"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:[.,](\d+))?")
_RATE = re.compile(rb"throughput/device/(?:tokens_per_second|TPS)=([\d,.]{1,20})")
_LOSS = re.compile(rb"train/(?:CrossEntropyLoss|CE loss)=(%b)" % REAL)
_WORK = re.compile(rb"throughput/total[_ ]tokens=([\d,]{1,24})")
_FACT = re.compile(rb"\b(global_train_batch_size|max_sequence_length|device_train_batch_size)=(%b)\b" % WHOLE)


def read(path: Path, given: Given) -> list[Log]:
    """Return the run of a log. Raises UserError if no step has a throughput."""
    rows, said = Rows(path), dict[str, int]()
    at, step, clock_s, rate, loss, work = 0, nan, nan, nan, nan, nan
    for number, line in numbered_lines(path):
        if b"[step=" in line and (found := _STEP.search(line)):
            if rate == rate:
                rows.add(at, step, work_per_s=rate, clock_s=clock_s, work=work, loss=loss)
            stamp = _STAMP.search(line)
            at, step, rate, loss, work = number, float(found[1]), nan, nan, nan
            clock_s = clock_of(*stamp.groups()) if stamp else nan
        elif b"throughput/" in line:
            if found := _RATE.search(line):
                rate = real_or_nan(found[1].replace(b",", b""))
            elif found := _WORK.search(line):
                work = real_or_nan(found[1].replace(b",", b""))
        elif b"train/C" in line and (found := _LOSS.search(line)):
            loss = float(found[1])
        elif b"_size=" in line or b"_length=" in line:
            for name, value in _FACT.findall(line):
                said.setdefault(name.decode(), int(value))
    if rate == rate:
        rows.add(at, step, work_per_s=rate, clock_s=clock_s, work=work, loss=loss)
    if not len(rows):
        raise UserError(f"{path}: no step with throughput/device/tokens_per_second or TPS")
    batch, each = said.get("global_train_batch_size"), said.get("device_train_batch_size")
    devices = batch // each if batch and each and batch % each == 0 else None
    log = Log(
        path=path,
        kind=KIND,
        columns=rows.columns(),
        facts=Facts(devices=devices, global_batch=batch, sequence_length=said.get("max_sequence_length")),
        unit="tokens",
        per="device",
    )
    log.remarks.append("its throughputs are means over the last steps, 20 unless configured")
    if devices:
        log.remarks.append(f"{devices} devices, from {batch} samples per step and {each} per device")
    return [log]
