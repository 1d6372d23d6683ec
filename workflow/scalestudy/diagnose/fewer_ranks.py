"""Advises one process or fewer ranks, as they were measured."""

from math import isnan

import pandas as pd

from scalestudy.diagnose.case import Case
from scalestudy.diagnose.findings import Recommendation
from scalestudy.diagnose.predict import as_measured
from scalestudy.registry.codes import Changes, Goal


def fewer_ranks(case: Case) -> list[Recommendation]:
    """Advice to use one process or fewer ranks, as measured, where that serves the study's goal better."""
    smaller = case.smaller.dropna(subset=["throughput_samples_per_s"])
    if case.goal == Goal.COST_PER_SAMPLE:
        return _cheaper(case, smaller)
    advice = []
    if case.point["speedup"] < 1:
        one_process = "Use one process for this workload in its present form: it is faster."
        advice.append(("one_process", one_process, case.base))
    if len(smaller):
        best = smaller.sort_values("throughput_samples_per_s").iloc[-1]
        advice.append(("fewer_ranks", f"Use {best['world_size']} ranks: they are faster than {case.ranks}.", best))
    return [
        _on_ranks_of(case, row, key, change)
        for key, change, row in advice
        if row["throughput_samples_per_s"] > case.point["throughput_samples_per_s"]
    ]


def _cheaper(case: Case, smaller: pd.DataFrame) -> list[Recommendation]:
    """The smaller scale with the least device-time per sample; `Cause.finding` drops it if that is no gain."""

    def throughput_of_a_rank(row: pd.Series) -> float:
        return float(row["throughput_samples_per_s"]) / int(row["world_size"])

    rows = [case.base, *(row for _, row in smaller.iterrows())]
    best = max(
        (row for row in rows if not isnan(throughput_of_a_rank(row))), key=throughput_of_a_rank, default=None
    )
    if best is None:
        return []
    ranks = int(best["world_size"])
    if ranks == 1:
        change = "Use one process: it takes the least device-time per sample."
        return [_on_ranks_of(case, best, "one_process", change)]
    change = f"Use {ranks} ranks: they take the least device-time per sample."
    return [_on_ranks_of(case, best, "fewer_ranks", change)]


def _on_ranks_of(case: Case, row: pd.Series, key: str, change: str) -> Recommendation:
    """Advice to train at the scale of a measured row."""
    return Recommendation(
        id=key,
        change=change,
        prediction=as_measured(case, row),
        changes=Changes.RANKS,
        scale=f"{row['nodes']}x{row['devices_per_node']}",
        global_batch=int(row["global_batch"]),
    )
