"""Causes of size: too little to compute for each synchronised byte, or for each operation that is started."""

from functools import partial
from math import ceil, inf, isnan, lcm
from typing import Any

from scalestudy.analyse.forecast.batches import StepModel, step_model
from scalestudy.analyse.forecast.columns import NoFitError
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Seen, Stage, cause
from scalestudy.diagnose.findings import Evidence, Prediction, Recommendation
from scalestudy.diagnose.predict import as_measured, peak_memory_at
from scalestudy.registry.codes import Wrapper
from scalestudy.registry.words.refusals import no_forecast
from scalestudy.study.config.scales import world_size

SHARE = 0.10  # of a step; the threshold of PyTorch's Kineto plug-in for communication
FIXED = 0.5  # of the step of one process at a rank's batch
ROUND_TO = 8  # samples: batches people would write
PROBED = {
    "differential_s": ("synchronisation", "synchronisation, by blocks with it against blocks without"),
    "exposed_span_s": ("exposed_communication", "of it exposed communication"),
    "interference_s": ("interference", "of it interference with computation"),
    "wait_time_s": ("wait_for_latest_rank", "waiting for the latest rank"),
}
"""What the probes measure of synchronisation, with key and name of the evidence."""


@cause(
    "comm-bound",
    Stage.SIZE,
    refuted_by="an overhead that grows in proportion to the batch: then it is not synchronisation",
)
def comm_bound(case: Case) -> Seen | None:
    """Overhead of not being alone >= 10 % of a step (PyTorch's Kineto plug-in), its interval above 0."""
    point, overhead = case.point, case.interval("overhead_s")
    if isnan(point["overhead_share"]) or point["overhead_share"] < SHARE or overhead.low <= 0:
        return None
    if isnan(point["differential_s"]):
        holds = (
            "The overhead holds communication, waiting for the slower rank, and what ranks take from each other"
            " on the host; these were not told apart."
        )
    else:
        alike = case.base["wrapper"] != Wrapper.NONE
        holds = (
            "The probes tell what of the overhead is synchronisation; the rest is what ranks take from each other"
            f" on the host{'' if alike else ', and what a single process has not: the wrapper'}."
        )
    alone = case.interval("step_time_alone_s")
    evidence = (
        *case.overhead_evidence(),
        case.share_evidence(overhead.value, SHARE),
        Evidence.of("step_of_one_process", "step of one process at equal batch per rank", alone, "ms"),
        *(
            Evidence.of(key, name, case.interval(column), "ms")
            for column, (key, name) in PROBED.items()
            if not isnan(point[column])
        ),
    )
    advice = [_larger_batch(case)]
    if point["speedup"] < 1:
        one_process = Recommendation(
            id="one_process",
            change="Use one process for this workload as it stands: it is faster.",
            prediction=as_measured(case, case.base),
            keeps_the_work=False,
        )
        advice.insert(0, one_process)
    return Seen(
        f"A step at {point['batch_per_rank']} samples per rank computes too little for the"
        f" {point['gradient_bytes'] / 2**20:.2f} MiB of gradients it synchronises. {holds}",
        evidence,
        tuple(advice),
        overhead,
    )


def _larger_batch(case: Case) -> Recommendation:
    """The batch that the algebra asks for, with what it should bring; or that these data do not hold it."""
    point, workload = case.point, case.study.workloads[case.point["workload"]]
    larger = partial(Recommendation, id="larger_batch", keeps_the_work=False)
    try:
        model = step_model(case.alone)
    except NoFitError as error:
        reason = f"how far cannot be told: {no_forecast(error.columns)}."
        return larger(change="Raise the batch per rank.", unpredicted=reason)
    target, overhead_s = case.target_efficiency, point["overhead_s"]
    if target >= 1:
        change = "Raise the batch per rank, and lower report.target_efficiency below 1."
        return larger(change=change, unpredicted="no batch brings the overhead to nothing.")
    all_ranks = [world_size(scale) for scale in case.study.scales]
    known = workload.known_train_samples
    samples = inf if known is None else known
    strong = point["scaling"] == "strong"
    wanted = model.batch_for(target, overhead_s, ranks=case.ranks, strong=strong)
    parts = case.script.batches_per_step if case.script is not None else 1
    unit = lcm(ROUND_TO, *(parts * ranks for ranks in all_ranks) if "strong" in workload.scaling else (parts,))
    batch = max(ceil(wanted / unit) * unit, workload.batch_size)
    whose = "global" if strong else "per rank"
    if batch * (1 if strong else max(all_ranks)) > samples:
        return Recommendation(
            id="larger_model",
            change="Take a larger model or fewer ranks: these data hold no batch that is large enough.",
            unpredicted=f"an efficiency of {target:.0%} takes a batch of {batch} samples"
            f" {'in all' if strong else f'a rank, on {max(all_ranks)} ranks'}; the data hold {samples}.",
            keeps_the_work=False,
        )
    patch: dict[str, Any] = {"batch_size": batch}
    if strong and "weak" in workload.scaling and batch * max(all_ranks) > samples:
        patch["scaling"] = ["strong"]  # the data do not hold this batch on every rank
    grown = f"The global batch grows {batch / workload.batch_size:.1f}-fold"
    if known is not None:
        steps = known // (batch if strong else batch * case.ranks)
        grown += f" and an epoch shrinks to {steps} {'step' if steps == 1 else 'steps'}"
    return larger(
        change=f"Raise the batch from {workload.batch_size} to {batch} samples ({whose}).",
        patch={"workloads": {point["workload"]: patch}},
        prediction=_prediction(case, model, batch),
        warning=f"{grown}: convergence may suffer. Scale and warm up the learning rate, and"
        " compare accuracy at equal epochs.",
    )


