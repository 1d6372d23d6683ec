"""nanotron's console log (nanotron/logging, LoggerWriter).

`iteration: 1 / 100 | consumed_tokens: 4.1K | elapsed_time_per_iteration_ms: 396 | tokens_per_sec: 10.3K |
tokens_per_sec_per_gpu: 5.17K | global_batch_size: 8 | lm_loss: 10.5 | ...`; newer versions call the time
`time_per_iteration_ms`. All numbers have three digits and a letter for thousands (`human_format`).
"""

from __future__ import annotations

import re
from math import nan
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.importers.logs.lines import IN_ONE_LINE, REAL, WHOLE, clock_of, joined, numbered_lines
from scalestudy.importers.logs.model import Facts, Given, Log, Rows

KIND = "nanotron console log"
MARK = re.compile(rb"iteration: \d+ / \d+ \|.*?time_per_iteration_ms: ")
DIGITS = 3
_FACTOR = {b"": 1.0, b"K": 1e3, b"M": 1e6, b"B": 1e9, b"T": 1e12}
_ROW = re.compile(
    rb"iteration: (%b) / \d+ \|.*?time_per_iteration_ms: (%b)([KMBT]?) \|"
    rb" tokens_per_sec: (%b)([KMBT]?) \| tokens_per_sec_per_gpu: (%b)([KMBT]?) \|" % (WHOLE, REAL, REAL, REAL)
)
_BEGIN = re.compile(rb"iteration: \d{1,15} / \d+ \|")
_BATCH = re.compile(rb"global_batch_size: (%b)([KMBT]?) \|" % REAL)
_LOSS = re.compile(rb"lm_loss: (%b)([KMBT]?) \|" % REAL)
_STAMP = re.compile(rb"(\d\d/\d\d/\d{4}|\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)")
_RANK = re.compile(rb"\[INFO\|(DP=\d+\|[^\]]*?)(?:\||\])")
_LENGTH = re.compile(rb"sequence_length[=:]\s*(%b)" % WHOLE)


def _is_cut(line: bytes) -> bool:
    """Whether a row does not have its batch, which is behind its time and its rates."""
    batch = line.find(b"global_batch_size: ")  # much faster than a pattern
    return batch < 0 or b" |" not in line[batch:]


def read(path: Path, given: Given) -> list[Log]:
    """Return the run of a log, of the first rank that prints one. Raises UserError if it has no row."""
    rows = Rows(path)
    batch, devices, length, first_rank, others = None, None, None, None, 0
    for number, line in joined(numbered_lines(path), _BEGIN, _is_cut):
        if b"time_per_iteration_ms: " in line:
            found = _ROW.search(line)
            if found is None:
                raise UserError(f"{path}, line {number}: not a complete line of {KIND}. {IN_ONE_LINE}")
            rank = _RANK.search(line)
            name = rank[1] if rank else b""
            if first_rank is None:
                first_rank = name
            if name != first_rank:
                others += 1
                continue
            step, time_ms, of_time, rate, of_rate, each, of_each = found.groups()
            stamp, loss, sizes = _STAMP.search(line), _LOSS.search(line), _BATCH.search(line)
            whole, own = float(rate) * _FACTOR[of_rate], float(each) * _FACTOR[of_each]
            if own > 0:
                devices = round(whole / own) or None
            if sizes:
                batch = round(float(sizes[1]) * _FACTOR[sizes[2]])
            rows.add(
                number,
                int(step),
                step_time_s=float(time_ms) * _FACTOR[of_time] * 1e-3,
                work_per_s=whole,
                clock_s=clock_of(*stamp.groups()) if stamp else nan,
                loss=float(loss[1]) * _FACTOR[loss[2]] if loss else nan,
            )
        elif b"sequence_length" in line and (said := _LENGTH.search(line)):
            length = int(said[1])
    if not len(rows):
        raise UserError(f"{path}: no complete line with a time per iteration")
    log = Log(
        path=path,
        kind=KIND,
        columns=rows.columns(),
        facts=Facts(devices=devices, global_batch=batch, sequence_length=length),
        unit="tokens",
        per="all",
        digits=DIGITS,
    )
    if devices and devices > 1:
        log.remarks.append(f"{devices} devices, from the ratio of the two printed rates")
    if others:
        log.remarks.append(f"{others} rows of other ranks are left out: those of the first one count")
    return [log]
