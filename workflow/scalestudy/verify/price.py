"""The cost of a trial, estimated from the runs of the study whose advice it tries."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

from scalestudy.analyse.study.effort import device_time_s
from scalestudy.study.plan import Plan
from scalestudy.study.spec import RunSpec
from scalestudy.verify.trials import AFTER


class Price(NamedTuple):
    """The cost of a trial."""

    launches: int
    """Largest number of runs."""
    least_hours: float
    """Device-hours without the runs in reserve."""
    most_hours: float
    """Device-hours with all runs in reserve."""


def price_of(plan: Plan, hours: Callable[[RunSpec], float]) -> Price:
    """The cost of a trial.

    plan: the trial's plan. hours: device-hours of a run, from `hours_of_a_launch`; nan if unknown.
    """
    of_runs = {run: hours(spec) for run, spec in plan.runs.items()}
    least = sum(taken for run, taken in of_runs.items() if not plan.is_reserve(run))
    return Price(len(of_runs), least, sum(of_runs.values()))


def hours_of_a_launch(runs: pd.DataFrame) -> Callable[[RunSpec], float]:
    """A function for the device-hours of a trial's run: the mean of the study's runs with its workload and ranks.

    Without such runs it is the mean of all runs. runs: runs.csv of the study.
    """
    made = runs[runs["outcome"] != "unneeded"]
    taken_h = device_time_s(made) / 3600
    known = taken_h.groupby([made["workload"], made["world_size"]]).mean().dropna().to_dict()
    mean_h = float(taken_h.mean())

    def hours(spec: RunSpec) -> float:
        return float(known.get((spec.workload.removesuffix(f"-{AFTER}"), spec.world_size), mean_h))

    return hours
