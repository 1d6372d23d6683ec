"""The predicted effect of a change: the step time, and the throughput, speedup and efficiency that follow."""

from math import isnan, nan

import pandas as pd

from scalestudy.analyse.statistics.intervals import NOTHING, Interval, product
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.findings import AS_MEASURED, Prediction

BETWEEN_STUDIES = 0.067
"""Half-width on the logarithmic scale that is added in quadrature to the limits of predicted gains, because a gain
that is measured again at another time differs by more than the limits of one study. With this value, 90 % of the
measured gains in docs/measurements/verification.csv are within the limits; `python -m bench.verification`
calculates it."""


def saving(case: Case, saved: Interval, assumes: str) -> Prediction:
    """The prediction for a step that is `saved` seconds shorter, at the same batch and memory."""
    step_s = case.point["step_time_s"]
    # At least 1 % of the step remains, since a step cannot take no time. nan stays nan.
    step_time = saved.falling(lambda seconds: max(step_s - seconds, 0.01 * step_s))
    step_time = step_time.widened(BETWEEN_STUDIES)
    gain = step_time.inverse(step_s)
    speedup = product(case.interval("speedup"), gain)
    return Prediction(
        step_time_s=step_time,
        gain=gain,
        speedup=speedup,
        efficiency=speedup.scaled(1 / case.ranks),
        peak_memory_gib=peak_memory_gib(case.point),
        assumes=assumes,
    )


def as_measured(case: Case, row: pd.Series) -> Prediction:
    """The measured values of another row of the summary, at the same work as the point or on one process."""
    mine, theirs = (Interval.of(item, "step_time_s").inverse(item["global_batch"]) for item in (case.point, row))
    speedup, of_base = Interval.of(row, "speedup"), case.interval("speedup")
    gain = NOTHING if isnan(mine.value) else product(theirs, mine.inverse())
    if row["strategy"] == "single" and of_base.value > 0:
        gain = of_base.inverse()  # compared within repeats or runs, where drift of the host cancels
    gain = gain.widened(BETWEEN_STUDIES)
    return Prediction(
        step_time_s=Interval.of(row, "step_time_s"),
        gain=gain,
        speedup=speedup,
        efficiency=speedup.scaled(1 / row["world_size"]),
        peak_memory_gib=peak_memory_gib(row),
        assumes=AS_MEASURED,
    )


def peak_memory_gib(row: pd.Series) -> float:
    """Peak memory in GiB, maximum over ranks: allocated on a device, resident on a host; nan if not measured."""
    allocated, resident = float(row["peak_allocated_gib"]), float(row["peak_resident_gib"])
    return resident if isnan(allocated) else allocated


def peak_memory_at(case: Case, batch_per_rank: float) -> float:
    """Peak memory in GiB at another batch, from the memory per sample on one process; nan if only one batch was
    measured."""
    peak = case.alone["peak_allocated_gib"].fillna(case.alone["peak_resident_gib"])
    alone = case.alone.assign(peak=peak).dropna(subset=["peak"]).sort_values("batch_per_rank")
    if alone["batch_per_rank"].nunique() < 2:
        return nan
    low, high = alone.iloc[0], alone.iloc[-1]
    slope = (high["peak"] - low["peak"]) / (high["batch_per_rank"] - low["batch_per_rank"])
    return peak_memory_gib(case.point) + float(max(0.0, slope) * (batch_per_rank - case.point["batch_per_rank"]))
