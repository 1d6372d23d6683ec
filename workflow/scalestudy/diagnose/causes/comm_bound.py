"""comm-bound: too little computation for each synchronised byte."""

from __future__ import annotations

from math import ceil, inf, isnan, lcm
from typing import Any

from scalestudy.analyse.batch_model import (
    StepModel,
    fit_step_model,
    strong_batch_for,
    strong_efficiency,
    weak_batch_for,
    weak_efficiency,
)
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Cause, Seen, Stage
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.study.scales import world_size

SHARE = 0.10  # of a step; the threshold of PyTorch's Kineto plug-in for communication
ROUND_TO = 8  # samples: batches people would write


def look(case: Case) -> Seen | None:
    """Where the overhead of not being alone is a good part of the step, with its whole interval above nothing."""
    point = case.point
    overhead, share = case.interval("overhead_s"), point["overhead_share"]
    if isnan(share) or share < SHARE or overhead.low <= 0:
        return None
    alone = case.interval("step_time_alone_s").scaled(1e3)
    evidence = (
        *case.overhead_evidence(),
        Evidence("share of the step", share * 100, "%", threshold=f">= {SHARE:.0%}"),
        Evidence("step of one process at equal batch per rank", alone.value, "ms", alone.low, alone.high),
        *_probed(case),
    )
    return Seen(evidence, overhead)


def _explanation(case: Case, seen: Seen) -> str:
    gradient_mib = case.point["gradient_bytes"] / 2**20
    return (
        f"A step at {case.point['batch_per_rank']} samples per rank computes too little for the"
        f" {gradient_mib:.2f} MiB of"
        f" gradients it synchronises. {_what_it_holds(case)}"
    )


def _recommend(case: Case, seen: Seen) -> tuple[Recommendation, ...]:
    larger = _larger_batch(case)
    if not case.point["speedup"] < 1:
        return (larger,)
    alone = Recommendation(
        change="Use one process for this workload as it stands: it is faster.",
        prediction=f"{1 / case.point['speedup']:.2f}x the throughput of {case.ranks} ranks, as measured.",
    )
    return alone, larger


def _what_it_holds(case: Case) -> str:
    """What the overhead consists of, as far as it was told apart."""
    if isnan(case.point["differential_s"]):
        return (
            "The overhead holds communication, waiting for the slower rank, and what ranks take from each other"
            " on the host; these were not told apart."
        )
    return (
        "The probes tell what of the overhead is synchronisation; the rest is what ranks take from each other on"
        " the host, and what a single process has not: the wrapper."
    )


def _probed(case: Case) -> list[Evidence]:
    """What the probes measured of synchronisation; nothing where it was not probed."""
    names = {
        "differential_s": "synchronisation, by blocks with it against blocks without",
        "exposed_span_s": "of it exposed communication",
        "interference_s": "of it interference with computation",
        "wait_time_s": "waiting for the latest rank",
    }
    point = case.point
    return [
        Evidence(name, point[column] * 1e3, "ms", point[f"{column}_low"] * 1e3, point[f"{column}_high"] * 1e3)
        for column, name in names.items()
        if not isnan(point[column])
    ]


def _larger_batch(case: Case) -> Recommendation:
    """The batch that the algebra asks for, with what it should bring; or that these data do not hold it."""
    point, workload = case.point, case.study.workloads[case.point["workload"]]
    alone = case.alone.dropna(subset=["step_time_s"])
    try:
        model = fit_step_model(
            [float(batch) for batch in alone["batch_per_rank"]],
            [float(time) for time in alone["step_time_s"]],
        )
    except ValueError as error:
        return Recommendation(change="Raise the batch per rank.", prediction=f"How far cannot be told: {error}.")
    target, overhead_s = case.target_efficiency, point["overhead_s"]
    all_ranks = [world_size(scale) for scale in case.study.scales]
    known = workload.data.known_train_samples
    samples = inf if known is None else known
    strong = point["scaling"] == "strong"
    if strong:
        wanted = strong_batch_for(model, efficiency=target, ranks=case.ranks, overhead_s=overhead_s)
    else:
        wanted = weak_batch_for(model, efficiency=target, overhead_s=overhead_s)
    unit = lcm(ROUND_TO, *(all_ranks if "strong" in workload.scaling else []))
    batch = max(ceil(wanted / unit) * unit, workload.batch_size)
    whose = "global" if strong else "per rank"
    if batch * (1 if strong else max(all_ranks)) > samples:
        return Recommendation(
            change="Take a larger model or fewer ranks: these data hold no batch that is large enough.",
            prediction=f"An efficiency of {target:.0%} takes a batch of {batch} samples ({whose});"
            f" the data hold {samples}.",
        )
    change: dict[str, Any] = {"batch_size": batch}
    if strong and "weak" in workload.scaling and batch * max(all_ranks) > samples:
        change["scaling"] = ["strong"]  # the data do not hold this batch on every rank
    grown = f"The global batch grows {batch / workload.batch_size:.1f}-fold"
    if known is not None:
        steps = known // (batch if strong else batch * case.ranks)
        grown += f" and an epoch shrinks to {steps} {'step' if steps == 1 else 'steps'}"
    return Recommendation(
        change=f"Raise the batch from {workload.batch_size} to {batch} samples ({whose}).",
        patch={"workloads": {point["workload"]: change}},
        prediction=_prediction(case, model, batch),
        warning=f"{grown}: convergence may suffer. Scale and warm up the learning rate, and"
        " compare accuracy at equal epochs.",
    )


def _prediction(case: Case, model: StepModel, batch: int) -> str:
    """Predicted efficiency at a batch, with the interval that the overhead's interval gives it."""

    def efficiency(overhead_s: float) -> float:
        if case.point["scaling"] == "strong":
            return strong_efficiency(model, global_batch=batch, ranks=case.ranks, overhead_s=overhead_s)
        return weak_efficiency(model, batch_per_rank=batch, overhead_s=overhead_s)

    point = case.point
    value = efficiency(point["overhead_s"])
    limits = ""
    if not isnan(point["overhead_s_low"]):
        low, high = efficiency(point["overhead_s_high"]), efficiency(point["overhead_s_low"])
        limits = f" [{low:.0%}, {high:.0%}]"
    batches = ", ".join(f"{b:g}" for b in sorted(case.alone["batch_per_rank"]))
    return (
        f"Efficiency {value:.0%}{limits}, speedup {value * case.ranks:.2f}x on {case.ranks} ranks. Assumes the"
        f" overhead stays as measured and the step of one process is linear in the batch (from {batches})."
    )


COMM_BOUND = Cause(
    id="comm-bound",
    stage=Stage.SIZE,
    threshold="overhead >= 10 % of a step (PyTorch's Kineto plug-in), its interval above 0",
    look=look,
    explanation=_explanation,
    refuted_by="an overhead that grows in proportion to the batch: then it is not synchronisation",
    recommend=_recommend,
)
