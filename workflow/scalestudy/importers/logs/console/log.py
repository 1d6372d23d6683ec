"""From the rows of a console log to our own terms: what its rows are of, and how exact their numbers are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from scalestudy.importers.logs.console import samples_done
from scalestudy.importers.logs.console.corrected import (
    Columns,
    Corrected,
    in_optimizer_steps,
    in_steps,
    of_an_environment,
    of_one_step,
    of_rows,
    of_samples,
    time_of_steps,
    without_start,
)
from scalestudy.importers.logs.console.form import MEASURED
from scalestudy.importers.logs.console.phrase import Phrase
from scalestudy.importers.logs.console.progress import QUICKEST_S
from scalestudy.importers.logs.console.rows import RowReader
from scalestudy.importers.logs.console.running_means import of_all_steps, of_falling
from scalestudy.importers.logs.model import Given, Log, Rows
from scalestudy.importers.logs.stated import facts_of
from scalestudy.importers.logs.steps.clocks import median
from scalestudy.importers.logs.trainers import ANY, NUMBERED, OF_THE_LAST_STEP

QUICKEST_TRAINED_S = 0.01
"""Seconds that a step takes at least where rows have a reward: shorter ones are those of an environment."""
MANY = 8
"""Numbers that scatter of which the rounding evens out."""
WHOLE = 1e-6
"""Difference to a whole number up to which a number has no further digits."""
SHOWN = {
    "epoch": "epoch",
    "step": "step",
    "step_time_s": "step time",
    "work_per_s": "throughput",
    "clock_s": "time since the start",
}


def log_of(reader: RowReader, rows: Rows, given: Given) -> Log:
    """Return the log of the rows that a reader found. Raises UserError for a batch that is not known."""
    form, trainer, path = reader.form, reader.form.trainer, reader.path
    rate, time = form.read.get("work_per_s"), form.read.get("step_time_s")
    columns, remarks = rows.columns(), list(_remarks(reader))
    rounding = {name: _rounding(form.read.get(name), columns[name]) for name in ("step_time_s", "work_per_s")}
    if form.shares and trainer is ANY:
        counted = samples_done.in_steps(path, columns, form.shares, given)
        columns, remarks = counted.columns, [*remarks, *counted.remarks]
        if form.shares[0] > 1 and counted.remarks:
            reader.said.setdefault("devices", form.shares[0])
    means = reader.means.between(columns, form.mean_digits) if time else None
    meant = means or _meant(reader, columns, given)
    if meant:
        columns, remarks = meant.columns, [*remarks, *meant.remarks]
    if form.rewarded and median(time_of_steps(columns)) < QUICKEST_TRAINED_S:
        of_steps = of_an_environment(path, columns, given)
        columns, remarks = of_steps.columns, [*remarks, *of_steps.remarks]
    running = trainer.each == "running"
    if running:
        columns = {name: values[-1:] for name, values in columns.items()}
    last = not means and (trainer.each == "last" or (time is not None and time.averaged))
    if trainer.remark and (time or running) and not means:
        remarks.append(trainer.remark)
    elif last:
        remarks.append(OF_THE_LAST_STEP)
    return Log(
        path=path,
        kind=trainer.kind,
        columns=columns,
        facts=facts_of(reader.said, meant.accumulation if meant else None),
        unit=trainer.unit or (rate.unit if rate else ""),
        per=trainer.per or ("all" if reader.by_rates else rate.per if rate else ""),
        each="last" if last else "mean",
        whole_run=running or (meant is not None and meant.whole_run),
        rounding=rounding["work_per_s" if np.isnan(columns["step_time_s"]).all() else "step_time_s"],
        remarks=remarks,
    )


def _meant(reader: RowReader, columns: Columns, given: Given) -> Corrected | None:
    """What the rows are of, where names and units do not say it; None if they are as they are printed."""
    form, trainer, path = reader.form, reader.form.trainer, reader.path
    time, place = form.read.get("step_time_s"), form.read.get("step")
    if trainer.counts_samples:
        return in_steps(path, columns, given)
    if time and place and place.position and (columns["step_time_s"] < QUICKEST_S).all():
        return of_samples(path, columns, time.shown, given)
    if time and form.of_epochs:
        said = f"`{time.shown}` is the time of all steps of an epoch, and has more digits than that of one"
        of_epoch = of_rows(columns, from_start=True)
        return replace(of_epoch, remarks=[said, *of_epoch.remarks])
    if time and trainer in (ANY, NUMBERED) and not (time.of_a_step or time.averaged):
        has_rate, started, named = "work_per_s" in form.read, time.since_start, bool(time.name)
        return of_one_step(path, columns, time.shown, has_rate=has_rate, since_start=started, has_name=named)
    if time and trainer is ANY:
        means = (of_all_steps if time.is_mean else of_falling)(columns, time.digits(time.value))
        if means:
            return means
    if reader.optimizer_steps:
        return in_optimizer_steps(columns, np.array(reader.optimizer_steps))
    if trainer.of_rows:
        return of_rows(columns)
    if trainer.window:
        return without_start(columns, trainer.window)
    return None


def _rounding(phrase: Phrase | None, values: np.ndarray) -> float:
    """The largest relative error of numbers by their last printed digit; 0 if many scatter, as it evens out."""
    if phrase is None or not phrase.factor or b"e" in phrase.value.lower() or not len(values):
        return 0.0
    last = 10.0 ** -phrase.digits(phrase.value)
    whole = np.abs(values / last - np.round(values / last)).max() < WHOLE
    known = len(values) < MANY or values.std() < last / 2
    return last / 2 / float(values.mean()) if whole and values.mean() > 0 and known else 0.0


def _remarks(reader: RowReader) -> Iterator[str]:
    read = reader.form.read
    shown = [f"{what} `{read[name].shown}`" for name, what in SHOWN.items() if name in read]
    yield f"a row was read as: {', '.join(shown)}" + ("" if MEASURED & set(read) else ", and its time stamp")
    if reader.others:
        rank = (reader.first_rank or b"").decode()
        yield f"{reader.others} rows of other ranks are left out: those of rank {rank} count"
    if reader.again:
        yield f"{reader.again} lines repeat the row before and are left out"
    if reader.by_rates:
        yield f"{reader.said['devices']} devices, from the ratio of the two printed rates"
    if reader.odd:
        yield f"{reader.odd} lines of another form are left out"
