"""The work of a step of all devices: as the user says, as the log says, or by the work done so far."""

from __future__ import annotations

from math import nan
from typing import Final

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.logs.model import Given, Log
from scalestudy.importers.logs.steps.clocks import median

MEASURED_TO: Final = 0.002
"""Relative error of a batch that follows from a throughput and a time, or of a median batch."""


def batch_of(log: Log, given: Given, unit: str, devices: int, remarks: list[str]) -> tuple[int | None, str]:
    """(work of a step in the unit of the throughput, unit). Without a throughput a step is counted in samples."""
    batch, length = log.facts.global_batch, given.sequence_length or log.facts.sequence_length
    for option, said in (("batch", given.batch), ("batch-per-gpu", given.batch_per_gpu)):
        if said is not None and unit == "tokens" and length and said < length:
            better = given.option(option, log.path, said * length)
            raise UserError(
                f"{log.name}: its throughput counts tokens, and so does --{option}: {said} are less than one"
                f" sample of {length} tokens. For {said} samples add {better}"
            )
    if (stated := given.batch_on(devices)) is not None:
        return stated, unit or "samples"
    if log.facts.step_tokens is not None and unit in ("", "tokens"):
        if not log.printed:  # a table has it in the row
            remarks.append(f"{log.facts.step_tokens} tokens per step, as the log says")
        return log.facts.step_tokens, "tokens"
    if batch is not None and unit == "tokens":
        if length is None:
            return None, unit
        remarks.append(f"a step is {batch} samples of {length} tokens")
        return batch * length, unit
    if batch is None and (work := log.columns["work"])[~np.isnan(work)].size > 1:
        each = median(np.diff(work) / np.diff(log.columns["step"]))
    elif batch is None:
        each = _of_one_row(log)
    if batch is None and each > 0 and unit in ("", log.unit):
        remarks.append(f"{each:.0f} {log.unit or 'samples'} per step, from the work done so far")
        return round(each), unit or log.unit or "samples"
    return batch, unit


def measured(work: float, devices: int) -> int:
    """The work of a step by measured numbers: of those within their error, one that divides among the devices."""
    even = round(work / devices) * devices
    return even if even and abs(even / work - 1) <= MEASURED_TO else round(work)


def _of_one_row(log: Log) -> float:
    """The work of a step by the work done in the only row, whose steps count from 0 or 1; nan if it does not
    divide."""
    if len(log.columns["step"]) != 1:
        return nan
    work, step = float(log.columns["work"][0]), float(log.columns["step"][0])
    return next((work / steps for steps in (step + 1, step) if steps >= 1 and work > 0 and work % steps == 0), nan)
