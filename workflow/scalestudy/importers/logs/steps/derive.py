"""From a log's rows to step times of one run: its devices and nodes, and which of its times count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import nan
from typing import Final

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.logs.file_names import devices_named
from scalestudy.importers.logs.model import Given, Log
from scalestudy.importers.logs.steps.clocks import (
    LATEST_S,
    against_clock,
    check_whole_seconds,
    in_seconds,
    instead_of_rounded,
    is_close,
    is_exact,
    spaced,
)
from scalestudy.importers.logs.steps.throughputs import work_of
from scalestudy.importers.logs.steps.windows import Windows, counting, thinned, windows_of
from scalestudy.importers.logs.trainers import OF_THE_LAST_STEP
from scalestudy.registry.codes import Limit
from scalestudy.study.config.scales import MOST_DEVICES

LARGEST_NODE: Final = 8
"""Devices beyond which a single node is unusual."""


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
    accumulation: int | None
    """Micro-batches of a step; None if neither the log nor the user says."""
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
    log = spaced(thinned(in_seconds(log)))
    remarks = list(log.remarks)
    if given.devices is None and devices == log.facts.started:
        remarks.append("the number of devices is that of the command in it that starts the ranks")
    nodes = _nodes(log, given, devices, remarks)
    windows = windows_of(log, remarks)
    work = work_of(log, given, devices, windows, remarks)
    time_s, by_clock = _step_times(log, work.step_time_s, windows, remarks)
    if work.batch is None:
        option = given.option("batch", log.path)
        raise UserError(f"{log.name}: the samples of a step on all devices are not in it; add {option}")
    counts = counting(log, windows, time_s, clock_only=by_clock, remarks=remarks)
    if by_clock:
        check_whole_seconds(log, windows.clock_s[counts], windows.steps[counts], remarks)
    clock = log.columns["clock_s"]
    known = clock[~np.isnan(clock)]
    return ImportedRun(
        log=log,
        devices=devices,
        nodes=nodes,
        global_batch=work.batch,
        unit=work.unit or "samples",
        variant=given.variant or log.facts.variant or "",
        accumulation=given.accumulation or log.facts.accumulation,
        sequence_length=given.sequence_length or log.facts.sequence_length,
        steps_per_row=windows.usual_steps,
        step_time_s=time_s,
        counts=counts,
        loss=log.columns["loss"],
        started_s=float(known[0]) if len(known) and 1e8 < known[0] <= LATEST_S else nan,
        passed_s=float(np.nansum(windows.clock_s)) if (~np.isnan(windows.clock_s)).any() else nan,
        total_steps=int(np.nansum(windows.steps)),
        limits=tuple(_limits(log, work.unit, windows.usual_steps, by_clock=by_clock)),
        remarks=remarks,
        has_rate=work.has_rate,
        scope_checked=work.scope_checked,
    )


def _nodes(log: Log, given: Given, devices: int, remarks: list[str]) -> int:
    """The nodes of a run. Raises UserError if the devices do not fit on them."""
    said = given.nodes or log.facts.nodes
    nodes = said or 1
    if devices > nodes * MOST_DEVICES:
        more = "add --nodes [FILE=]N, or a column of nodes to a table"
        raise UserError(f"{log.name}: {devices} devices need more nodes than {nodes}; {more}")
    if devices > LARGEST_NODE and not said:
        remarks.append(f"taken as {devices} devices of one node, since the log names no nodes; add --nodes N")
    if devices % nodes:
        raise UserError(f"{log.name}: {devices} devices do not divide among {nodes} nodes")
    return nodes


def _step_times(log: Log, stated: np.ndarray, windows: Windows, remarks: list[str]) -> tuple[np.ndarray, bool]:
    """(mean step time of each window, whether it is that between time stamps). Raises UserError without either."""
    by_clock = windows.step_time_s
    of_last = log.each == "last" and windows.usual_steps > 1
    if of_last and is_exact(log, windows.clock_s) and is_close(stated, by_clock):
        remarks[:] = [remark for remark in remarks if remark != OF_THE_LAST_STEP]
        remarks.append("a row has the time of its last step only: the time between rows counts")
        against_clock(log, stated, windows, remarks)
        return by_clock, True
    if (~np.isnan(stated)).any():
        if instead_of_rounded(log, stated, windows, remarks):
            return by_clock, True
        against_clock(log, stated, windows, remarks)
        return stated, False
    if (~np.isnan(by_clock)).any():
        return by_clock, True
    raise UserError(f"{log.name}: no two rows with time stamps and step numbers, so no step time")


def _limits(log: Log, unit: str, steps_per_row: int, *, by_clock: bool) -> Iterator[Limit]:
    """What cannot be claimed of a run. by_clock: whether its step times are those between time stamps."""
    yield Limit.IMPORTED
    if by_clock:
        yield Limit.CLOCK
    if unit == "tokens":
        yield Limit.TOKENS
    if log.printed:
        yield Limit.PRINTED
    elif log.whole_run:
        yield Limit.WHOLE_RUN
    elif log.each == "unknown" or (log.each == "mean" and steps_per_row > 1):
        yield Limit.AVERAGED
    if log.digits:
        yield Limit.ROUNDED
