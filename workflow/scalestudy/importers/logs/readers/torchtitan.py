"""torchtitan's console log (torchtitan/components/metrics.py).

`step: 10  loss: 10.7069  grad_norm: ...  memory: 30.99GiB(32.62%)  tps: 7,034  tflops: 407.35  mfu: 41.19%`, in
colour unless disabled. `tps` (`wps` until November 2024) is tokens per second and device, the mean since the last
line. Batch and length are in `... local batch size 8, global batch size 64, ..., sequence length 2048, ...`, the
devices in `Building 1-D device mesh with ['dp_shard'], [8]` or `Building device mesh with parallelism: pp=1, ...`.
"""

from __future__ import annotations

import re
from math import nan, prod
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.importers.logs.lines import ESCAPES, WHOLE, clock_of, numbered_lines, real_or_nan
from scalestudy.importers.logs.model import Facts, Given, Log, Rows

KIND = "torchtitan console log"
MARK = re.compile(rb"step: *\d+ .{0,20}loss: .*?memory: .*?[tw]ps: ")
_ROW = re.compile(
    rb"(?<!validate )step: *(%b) +loss: *([0-9.naif+-]+) .*?[tw]ps: *(\d{1,3}(?:,\d{3}){0,5})[ \r\n]" % WHOLE
)
_STAMP = re.compile(rb"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d),(\d+)")
_RANK = re.compile(rb"^\[rank(\d+)\]:|^\[default(\d+)\]:")
_BATCH = re.compile(rb"local batch size (%b), global batch size (%b)" % (WHOLE, WHOLE))
_LENGTH = re.compile(rb"sequence length (%b)" % WHOLE)
_MESH = re.compile(rb"device mesh with \[[^\]]*\], \[(\d{1,6}(?:, \d{1,6}){0,9})\]")
_DEGREES = re.compile(rb"(?:pp|dp_replicate|dp_shard|cp|tp)=(\d{1,6})")
_DEVICE = re.compile(rb"CUDA capacity: (.+?) with [0-9.]+GiB memory")


def read(path: Path, given: Given) -> list[Log]:
    """Return the run of a log, of the first rank that prints one. Raises UserError if it has no row."""
    rows = Rows(path)
    batch, length, devices, device, first_rank, others = None, None, None, None, None, 0
    for number, line in numbered_lines(path):
        if b"ps: " in line and b"step: " in line:
            line = ESCAPES.sub(b"", line) if b"\x1b" in line else line
            found = _ROW.search(line)
            if found is None:
                continue  # a validation, or another line
            rank = _RANK.match(line)
            name = (rank[1] or rank[2]) if rank else None
            if first_rank is None:
                first_rank = name
            if name != first_rank:
                others += 1
                continue
            stamp = _STAMP.search(line)
            step, loss, rate = found.groups()
            rows.add(
                number,
                int(step),
                work_per_s=float(rate.replace(b",", b"")),
                clock_s=clock_of(*stamp.groups()) if stamp else nan,
                loss=real_or_nan(loss),
            )
        elif b"global batch size" in line and (sizes := _BATCH.search(line)):
            if batch not in (None, int(sizes[2])):
                raise UserError(
                    f"{path}, line {number}: a second run begins here, with global batch size {int(sizes[2])}"
                    f" after {batch}; one log is one run: split the file"
                )
            batch = int(sizes[2])
            length = int(found[1]) if (found := _LENGTH.search(line)) else length
        elif b"device mesh with" in line:
            mesh = _MESH.search(line)
            degrees = [int(size) for size in mesh[1].split(b",")] if mesh else [*map(int, _DEGREES.findall(line))]
            now = prod(degrees) if degrees and min(degrees) > 0 else None
            if now is None:
                continue
            if devices not in (None, now):
                raise UserError(
                    f"{path}, line {number}: a second run begins here, on {now} devices after {devices}; one log"
                    " is one run: split the file"
                )
            devices = now
        elif b"CUDA capacity" in line and (found := _DEVICE.search(line)):
            device = found[1].decode("utf-8", "replace")
    if not len(rows):
        raise UserError(f"{path}: no complete line with step, loss and tps")
    log = Log(
        path=path,
        kind=KIND,
        columns=rows.columns(),
        facts=Facts(devices=devices, global_batch=batch, sequence_length=length, device=device),
        unit="tokens",
        per="device",
    )
    if others:
        log.remarks.append(
            f"{others} rows of other ranks are left out: those of rank {(first_rank or b'').decode()} count"
        )
    return [log]