def _prediction(case: Case, model: StepModel, batch: int) -> Prediction:
    """At a batch, with the limits that those of the overhead give it."""
    strong, ranks = case.point["scaling"] == "strong", case.ranks
    batch_per_rank = batch / ranks if strong else batch
    overhead = case.interval("overhead_s")
    kept = overhead.falling(lambda seconds: model.efficiency(batch, seconds, ranks=ranks, strong=strong))
    alone_s = model.step_time_s(batch_per_rank)
    step_time = overhead.map(lambda seconds: alone_s + seconds)
    throughput = step_time.inverse(batch_per_rank * ranks)
    batches = ", ".join(f"{b:g}" for b in sorted(case.alone["batch_per_rank"]))
    return Prediction(
        step_time_s=step_time,
        gain=throughput.scaled(1 / case.point["throughput_samples_per_s"]),
        speedup=kept.scaled(ranks),
        efficiency=kept,
        peak_memory_gib=peak_memory_at(case, batch_per_rank),
        assumes="if the overhead stays as measured and the step of one process is linear in the batch (from"
        f" {batches})",
    )


@cause("launch-bound", Stage.SIZE, refuted_by="a step of one process that shrinks in proportion to its batch")
def launch_bound(case: Case) -> Seen | None:
    """Half of a process's step or more does not depend on its batch (fit of a + b batch): the host is the limit.

    Strong scaling: what a rank's share of the batch takes alone, above its share of the whole batch's time.
    """
    point, ranks = case.point, case.ranks
    alone, base_s = case.interval("step_time_alone_s"), case.base["step_time_s"]
    if point["scaling"] != "strong" or isnan(alone.value) or isnan(base_s):
        return None
    lost_s = alone.value - base_s / ranks
    if lost_s < SHARE * point["step_time_s"]:
        return None
    try:
        fixed_s = step_model(case.alone).fixed_s
    except NoFitError:  # it does not grow with its batch at all
        fixed_s = alone.value
    if fixed_s < FIXED * alone.value:
        return None
    mine, whole = point["batch_per_rank"], case.base["batch_per_rank"]
    fixed = min(1.0, fixed_s / alone.value)
    evidence = (
        Evidence.of("step_of_one_process", f"one process at {mine} samples", alone, "ms a step"),
        Evidence.of("ideal_step", f"1/{ranks} of its step at {whole} samples", base_s / ranks, "ms"),
        Evidence.of("fixed_share", "part of the step that does not depend on the batch", fixed, "%"),
    )
    compiled = Recommendation(
        id="compile",
        change="Compile the model, so that fewer and larger operations are started.",
        patch={"variants": {name: {"compile": True} for name in (point["variant"], case.base["variant"])}},
        unpredicted="how many operations become one is the model's own;"
        f" {lost_s * 1e3:.3g} ms a step less at the most.",
    )
    weak = Recommendation(
        id="weak_scaling",
        change="Or hold the batch of a rank instead of the global one (weak scaling), if training bears it.",
        unpredicted="the rows of weak scaling say it, where they were measured.",
        keeps_the_work=False,
        warning="The global batch grows with the ranks: scale and warm up the learning rate.",
    )
    return Seen(
        f"At {mine} samples a rank is as busy with starting operations as with computing: on one process a"
        f" {ranks}th of the batch takes more than a {ranks}th of the time, without any communication.",
        evidence,
        (compiled, weak),
        Interval(lost_s),
    )
