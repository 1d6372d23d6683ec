"""Causes in the host and its input: threads, NUMA nodes, waiting for data, logging, checkpoints.

Each part of a step is measured end to end. So its share is the saving from removing it, unless other waiting then
replaces it.
"""

from math import ceil, isnan
from typing import NamedTuple

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Seen, Stage, cause
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.diagnose.predict import saving
from scalestudy.diagnose.support import beyond, is_possible
from scalestudy.registry.words.percent import percent
from scalestudy.registry.words.points import far_ranks, numa_ranks

THREADS_PER_CORE = 1.0
NUMA_SHARE = 0.02  # of a step
ON_ONE_NODE = (
    "Bind every rank to cores of a single NUMA node, the node of its GPU: use host.pin with a cores_per_rank that"
    " divides a node, or srun --cpu-bind=ldoms."
)
NEAR_THE_GPU = (
    "Give the job cores on each GPU's socket: host.pin binds ranks to them if the job has enough. On SLURM,"
    " request whole nodes or use --gres-flags=enforce-binding."
)
CHECKPOINTS = 0.05  # of a step
TEN_TIMES = 10  # factor by which logging or checkpoints should become rarer
RARER = "if no other waiting replaces the time saved; the baseline may gain too"


@cause("oversubscribed", Stage.HOST, refuted_by="the same step time with threads = cores / ranks")
def oversubscribed(case: Case) -> Seen | None:
    """The ranks have more threads than cores. Whatever the verdict, this may hide all other causes."""
    ratio = case.point["threads_per_core"]
    if not ratio > THREADS_PER_CORE:
        return None
    ranks = int(case.point["devices_per_node"])  # of a host, as threads and cores are
    threads = int(case.point["threads_per_rank"] * case.point["devices_per_node"])
    cores = round(threads / ratio)
    too_few = f"{cores} cores are too few for {case.ranks} ranks: use a larger host"
    return Seen(
        f"{threads} compute threads share {cores} cores of a host, so ranks wait for each other's time slices."
        " Other causes cannot be identified until this is fixed.",
        (Evidence.of("threads_per_core", "threads per core", ratio, "", f"> {THREADS_PER_CORE:g}"),),
        (
            Recommendation(
                id="cores_of_its_own",
                change="Give every rank its own cores, and as many threads as cores.",
                patch={"host": {"pin": True, "cores_per_rank": max(1, cores // ranks)}},
                unpredicted="scalestudy has no model of time slices. Measure again.",
                warning="" if cores >= ranks else too_few,
            ),
        ),
    )


@cause(
    "numa",
    Stage.HOST,
    refuted_by="the same difference when every rank has cores of a single NUMA node, near its GPU",
)
def numa(case: Case) -> Seen | None:
    """Ranks have cores on several NUMA nodes or off the socket of their GPU, and their host work takes longer, by
    >= 2 % of the step.

    They are compared with better bound ranks of the same run; without such ranks there is no finding.
    """
    excess_s, least_s = case.point["numa_excess_s"], NUMA_SHARE * case.point["step_time_s"]
    lost_s, found = Interval(excess_s), excess_s >= least_s
    support = beyond(case, lost_s, least_s)
    if not (found or is_possible(support)):
        return None
    across, far = numa_ranks(case.point), far_ranks(case.point)
    name = f"additional host work of {across if across and not far else 'these ranks'}"
    on_several = (
        f"The cores of {across} are on several NUMA nodes; reading and copying takes longer there than on ranks"
    )
    said = (
        f"{on_several} that use a single node." if across else "",
        f"{far[0].upper()}{far[1:]}. Its copies cross the link between the sockets." if far else "",
    )
    off_socket = (Evidence.of("far_ranks", far, far.count(";") + 1, "ranks", "0"),) if far else ()
    return Seen(
        " ".join(filter(None, said)),
        (
            *off_socket,
            Evidence.of("extra_host_work", name, excess_s, "ms per step"),
            case.share_evidence(excess_s, NUMA_SHARE),
        ),
        (
            Recommendation(
                id="bind_to_numa_node",
                change=ON_ONE_NODE if not far else NEAR_THE_GPU,
                patch=None if case.study.host.pin else {"host": {"pin": True}},
                prediction=saving(case, lost_s, "if all ranks become as fast as the better bound ones"),
            ),
        ),
        lost_s,
        support=support,
        found=found,
    )


@cause("input-bound", Stage.HOST, refuted_by="the same step time with synthetic data of the same shape")
def input_bound(case: Case) -> Seen | None:
    """Data wait >= 10 % of a step, critical from 20 % (TraceML).

    The advice is to read ahead with more processes: `workers` of them share the reading and hide it in the step.
    """
    part = _part(case, "data_time_s", "waiting for data", 0.10, ", critical from 20 % (TraceML)")
    if part is None:
        return None
    waited_s, evidence = part.seconds, part.evidence
    step_s, read_s, known = case.point["step_time_s"], waited_s.value, case.knobs.input.workers
    compute_s = step_s - read_s
    # With workers, the wait is only the part of the reading that they did not hide.
    whole_s = known * step_s if known else read_s
    workers = max(max(1, known) + 1, ceil(whole_s / compute_s))
    left_s = max(0.0, whole_s / workers - compute_s)  # reading time that exceeds the computation
    change = {"loader": "dataloader", "workers": workers, "persistent_workers": True}
    if str(case.point["device"]) != "cpu":
        change["pin_memory"] = True
    read_ahead = Recommendation(
        id="read_ahead",
        change=f"Read ahead with {workers} processes per rank.",
        patch=case.variant_patch({"input": change}),
        prediction=saving(case, waited_s.scaled(1 - left_s / read_s), "if each process has a core of its own"),
        warning="The processes need cores of the host. If it has none to spare, prepare the data beforehand"
        " (scalestudy stage prepare), or keep them on the device.",
    )
    synthetic = Recommendation(
        id="synthetic_data",
        change="Measure with synthetic data of the same shape to find the speed of training without input.",
        prediction=saving(case, waited_s, "if no time is spent waiting for data (upper bound)"),
    )
    return Seen(
        f"The data loader does not keep up: ranks wait for their batch for {percent(read_s / step_s)} of every"
        " step.",
        evidence,
        (read_ahead, synthetic),
        waited_s,
        case.beyond_alone("data_time_s"),
        support=part.support,
        found=part.found,
    )


@cause("sync-logging", Stage.HOST, refuted_by="the same step time with rarer logging")
def sync_logging(case: Case) -> Seen | None:
    """Logging >= 5 % of a step (calibrated by injection)."""
    part = _part(case, "logging_time_s", "logging", 0.05)
    if part is None:
        return None
    logged_s, evidence = part.seconds, part.evidence
    every = (case.knobs.log_every_steps or 1) * TEN_TIMES
    often = f"logged every {case.knobs.log_every_steps} steps" if case.knobs.log_every_steps else "on average"
    return Seen(
        f"Reading and printing the loss takes {percent(logged_s.value / case.point['step_time_s'])} of the steps'"
        f" time, {often}. On a GPU, it also waits for all queued work.",
        evidence,
        (
            Recommendation(
                id="log_less_often",
                change=f"Log every {every} steps.",
                patch=case.variant_patch({"log_every_steps": every}),
                prediction=saving(case, logged_s.scaled(1 - 1 / TEN_TIMES), RARER),
            ),
        ),
        logged_s,
        case.beyond_alone("logging_time_s"),
        support=part.support,
        found=part.found,
    )


@cause("checkpointing", Stage.HOST, refuted_by="the same step time with rarer checkpoints")
def checkpointing(case: Case) -> Seen | None:
    """Checkpoints >= 5 % of a step (calibrated by injection)."""
    part = _part(case, "checkpoint_time_s", "checkpoints", CHECKPOINTS)
    if part is None:
        return _checkpoints_apart(case)
    saved_s, evidence = part.seconds, part.evidence
    every = (case.knobs.checkpoint_every_steps or 1) * TEN_TIMES
    often = "on average" if case.knobs.checkpoint_every_steps is None else ""
    often = often or f"one every {case.knobs.checkpoint_every_steps} steps"
    rarer = Recommendation(
        id="save_less_often",
        change=f"Write a checkpoint every {every} steps.",
        patch=case.variant_patch({"checkpoint_every_steps": every}),
        prediction=saving(case, saved_s.scaled(1 - 1 / TEN_TIMES), RARER),
        warning=f"An interrupted run loses up to {every} steps.",
    )
    beside = Recommendation(
        id="save_asynchronously",
        change="Write checkpoints in the background, while training continues.",
        patch=case.variant_patch({"checkpoint_async": True}),
        unpredicted="the step still includes the copy, and writing needs a core of the host.",
    )
    return Seen(
        f"Writing checkpoints takes {percent(saved_s.value / case.point['step_time_s'])} of the steps' time,"
        f" {often}.",
        evidence,
        (rarer,) if case.knobs.checkpoint_async else (rarer, beside),
        saved_s,
        case.beyond_alone("checkpoint_time_s"),
        support=part.support,
        found=part.found,
    )


def _checkpoints_apart(case: Case) -> Seen | None:
    """Checkpoints of a script, whose step time leaves out steps with a checkpoint.

    The share is of the step time and the checkpoints together.
    """
    apart = case.interval("checkpoint_apart_s")
    step_s, every = case.point["step_time_s"], case.knobs.checkpoint_every_steps
    least_s = CHECKPOINTS * (step_s + apart.value)
    found, support = _at_least(apart, least_s), beyond(case, apart, least_s)
    if every is None or not (found or is_possible(support)):
        return None
    share = apart.value / (step_s + apart.value)
    kept_out = "the step time leaves out steps with a checkpoint, so it does not show the gain"
    return Seen(
        f"Writing checkpoints takes {percent(share)} of the training time, one every {every} steps. Step time,"
        " speedup and efficiency leave these steps out.",
        (
            Evidence.of("checkpoint_time", "checkpoints, averaged over all steps", apart, "ms"),
            Evidence.of("share_of_training", "share of the training", share, "%", f">= {percent(CHECKPOINTS)}"),
        ),
        (
            Recommendation(
                id="save_less_often",
                change=f"Write a checkpoint every {every * TEN_TIMES} steps.",
                patch=case.variant_patch({"checkpoint_every_steps": every * TEN_TIMES}),
                unpredicted=f"{kept_out}.",
                warning=f"An interrupted run loses up to {every * TEN_TIMES} steps.",
            ),
            Recommendation(
                id="save_asynchronously",
                change="Write checkpoints in the background, while training continues.",
                patch=case.variant_patch({"checkpoint_async": True}),
                unpredicted=f"{kept_out}.",
            ),
        ),
        apart,
        of_overhead_s=0.0,
        support=support,
        found=found,
    )


class _Part(NamedTuple):
    """A part of the step, in seconds, that reaches its threshold or may reach it."""

    seconds: Interval
    evidence: tuple[Evidence, ...]
    support: float
    found: bool


def _part(case: Case, column: str, name: str, threshold: float, source: str = "") -> _Part | None:
    """A part of the step; None where it is ruled out. It is found if its lower limit reaches the threshold."""
    part, least_s = case.interval(column), threshold * case.point["step_time_s"]
    found, support = _at_least(part, least_s), beyond(case, part, least_s)
    if not (found or is_possible(support)):
        return None
    evidence = Evidence.of(column.removesuffix("_s"), name, part, "ms per step")
    return _Part(part, (evidence, case.share_evidence(part.value, threshold, source)), support, found)


def _at_least(part: Interval, least_s: float) -> bool:
    """Whether the lower limit of a part, or its value if it has no limits, reaches a threshold."""
    return (part.value if isnan(part.low) else part.low) >= least_s
