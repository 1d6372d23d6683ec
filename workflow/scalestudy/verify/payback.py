"""Computes after how many trainings the device-hours of trying a piece of advice are repaid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan, nan

import pandas as pd

from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.diagnose.findings import Diagnosis, Payback, Recommendation
from scalestudy.registry.codes import Unpaid
from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.plan import Plan, make_plan
from scalestudy.study.spec import RunSpec
from scalestudy.verify.model import Place
from scalestudy.verify.price import hours_of_a_launch, price_of
from scalestudy.verify.trials import AdviceError, make_trial, parse_trial, why_not, with_point


def with_paybacks(
    plan: Plan, diagnoses: Sequence[Diagnosis], runs: pd.DataFrame, epochs: pd.DataFrame
) -> list[Diagnosis]:
    """The diagnoses, with the payback of every recommendation.

    runs, epochs: runs.csv and epochs.csv of the study.
    """
    hours = hours_of_a_launch(runs)
    trained_s = epochs.groupby("run_id")["epoch_time_s"].sum()
    made = runs[(runs["outcome"] == "ok")].set_index("run_id").index
    found = []
    for diagnosis in diagnoses:
        at = Place.of(diagnosis)
        training_h = _training_hours(plan, at, trained_s.reindex(trained_s.index.intersection(made)))
        findings = [
            finding.model_copy(
                update={
                    "recommendations": tuple(
                        advice.model_copy(
                            update={"payback": payback(plan, at, finding.cause, advice, training_h, hours)}
                        )
                        for advice in finding.recommendations
                    )
                }
            )
            for finding in diagnosis.findings
        ]
        found.append(diagnosis.model_copy(update={"findings": tuple(findings)}))
    return found


def payback(
    plan: Plan, at: Place, cause: str, advice: Recommendation, training_h: float, hours: Callable[[RunSpec], float]
) -> Payback:
    """The cost of trying advice at one point, and the number of trainings that repay it.

    training_h: wall-clock hours of a training at the point, which occupies all its devices; nan if unknown. hours:
    device-hours of a run. Advice to use fewer ranks also saves the device-hours of the ranks that are not used.
    """
    if why_not(advice):
        return Payback(unknown=Unpaid.NO_TRIAL)
    try:
        trial, content = make_trial(plan.study, at, cause, advice)
        price = price_of(make_plan(parse_trial(trial, with_point(content, at), advice)), hours)
    except AdviceError:
        return Payback(unknown=Unpaid.NO_TRIAL)  # `scalestudy verify` reports the refused key
    cost = {"least_device_hours": price.least_hours, "most_device_hours": price.most_hours}
    gain = NOTHING if advice.prediction is None else advice.prediction.gain
    ranks = [place.nodes * place.devices_per_node for place in (at, trial.after)]
    saved = gain.map(lambda times: training_h * (ranks[0] - ranks[1] / times))
    unknown = _unknown(price.most_hours, gain, training_h, saved)
    if unknown != Unpaid.NONE:
        return Payback(**cost, unknown=unknown)
    return Payback(**cost, saved_device_hours=saved, trainings=saved.inverse(price.most_hours))


def _unknown(most_h: float, gain: Interval, training_h: float, saved: Interval) -> Unpaid:
    if isnan(most_h):
        return Unpaid.COST_UNKNOWN
    if isnan(gain.value):
        return Unpaid.NOT_PREDICTED
    if isnan(training_h):
        return Unpaid.LENGTH_UNKNOWN
    if saved.value <= 0:
        return Unpaid.NOTHING_SAVED
    return Unpaid.WITHIN_NOISE if saved.low <= 0 else Unpaid.NONE


def _training_hours(plan: Plan, at: Place, trained_s: pd.Series) -> float:
    """Hours of a whole training at a point, mean over its runs; nan if no run trains to the end.

    trained_s: total seconds of the epochs of each good run, by run id.
    """
    workload = plan.study.workloads[at.workload]
    whole = workload.run_to_end if isinstance(workload, CommandWorkload) else workload.epochs > 0
    if not whole:
        return nan
    point = plan.point_at(**at.model_dump())
    assert point is not None, "a diagnosis belongs to a point of the plan"
    return float(trained_s.reindex(list(point.runs)).mean()) / 3600
