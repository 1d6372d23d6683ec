"""The diagnosis of a whole study."""

from __future__ import annotations

import pandas as pd

from scalestudy.diagnose.bottleneck import find_bottleneck
from scalestudy.diagnose.case import Case, make_cases
from scalestudy.diagnose.causes import find_causes, find_out_of_memory
from scalestudy.diagnose.context import usual
from scalestudy.diagnose.findings import Diagnosis, Finding
from scalestudy.diagnose.verdicts import confounded
from scalestudy.diagnose.verdicts.judge import judge_point
from scalestudy.registry.codes import Verdict
from scalestudy.study.config.study import Study


def diagnose_study(study: Study, summary: pd.DataFrame, forecasts: pd.DataFrame) -> list[Diagnosis]:
    """A diagnosis for every distributed point of the summary, in its order."""
    return [_diagnose(case) for case in make_cases(study, summary, forecasts)]


def _diagnose(case: Case) -> Diagnosis:
    point = case.point
    measured = bool(point["launches_ok"]) and bool(case.base["launches_ok"])
    invalid = confounded.find(case) if measured else None
    verdict, sentence = judge_point(case, confounded=invalid is not None)
    if verdict == Verdict.NOT_MEASURED:
        findings: tuple[Finding, ...] = find_out_of_memory(case)
    else:
        findings = (invalid,) if invalid else find_causes(case, verdict)
    return Diagnosis(
        workload=point["workload"],
        variant=point["variant"],
        scaling=point["scaling"],
        nodes=int(point["nodes"]),
        devices_per_node=int(point["devices_per_node"]),
        world_size=case.ranks,
        batch_per_rank=int(point["batch_per_rank"]),
        global_batch=int(point["global_batch"]),
        verdict=verdict,
        sentence=sentence,
        bottleneck=find_bottleneck(case),
        context=usual(case),
        findings=findings,
    )
