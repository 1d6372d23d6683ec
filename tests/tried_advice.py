"""Simulated trials of advice from given step times: a point before and after it, in repeats that drift alike."""

from __future__ import annotations

from collections.abc import Iterable
from math import nan
from typing import Any, NamedTuple

import pandas as pd
from builders import study_of
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.findings import Diagnosis, Finding, Prediction, Recommendation
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import Plan, make_plan
from scalestudy.verify.model import Place, Trial

BEFORE = Place(workload="mlp", variant="ddp", scaling="strong", nodes=1, devices_per_node=2)
PATCH: dict[str, Any] = {"variants": {"ddp": {"ddp": {"bucket_cap_mb": 5}}}}
TIMES = {("mlp", 1, 32): 0.0010, ("mlp", 1, 16): 0.0006, ("mlp", 2, 16): 0.0040, ("mlp", 2, 32): 0.0041}
SELDOM = Recommendation(
    id="save_less_often",
    change="Write a checkpoint every 10 steps.",
    patch={"variants": {"ddp": {"checkpoint_every_steps": 10}}},
    unpredicted="it is a test.",
)


def only_seldom(diagnoses: Iterable[Diagnosis]) -> tuple[Diagnosis, ...]:
    """The diagnoses with SELDOM as their only advice."""
    finding = Finding(cause="checkpointing", explanation="", evidence=(), refuted_by="", recommendations=(SELDOM,))
    return tuple(one.model_copy(update={"findings": (finding,)}) for one in diagnoses)


class TriedStudy(NamedTuple):
    """The plan and tables of a trial's study."""

    plan: Plan
    summary: pd.DataFrame
    runs: pd.DataFrame
    epochs: pd.DataFrame


def trial_of(gain: Interval | None, **after: Any) -> Trial:
    """Return a trial of another bucket size. gain: the predicted gain. after: changes of the point after it."""
    predicted = None
    if gain is not None:
        nothing = Interval(nan)
        predicted = Prediction(
            step_time_s=nothing, gain=gain, speedup=nothing, efficiency=nothing, peak_memory_gib=nan, assumes="x"
        )
    return Trial(
        id="t",
        cause="bucket-size",
        advice="default_buckets",
        change="Leave buckets alone.",
        patch=PATCH,
        before=BEFORE,
        after=BEFORE.model_copy(update={"variant": "ddp-after"} | after),
        predicted=predicted,
    )


def tried_study(content: dict[str, Any], *, gain: float = 2.0, outcome: str = "ok") -> TriedStudy:
    """Return a trial in three drifting repeats: 4 ms before, 4 ms/gain after. outcome: of the runs after."""
    content["variants"] |= {"ddp-after": {"strategy": "ddp", "ddp": {"bucket_cap_mb": 5}}}
    plan = make_plan(parse_study(content | {"repeats": 3}, source="x"))
    runs = study_of(plan, {key: [time] * 3 for key, time in TIMES.items()})
    after = runs["variant"] == "ddp-after"
    drift = runs["repeat"].map({1: 1.0, 2: 1.3, 3: 0.8})
    faster = after.map({True: gain, False: 1.0})
    few = runs["repeat"].map({1: 1.01, 2: 1.0, 3: 0.99})
    for column, factor in (("step_time_s", drift / faster), ("throughput_samples_per_s", faster * few / drift)):
        runs[column] *= factor
    runs.loc[~after, "throughput_samples_per_s"] /= few
    runs.loc[after, "outcome"] = outcome
    epochs = runs[["run_id"]].assign(epoch=1, epoch_time_s=runs["step_time_s"] * 100)
    return TriedStudy(plan, summary_frame(plan, runs), runs, epochs)
