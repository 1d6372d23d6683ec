"""What the rows of a console log are of, where names and units do not say it: rows that count samples or
iterations, times of a window or since the start, means that include the start."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import nan
from pathlib import Path

import numpy as np

from scalestudy.errors import UserError
from scalestudy.importers.logs.model import Given

Columns = dict[str, np.ndarray]
STEADY = 0.05
"""Relative spread of throughput times step time up to which it is the batch."""
MUCH = 1.5
"""Last time over first one from which on times that never fall are those since the start, as whole seconds are."""
BY_CHANCE, ADDED_UP = 8, 0.2
"""Rows whose times do not all rise by chance, and the share of the last time that its steps take at least, by the
rise between rows, if it is that since the start."""
FEWEST_OF_A_CLOCK, EVEN = 4, 0.5
"""Rows that rise as a clock does before it begins again; of fewer, the smallest rise per step over the largest."""
LEFT = 0.99
"""Last time over the second one below which times without a name that never rise are those that are left."""
AS_THE_CLOCK = 0.3
"""Relative difference to the time stamps up to which a time is that of a step, or that of a window."""


@dataclass
class Corrected:
    columns: Columns
    remarks: list[str] = field(default_factory=list)
    accumulation: int | None = None
    whole_run: bool = False


def in_steps(path: Path, columns: Columns, given: Given) -> Corrected:
    """Return the columns with step numbers, where the log counts samples. Raises UserError if the batch is not
    known."""
    batch = given.batch_on(given.devices)
    product = columns["work_per_s"] * columns["step_time_s"]
    middle = float(np.median(product))
    if batch is None and middle >= 1 and np.abs(product / middle - 1).max() < STEADY:
        batch = round(middle)
    if batch is None:
        raise UserError(
            f"{path}: counts samples, and those of a step on all devices are not in it;"
            f" add {given.option('batch', path)}"
        )
    done = columns["step"]
    return Corrected(columns | {"step": np.maximum(1, np.round(done / batch)), "work": done})


def of_samples(path: Path, columns: Columns, shown: str, given: Given) -> Corrected:
    """Return the columns by steps, where rows count samples and have the time of one of them.

    shown: the time of a row, as it is printed. Raises UserError if the batch is not known.
    """
    batch = given.batch_on(given.devices)
    if batch is None:
        raise UserError(
            f"{path}: its rows have `{shown}`, which is too short for a step: they count samples; add"
            f" {given.option('batch', path)}, the samples of a step on all devices"
        )
    rises, time = np.diff(columns["step"], prepend=0.0), columns["step_time_s"] * batch
    of_epochs = (rises == rises[0]).all()  # the last step of an epoch has the samples that are left
    steps = np.cumsum(np.ceil(rises / batch)) if of_epochs else np.maximum(1, np.round(columns["step"] / batch))
    said = f"`{shown}` is too short for a step: it is the time of a sample, and a step has {batch}"
    return Corrected(columns | {"step": steps, "step_time_s": time}, [said])


def of_an_environment(path: Path, columns: Columns, given: Given) -> Corrected:
    """Return the columns by training steps, where rows count the steps of an environment. Raises UserError if the
    batch is not known."""
    batch, time = given.batch_on(given.devices), time_of_steps(columns)
    shown = f"rows have a reward and steps of {np.nanmedian(time) * 1e3:.3g} ms, which are those of an environment"
    if batch is None:
        raise UserError(
            f"{path}: its {shown}; add {given.option('batch', path)}, the steps of all environments in a training"
            " step"
        )
    made = {"step": columns["step"] / batch, "step_time_s": columns["step_time_s"] * batch}
    return Corrected(columns | made, [f"{shown}: a training step has {batch}"])


def time_of_steps(columns: Columns) -> np.ndarray:
    """Return the time of a step in each row, as it is stated or by the time between rows."""
    if not np.isnan(columns["step_time_s"]).all():
        return columns["step_time_s"]
    steps = np.diff(columns["step"], prepend=nan)
    return np.where(steps > 0, np.diff(columns["clock_s"], prepend=nan) / np.where(steps > 0, steps, 1.0), nan)


def without_start(columns: Columns, window: int) -> Corrected:
    """Return the rows whose mean over the last `window` steps has no start of the training in it.

    If there is no such row, time stamps count; without them, the times do, with a remark.
    """
    step, clock = columns["step"], columns["clock_s"]
    late = step >= step[0] + window
    if late.any():
        return Corrected({name: values[late] for name, values in columns.items()})
    if step[0] > window:
        return Corrected(columns)
    said = f"a printed time is a mean over {window} steps, and all rows are within the first ones"
    if np.isfinite(clock).sum() > 1:
        made = columns | {"step_time_s": np.full(len(step), nan)}
        return Corrected(made, [f"{said}: the time between rows counts"])
    return Corrected(columns, [f"{said}, so it has the start of the training in it"])


def in_optimizer_steps(columns: Columns, steps: np.ndarray) -> Corrected:
    """Return the columns by optimizer steps, where rows count iterations of which a step has several.

    steps: number of the optimizer step of each row.
    """
    ahead, rows = steps[-1] - steps[0], columns["step"][-1] - columns["step"][0]
    if len(steps) < 2 or ahead <= 0 or rows <= 0:
        return Corrected(columns)
    each = round(rows / ahead)
    if each <= 1:
        return Corrected(columns)
    said = [f"a step is {each} of its iterations"]
    if rows > len(steps):  # a row per several iterations
        made = columns | {"step": columns["step"] / each, "step_time_s": columns["step_time_s"] * each}
        return Corrected(made, said, each)
    ends = np.flatnonzero(np.diff(steps) > 0)  # a row per iteration: the last one of a step
    ends = ends[ends >= each - 1]
    if not len(ends):
        return Corrected(columns)
    sums = np.convolve(columns["step_time_s"], np.ones(each), "full")[ends]
    kept = {name: values[ends] for name, values in columns.items()}
    return Corrected(kept | {"step": steps[ends], "step_time_s": sums}, said, each)


def of_rows(columns: Columns, *, from_start: bool = False) -> Corrected:
    """Return the columns with the time of a step, where that of a row is of all steps since the row before.

    from_start: whether the first row has the time of all steps up to it.
    """
    steps = np.diff(columns["step"], prepend=0.0 if from_start else nan)
    return Corrected(columns | {"step_time_s": np.where(steps > 0, columns["step_time_s"] / steps, nan)})


def of_one_step(
    path: Path,
    columns: Columns,
    shown: str,
    *,
    has_rate: bool = False,
    since_start: bool = False,
    has_name: bool = True,
) -> Corrected:
    """Return the columns with the time of a step, where a name such as `time` leaves open what it is of.

    A time that rises from row to row is that since the start; one whose name says so may be the same in two rows.
    If a row is of several steps, time stamps have to
    show whether it is that of one of them. If they do not, it is not read where a row has a throughput; else it
    raises UserError.
    """
    time, step, clock = columns["step_time_s"], columns["step"], columns["clock_s"]
    if since_start and len(time) == 1 and step[0] > 0:
        return Corrected(
            columns | {"step_time_s": time / step}, [f"`{shown}` is that of all steps"], whole_run=True
        )
    rises = np.diff(time)
    slowly = (rises >= 0).all() and time[-1] > (1.0 if since_start else MUCH) * time[0]
    if len(time) > (1 if since_start else 2) and (
        slowly or ((rises > 0).all() and (since_start or len(time) >= BY_CHANCE or _adds_up(time, step)))
    ):
        made = columns | {"clock_s": time, "step_time_s": np.full(len(time), nan)}
        return Corrected(made, [f"`{shown}` rises from row to row: it is the time since the start"])
    if _begins_again(time, step, since_start=since_start):
        made = columns | {"clock_s": time, "step_time_s": np.full(len(time), nan)}
        return Corrected(made, [f"`{shown}` rises from row to row and begins again: it is the time since a start"])
    if len(time) > 2 and (rises <= 0).all() and time[-1] < LEFT * time[1] and not has_name:
        made = columns | {"step_time_s": np.full(len(time), nan)}
        return Corrected(made, [f"`{shown}` falls from row to row: it is the time that is left"])
    steps = np.diff(step)
    if not (len(steps) and np.nanmedian(steps) > 1):
        return Corrected(columns)
    with np.errstate(divide="ignore", invalid="ignore"):
        window = float(np.nanmedian(time[1:] / np.diff(clock))) if not np.isnan(clock).all() else nan
    many = float(np.nanmedian(steps))
    if abs(window * many - 1) < AS_THE_CLOCK:
        return Corrected(columns, [f"`{shown}` is the time of one step, as the time stamps show"])
    if abs(window - 1) < AS_THE_CLOCK:
        made = columns | {"step_time_s": time / np.concatenate([[many], steps])}
        return Corrected(made, [f"`{shown}` is the time of {many:.0f} steps, as the time stamps show"])
    if has_rate:
        made = columns | {"step_time_s": np.full(len(time), nan)}
        return Corrected(made, [f"`{shown}` is not read: it may be the time of one step or of several"])
    raise UserError(
        f"{path}: is `{shown}` the time of one step, or of the {many:.0f} steps since the row before? The log does"
        " not say. Import a table with the columns step and step_time_s, or with time stamps"
    )


def _adds_up(time: np.ndarray, step: np.ndarray) -> bool:
    """Whether times that rise are as long as all their steps take, by the rise between rows."""
    return not _all_steps_s(time, step) < ADDED_UP * time[-1]


def _all_steps_s(time: np.ndarray, step: np.ndarray) -> float:
    """The time of all steps by the rise between rows; nan without steps."""
    ahead = float(step[-1] - step[0])
    return float((time[-1] - time[0]) / ahead * step[-1]) if ahead > 0 else nan


def _begins_again(time: np.ndarray, step: np.ndarray, *, since_start: bool) -> bool:
    """Whether times rise in several parts, as the time since the start of an epoch or the rows of two ranks do.

    since_start: whether their name says it. Then the rise may be small beside the times, if it adds up to them.
    """
    edges = [0, *(np.flatnonzero(np.diff(time) < 0) + 1), len(time)]
    parts = [slice(begin, end) for begin, end in pairwise(edges)]
    whole = [part for part in parts if part.stop - part.start >= (2 if since_start else 3)]
    if len(parts) < 2 or len(whole) < 2 or any(part not in whole for part in parts[1:-1]):
        return False

    each = np.concatenate([np.diff(time[part]) / np.maximum(np.diff(step[part]), 1.0) for part in whole])
    short = min(part.stop - part.start for part in whole) < FEWEST_OF_A_CLOCK
    if short and not each.min() > EVEN * each.max():
        return False  # times that scatter rise twice by chance

    def rises(part: slice) -> bool:
        if not (np.diff(time[part]) > 0).all():
            return False
        all_s, last = _all_steps_s(time[part], step[part]), float(time[part][-1])
        return last > MUCH * time[part][0] or (since_start and ADDED_UP * last <= all_s <= last / ADDED_UP)

    return all(map(rises, whole))
