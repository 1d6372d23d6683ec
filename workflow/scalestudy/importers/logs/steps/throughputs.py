"""The work of a step, and the step time by a throughput: its unit, what it belongs to, and whether it fits."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Final

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.logs.model import Given, Log
from scalestudy.importers.logs.steps.batches import batch_of, measured
from scalestudy.importers.logs.steps.clocks import is_exact, median
from scalestudy.importers.logs.steps.windows import Windows

SCATTERED: Final = 0.01
"""Relative scatter of throughput times step time beyond which it is not the batch."""
SAME: Final = 0.1
"""Relative difference up to which a product of printed numbers is the batch."""


@dataclass(frozen=True)
class Work:
    """The work of a step of all devices, and its time as the log states it."""

    batch: int | None
    """Work of a step, in `unit`; None if a log without a throughput does not say it."""
    unit: str
    """`samples` or `tokens`; '' if the log does not say."""
    step_time_s: np.ndarray
    """Step time of each row as printed, or by its throughput; nan where neither is printed."""
    has_rate: bool
    """Whether the log has a throughput."""
    scope_checked: bool
    """Whether it follows from the log's own numbers what its throughput belongs to."""


def work_of(log: Log, given: Given, devices: int, windows: Windows, remarks: list[str]) -> Work:
    """Return the work of a step. Raises UserError that says what is missing or contradicts, with its option."""
    rate, unit, per = _rate(log, given)
    stated = log.columns["step_time_s"]
    batch, unit = batch_of(log, given, unit, devices, remarks)
    has_rate = bool((~np.isnan(rate)).any())
    if unit == "steps":
        return Work(batch, "samples", np.where(np.isnan(stated), 1 / rate, stated), has_rate, False)
    if not has_rate:
        return Work(batch, unit, stated, False, False)
    exact = bool((~np.isnan(stated)).any())
    product = median(rate * (stated if exact else windows.step_time_s))
    per, checked = _scope(log, given, per, devices, batch, product, exact=exact, remarks=remarks)
    whole = rate * (devices if per == "device" else 1)
    if batch is None:
        batch = _by_product(log, given, unit, devices, whole, stated if exact else None, windows, remarks)
    return Work(batch, unit, stated if exact else batch / whole, True, checked)


def _by_product(
    log: Log,
    given: Given,
    unit: str,
    devices: int,
    rate: np.ndarray,
    stated: np.ndarray | None,
    windows: Windows,
    remarks: list[str],
) -> int:
    """The work of a step by a throughput times a time. Raises UserError if the log has no exact time.

    rate: throughput of all devices. stated: printed step times; None without them.
    """
    if stated is not None:
        work = rate * stated
        if median(np.abs(work / median(work) - 1)) > SCATTERED:
            raise UserError(
                f"{log.name}: the {unit} of a step are about {median(work):.0f} by throughput times step time,"
                f" which scatters; add {given.option('batch', log.path)}"
            )
        batch = _even(measured(median(work), devices), log, given, unit, devices, "step time")
        remarks.append(f"{batch} {unit} per step, from throughput times step time")
        return batch
    if log.each == "mean" and is_exact(log, windows.step_time_s * windows.steps):
        found = measured(median(rate * windows.step_time_s), devices)
        batch = _even(found, log, given, unit, devices, "the time between rows")
        remarks.append(f"{batch} {unit} per step, from throughput times the time between rows")
        return batch
    if unit == "tokens" and log.facts.global_batch is not None:
        step = f"a step is {log.facts.global_batch} samples"
        raise UserError(f"{log.name}: its throughput counts tokens, and {step}; add --sequence-length N")
    what = f"{unit or 'samples or tokens'} of a step on all devices"
    raise UserError(f"{log.name}: the {what} are not in it; add {given.option('batch', log.path)}")


def _even(batch: int, log: Log, given: Given, unit: str, devices: int, times: str) -> int:
    """The samples of a step by numbers that are rounded. Raises UserError if the devices cannot share them.

    Fewer samples than devices may be right: those of one sample then share its tokens.
    """
    if unit == "samples" and batch > devices and batch % devices:
        raise UserError(
            f"{log.name}: the samples of a step are about {batch} by throughput times {times}, which do not divide"
            f" among {devices} devices; add {given.option('batch', log.path)}"
        )
    return batch


def _rate(log: Log, given: Given) -> tuple[np.ndarray, str, str]:
    """Throughput, its unit and scope. Raises UserError if there is one without a unit."""
    rate = np.where(log.columns["work_per_s"] > 0, log.columns["work_per_s"], nan)
    if np.isnan(rate).all():
        return rate, log.unit, ""
    unit = given.rate or log.unit
    if not unit:
        raise UserError(
            f"{log.name}: its throughput has no unit; add --rate samples, --rate tokens or --rate steps (per"
            " second)"
        )
    said = (log.per, given.per) if log.printed else (given.per, log.per)  # --per has turned that of a table
    return rate, unit, said[0] or said[1] or ""


def _scope(
    log: Log,
    given: Given,
    per: str,
    devices: int,
    batch: int | None,
    product: float,
    *,
    exact: bool,
    remarks: list[str],
) -> tuple[str, bool]:
    """(what the throughput belongs to, whether the log's numbers show it): `device` or `all`.

    product: throughput times step time, which is the batch, or the batch of a device. exact: whether the time is
    that of steps; that between time stamps may include evaluation, and contradicts no format.
    """
    if devices == 1:
        return per or "all", True
    shown = ""
    if batch is not None and product == product:
        if abs(product / batch - 1) <= SAME:
            shown = "all"
        elif abs(product * devices / batch - 1) <= SAME:
            shown = "device"
    if shown and per and shown != per and (exact or given.per):
        words = {"all": "all devices", "device": "one device"}
        raise UserError(
            f"{log.name}: its throughput is said to be of {words[per]}, but times its step time it is"
            f" {product:.4g}, and a step is {batch}: it is of {words[shown]}. Correct --per, --batch or --gpus"
        )
    if exact and batch is not None and product == product and not shown:
        remarks.append(
            f"throughput times step time is {product:.4g}, and a step is {batch}: the batch, the number of devices"
            " or --per may be wrong"
        )
    if not per and not shown:
        raise UserError(
            f"{log.name}: is its throughput of one device or of all {devices}? Add --per device or --per all"
        )
    if shown and not per:
        remarks.append(
            f"throughput is of {'one device' if shown == 'device' else 'all devices'}, as its step time shows"
        )
    return per or shown, bool(shown)
