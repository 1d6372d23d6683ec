"""From a log's rows to step times of one run: windows, restarts, clocks, and whether its units fit its numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from typing import Final

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.logs.batches import batch_of, measured
from scalestudy.importers.logs.clocks import (
    against_clock,
    check_whole_seconds,
    instead_of_rounded,
    is_close,
    is_exact,
    median,
    spaced,
)
from scalestudy.importers.logs.file_names import devices_named
from scalestudy.importers.logs.model import Given, Log
from scalestudy.importers.logs.trainers import OF_THE_LAST_STEP
from scalestudy.importers.logs.windows import counting, thinned, usual_steps, windows_of
from scalestudy.registry.codes import Limit
from scalestudy.study.config.scales import MOST_DEVICES

LARGEST_NODE: Final = 8
"""Devices beyond which a single node is unusual."""
SCATTERED: Final = 0.01
"""Relative scatter of throughput times step time beyond which it is not the batch."""
SAME: Final = 0.1
"""Relative difference up to which a product of printed numbers is the batch."""


@dataclass
class ImportedRun:
    """One run in our terms. Arrays have an entry per window of the log, in the order of the file."""

    log: Log
    devices: int
    nodes: int
    global_batch: int
    """Work of a step, in `unit`."""
    unit: str
    variant: str
    accumulation: int
    sequence_length: int | None
    steps_per_row: int
    step_time_s: np.ndarray
    """Mean step time of each window."""
    counts: np.ndarray
    """Whether a window counts: the others include a start, a restart, or work that is no step."""
    loss: np.ndarray
    started_s: float
    """First time stamp, if it is one of a calendar; else nan."""
    passed_s: float
    """Time from the first to the last row by its time stamps; nan without them."""
    total_steps: int
    limits: tuple[Limit, ...]
    remarks: list[str] = field(default_factory=list)
    has_rate: bool = False
    """Whether the log has a throughput."""
    scope_checked: bool = False
    """Whether it follows from the log's own numbers what its throughput belongs to."""

    @property
    def step_s(self) -> float:
        """Mean step time of the windows that count."""
        return float(self.step_time_s[self.counts].mean())

    @property
    def throughput(self) -> float:
        return self.global_batch / self.step_s


class NoDevicesError(UserError):
    """A log does not say its number of devices."""

    def __init__(self, log: Log, given: Given) -> None:
        named = devices_named(log.path)
        self.proposed = given.word(log.path, named) if named else ""
        """`FILE=8` with the devices that the name of the file says; '' if it says none."""
        option = given.option("gpus", log.path, named or "N")
        said = f"its name says {named}: add {option}, or the right number" if named else f"add {option}"
        super().__init__(f"{log.name}: the number of devices is not in it; {said}")


