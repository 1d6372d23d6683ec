"""Megatron-LM's console log, and that of its relatives (Megatron-DeepSpeed, NeMo's port, FlagScale).

Printed by `training_log` since 2020: `iteration 10/ 100 | consumed samples: 80 | elapsed time per iteration (ms):
283.9 | ... global batch size: 8 | lm loss: 5.5E+00 |`; `elapsed` is the mean since the last line. Later versions
put `[2025-01-31 12:00:00]` in front. ROCm's fork prints the time as `LAST/MEAN`. GPT-NeoX prints no batch, and
`samples/sec: 7.8 |` in front. ALCF's Megatron-DeepSpeed prints `elapsed_time_per_iteration_ms=283.9`. The
arguments give the number of devices as `using world size: 8, ...`. Some forks print the tokens per second and
device, or the rank as `[rank-7/8]`, and the devices follow.
"""

from __future__ import annotations

import re
from math import nan
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.importers.logs.lines import (
    IN_ONE_LINE,
    REAL,
    WHOLE,
    clock_of,
    joined,
    numbered_lines,
    real_or_nan,
)
from scalestudy.importers.logs.model import Facts, Given, Log, Rows
from scalestudy.importers.logs.stated import LABEL

KIND = "Megatron-LM console log"
MARK = re.compile(rb"elapsed(?: time per iteration \(ms\):|_time_per_iteration_ms=) *[0-9.]")
_ROW = re.compile(
    rb"iteration[ =]+(%b) */ *\d+ \|.*?elapsed(?: time per iteration \(ms\):|_time_per_iteration_ms=) *(%b)"
    rb"(?:/[0-9.]+)? *\|(?:.*?glo(?:ba|ab)l[ _]batch[ _]size[:=] *(%b) *\|)?" % (WHOLE, REAL, WHOLE)
)
_BEGIN = re.compile(rb"iteration[ =]+\d{1,15} */ *\d+ \|")
_OF_A_DEVICE = re.compile(rb"(?:\(tgs\): |\(tokens/s/GPU\): |_tgs=) *(%b)" % REAL)
_TOKENS = re.compile(rb"actual[ _]seqlen[:=] *(%b)" % WHOLE)
_RANK = re.compile(rb"\[rank-\d+/(\d{1,7})\]")
_RATE = re.compile(rb"samples/sec: *(%b) *\| *iteration" % REAL)
_LOSS = re.compile(rb"loss[:=] *([0-9.E+-]+) *\|")
_STAMP = re.compile(rb"\[(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:[.,]\d+)?\]")
_WORLD = re.compile(rb"using world size: *(%b)" % WHOLE)
_ARGUMENT = re.compile(rb"^ *(?:\d+: *)?(seq_length|nnodes|micro_batch_size|params_dtype) ?\.{3,} *(\S+)")


SAME = 0.02
"""Relative difference up to which a ratio of printed rates is a number of devices."""


def read(path: Path, given: Given) -> list[Log]:
    """Return the run of a log. Raises UserError if it has no complete row, or rows of different batches."""
    rows, said = Rows(path), dict[str, bytes]()
    batch, devices, ramped, derived, follows = None, None, 0, False, False
    first_rank: bytes | None = None
    others = 0
    for number, line in joined(numbered_lines(path), _BEGIN, _is_cut):
        if b"elapsed time per iteration" in line or b"elapsed_time_per_iteration_ms=" in line:
            found = _ROW.search(line)
            if found is None:
                raise UserError(
                    f"{path}, line {number}: not a complete line of {KIND}: no iteration, time or batch."
                    f" {IN_ONE_LINE}"
                )
            label = LABEL.search(line)
            rank = label[1] if label else b""
            first_rank = rank if first_rank is None else first_rank
            if rank != first_rank:
                others += 1
                continue
            step, time_ms, printed = found.groups()
            here = printed or _batch_of(line, float(time_ms) * 1e-3)
            if here is None:
                raise UserError(f"{path}, line {number}: not a complete line of {KIND}: no batch. {IN_ONE_LINE}")
            derived |= printed is None
            if batch is not None and int(here) != batch:
                ramped += len(rows)
                rows = Rows(path)  # the batch is raised in a ramp-up: only rows of the last batch are comparable
            batch = int(here)
            if devices is None and not len(rows):
                devices = _devices(line, batch, float(time_ms) * 1e-3, said.get("seq_length", b""))
                follows = devices is not None
            stamp, loss = _STAMP.search(line), _LOSS.search(line)
            rows.add(
                number,
                int(step),
                step_time_s=float(time_ms) * 1e-3,
                clock_s=clock_of(*stamp.groups()) if stamp else nan,
                loss=real_or_nan(loss[1]) if loss else nan,
            )
        elif b"using world size" in line and (world := _WORLD.search(line)):
            if devices not in (None, int(world[1])) and not follows:
                raise UserError(
                    f"{path}, line {number}: a second run begins here, on {int(world[1])} devices after {devices};"
                    " one log is one run: split the file"
                )
            devices, follows = int(world[1]), False
        elif b" ...." in line and (argument := _ARGUMENT.search(line)):
            said.setdefault(argument[1].decode(), argument[2])
    if not len(rows):
        raise UserError(f"{path}: no complete line with an elapsed time per iteration")
    length = said.get("seq_length", b"")
    log = Log(
        path=path,
        kind=KIND,
        columns=rows.columns(),
        facts=Facts(
            devices=devices,
            global_batch=batch,
            sequence_length=int(length) if length.isdigit() and len(length) < 15 else None,
            precision={b"torch.bfloat16": "bf16", b"torch.float16": "fp16", b"torch.float32": "fp32"}.get(
                said.get("params_dtype", b"")
            ),
        ),
        unit="samples",
        per="all",
    )
    if others:
        log.remarks.append(f"{others} rows of other ranks are left out: those of the first one count")
    if follows:
        log.remarks.append(f"{devices} devices, as the rank or the rate of a device in the first row shows")
    if derived:
        log.remarks.append(f"{batch} samples per step, from throughput times step time")
    if ramped:
        log.remarks.append(f"{ramped} rows of smaller batches are left out: only those of batch {batch} count")
    return [log]


def _is_cut(line: bytes) -> bool:
    """Whether a row is without its time, or without the batch that a row has."""
    row = _ROW.search(line)
    return row is None or (row[3] is None and _RATE.search(line) is None)


def _devices(line: bytes, batch: int, time_s: float, length: bytes) -> int | None:
    """The devices of a row that prints a rank of them or the tokens per second of one; None without these."""
    if rank := _RANK.search(line):
        return int(rank[1]) or None
    rate, tokens = _OF_A_DEVICE.search(line), _TOKENS.search(line)
    length = tokens[1] if tokens else length
    if not (rate and length.isdigit() and float(rate[1]) > 0 and time_s > 0):
        return None
    devices = batch * int(length) / time_s / float(rate[1])
    return round(devices) if devices > 0.5 and abs(devices / round(devices) - 1) < SAME else None


def _batch_of(line: bytes, time_s: float) -> int | None:
    """The samples of a step of a line with their rate and no batch, as GPT-NeoX prints it; None without a rate."""
    found = _RATE.search(line)
    return round(float(found[1]) * time_s) if found else None
