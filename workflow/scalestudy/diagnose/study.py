"""The diagnosis of a whole study."""

from __future__ import annotations

from math import isnan

import pandas as pd

from scalestudy.analyse.point.rows import WORK
from scalestudy.diagnose.bottleneck import find_bottleneck
from scalestudy.diagnose.case import Case, make_cases
from scalestudy.diagnose.causes import find_causes
from scalestudy.diagnose.causes.fsdp import ddp_oom
from scalestudy.diagnose.findings import Diagnosis, Finding
from scalestudy.diagnose.verdicts import find_confounded, judge_point
from scalestudy.registry.codes import Verdict
from scalestudy.study.config.study import Study

EFFICIENCY = ((2, "85-95 %"), (4, "75-90 %"), (8, "65-85 %"))
"""Of data-parallel training on GPUs, up to so many ranks; rules of thumb that circulate without a source."""
MANY = "50-75 %"
COMMUNICATION = ((10e6, "50-80 %"), (100e6, "20-50 %"))
"""Share of a step below so many parameters; likewise."""
LARGE = "5-20 %"


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
        findings: tuple[Finding, ...] = (ddp_oom.finding(case, seen),) if seen else ()
    else:
        findings = (invalid,) if invalid else find_causes(case, verdict)
    return Diagnosis(
        **{name: point[name] for name in (*WORK, "variant", "world_size", "batch_per_rank")},
        verdict=verdict,
        sentence=sentence,
        bottleneck=find_bottleneck(case),
        context=usual(case),
        findings=findings,
    )


def usual(case: Case) -> tuple[str, ...]:
    """Sentences on what is usual elsewhere: printed beside a measurement; no verdict rests on it."""
    ranks, parameters = case.ranks, case.point["parameters"]
    efficiency = next((text for most, text in EFFICIENCY if ranks <= most), MANY)
    said = [f"on {ranks} GPUs an efficiency of {efficiency} is usual"]
    if not isnan(parameters):
        share = next((text for below, text in COMMUNICATION if parameters < below), LARGE)
        size = f"{parameters / 1e6:.3g} M" if parameters >= 1e5 else f"{parameters:.0f}"
        said.append(f"at {size} parameters {share} of a step is communication")
    return tuple(said)