def derive(log: Log, given: Given) -> ImportedRun:
    """Return the run of a log. Raises UserError that says what is missing, with its option, or what
    contradicts."""
    devices = given.devices or log.facts.devices
    if devices is None:
        raise NoDevicesError(log, given)
    log = spaced(thinned(log))
    remarks = list(log.remarks)
    if given.devices is None and devices == log.facts.started:
        remarks.append("the number of devices is that of the command in it that starts the ranks")
    nodes = given.nodes or log.facts.nodes or 1
    if devices > nodes * MOST_DEVICES:
        more = "add --nodes [FILE=]N, or a column of nodes to a table"
        raise UserError(f"{log.name}: {devices} devices need more nodes than {nodes}; {more}")
    if devices > LARGEST_NODE and not (given.nodes or log.facts.nodes):
        remarks.append(f"taken as {devices} devices of one node, since the log names no nodes; add --nodes N")
    if devices % nodes:
        raise UserError(f"{log.name}: {devices} devices do not divide among {nodes} nodes")
    windows = windows_of(log, remarks)
    between = np.where(windows.starts, nan, windows.steps)
    per_row = usual_steps(windows.steps if np.isnan(between).all() else between)
    stated = log.columns["step_time_s"].copy()
    rate, unit, per = _rate(log, given)
    by_clock = windows.clock_s / windows.steps
    batch, unit = batch_of(log, given, unit, devices, remarks)
    limits = [Limit.IMPORTED]
    scope_checked = False
    if unit == "steps":
        stated = np.where(np.isnan(stated), 1 / rate, stated)
        unit = "samples"
    elif (~np.isnan(rate)).any():
        exact = bool((~np.isnan(stated)).any())
        product = median(rate * (stated if exact else by_clock))
        per, scope_checked = _scope(log, given, per, devices, batch, product, exact=exact, remarks=remarks)
        whole = rate * (devices if per == "device" else 1)
        if batch is None and (~np.isnan(stated)).any():
            work = whole * stated
            if median(np.abs(work / median(work) - 1)) > SCATTERED:
                raise UserError(
                    f"{log.name}: the {unit} of a step are about {median(work):.0f} by throughput times step time,"
                    f" which scatters; add {given.option('batch', log.path)}"
                )
            batch = measured(median(work), devices)
            remarks.append(f"{batch} {unit} per step, from throughput times step time")
        if batch is None and log.each == "mean" and is_exact(log, by_clock * windows.steps):
            batch = measured(median(whole * by_clock), devices)
            remarks.append(f"{batch} {unit} per step, from throughput times the time between rows")
        if batch is None:
            what = f"{unit or 'samples or tokens'} of a step on all devices"
            raise UserError(f"{log.name}: the {what} are not in it; add {given.option('batch', log.path)}")
        if not (~np.isnan(stated)).any():
            stated = batch / whole
    if log.each == "last" and per_row > 1 and is_exact(log, windows.clock_s) and is_close(stated, by_clock):
        remarks = [remark for remark in remarks if remark != OF_THE_LAST_STEP]
        remarks.append("a row has the time of its last step only: the time between rows counts")
        limits.append(Limit.CLOCK)
        against_clock(log, stated, windows, remarks)
        time_s = by_clock
    elif (~np.isnan(stated)).any() and instead_of_rounded(log, stated, windows, remarks):
        time_s = by_clock
        limits.append(Limit.CLOCK)
    elif (~np.isnan(stated)).any():
        against_clock(log, stated, windows, remarks)
        time_s = stated
    elif (~np.isnan(by_clock)).any():
        time_s = by_clock
        limits.append(Limit.CLOCK)
    else:
        raise UserError(f"{log.name}: no two rows with time stamps and step numbers, so no step time")
    if batch is None:
        option = given.option("batch", log.path)
        raise UserError(f"{log.name}: the samples of a step on all devices are not in it; add {option}")
    if unit == "tokens":
        limits.append(Limit.TOKENS)
    if log.printed:
        limits.append(Limit.PRINTED)
    elif log.whole_run:
        limits.append(Limit.WHOLE_RUN)
    elif log.each == "unknown" or (log.each == "mean" and per_row > 1):
        limits.append(Limit.AVERAGED)
    if log.digits:
        limits.append(Limit.ROUNDED)
    counts = counting(log, windows, time_s, per_row, clock_only=Limit.CLOCK in limits, remarks=remarks)
    if Limit.CLOCK in limits:
        check_whole_seconds(log, windows.clock_s[counts], windows.steps[counts], remarks)
    clock = log.columns["clock_s"]
    known = clock[~np.isnan(clock)]
    return ImportedRun(
        log=log,
        devices=devices,
        nodes=nodes,
        global_batch=batch,
        unit=unit or "samples",
        variant=given.variant or log.facts.variant or "",
        accumulation=given.accumulation or log.facts.accumulation or 1,
        sequence_length=given.sequence_length or log.facts.sequence_length,
        steps_per_row=per_row,
        step_time_s=time_s,
        counts=counts,
        loss=log.columns["loss"],
        started_s=float(known[0]) if len(known) and known[0] > 1e8 else nan,
        passed_s=float(np.nansum(windows.clock_s)) if (~np.isnan(windows.clock_s)).any() else nan,
        total_steps=int(np.nansum(windows.steps)),
        limits=tuple(dict.fromkeys(limits)),
        remarks=remarks,
        has_rate=bool((~np.isnan(rate)).any()),
        scope_checked=scope_checked,
    )


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
    return rate, unit, given.per or log.per


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
