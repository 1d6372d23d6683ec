"""The diagnosis of a study: verdict, bottleneck and findings of each point, with published values for context."""

import contextlib
from math import isnan

import pandas as pd

from scalestudy.analyse.forecast.batches import step_model
from scalestudy.analyse.forecast.columns import NoFitError
from scalestudy.analyse.point.rows import WORK, last_often
from scalestudy.diagnose.case import Case, make_cases
from scalestudy.diagnose.causes import find_causes
from scalestudy.diagnose.causes.fsdp import ddp_oom
from scalestudy.diagnose.findings import Bottleneck, Diagnosis
from scalestudy.diagnose.named import Named
from scalestudy.diagnose.unseen import not_judged
from scalestudy.diagnose.usual import usual
from scalestudy.diagnose.verdicts import find_confounded, judge_point
from scalestudy.registry.codes import Verdict
from scalestudy.study.config.study import Study


def diagnose_study(study: Study, summary: pd.DataFrame, forecasts: pd.DataFrame) -> list[Diagnosis]:
    """A diagnosis for every distributed point of the summary, in its order."""
    return [_diagnose(case) for case in make_cases(study, summary, forecasts)]


def _diagnose(case: Case) -> Diagnosis:
    point = case.point
    measured = bool(point["launches_ok"]) and bool(case.base["launches_ok"])
    invalid = find_confounded(case) if measured else None
    verdict, sentence = judge_point(case, confounded=invalid is not None)
    if verdict == Verdict.NOT_MEASURED:
        seen = ddp_oom.look(case)
        named = Named((ddp_oom.finding(case, seen),) if seen else ())
    else:
        named = Named((invalid,)) if invalid else find_causes(case, verdict)
    return Diagnosis(
        **{name: point[name] for name in (*WORK, "variant", "world_size", "batch_per_rank")},
        goal=case.goal,
        verdict=verdict,
        sentence=sentence,
        bottleneck=find_bottleneck(case),
        context=usual(case),
        **vars(named),
        not_judged=not_judged(case),
    )


def find_bottleneck(case: Case) -> Bottleneck:
    """`input`, `bookkeeping` (logging and checkpoints), `straggler`, `communication`, `launch` or `compute`.

    `launch` is the part of one process's step that does not depend on its batch, `compute` the rest. Communication
    is the synchronisation that the probes found, minus waiting for a late rank; without probes, all overhead.
    `memory` if no run completed because memory was short. Unknown for imported runs, whose logs have no parts.
    """
    point = case.point
    if case.study.imported:
        return Bottleneck(kind="", shares={})
    if not point["launches_ok"]:
        return Bottleneck(kind="memory" if point["launches_oom"] else "", shares={})
    step_s = point["step_time_s"]
    together_s = point["overhead_s"] if isnan(point["differential_s"]) else point["differential_s"]
    if isnan(step_s) or isnan(together_s):
        return Bottleneck(kind="", shares={})
    late_s, often = point["lateness_s"], point["late_share"] >= last_often(case.ranks)
    seconds = {
        "input": point[["data_time_s", "h2d_time_s"]].sum(),
        "bookkeeping": point[["logging_time_s", "checkpoint_time_s"]].sum(),
        "straggler": late_s if late_s > 0 and often else 0.0,
    }
    seconds["communication"] = together_s - seconds["straggler"]
    with contextlib.suppress(NoFitError):  # then it counts as computation
        seconds["launch"] = step_model(case.alone).fixed_s - seconds["input"]
    left_s = step_s
    shares = {}
    for kind, wanted_s in seconds.items():
        taken_s = min(max(0.0, wanted_s), left_s)  # parts measured at different times may exceed the step
        left_s -= taken_s
        shares[kind] = taken_s / step_s
    shares["compute"] = left_s / step_s
    return Bottleneck(kind=max(shares, key=shares.__getitem__), shares=shares)
