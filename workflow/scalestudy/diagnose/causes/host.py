"""Causes in the host and its input: threads, memory nodes, waiting for data, logging, checkpoints.

Each part of a step is measured end to end, so that its share is what leaving it out would save, but for what then
takes its place.
"""

from math import ceil, isnan
from typing import NamedTuple

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Seen, Stage, cause
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.diagnose.predict import saving
from scalestudy.diagnose.support import beyond, is_possible
from scalestudy.registry.words.points import far_ranks, numa_ranks

THREADS_PER_CORE = 1.0
NUMA_SHARE = 0.02  # of a step
ON_ONE_NODE = (
    "Bind every rank to cores of one NUMA node, that of its GPU: host.pin with cores_per_rank that divides a"
    " node, or srun --cpu-bind=ldoms."
)
NEAR_THE_GPU = (
    "Give the job cores of each GPU's socket: host.pin binds ranks to them where the job has enough. On SLURM"
    " ask for whole nodes, or use --gres-flags=enforce-binding."
)
CHECKPOINTS = 0.05  # of a step
TEN_TIMES = 10  # how much rarer something is to be done
RARER = "if nothing takes the place of what is saved; the base case may gain likewise"


@cause("oversubscribed", Stage.HOST, refuted_by="the same step time with threads = cores / ranks")
def oversubscribed(case: Case) -> Seen | None:
    """Ranks x threads above the cores that they may use, whatever the verdict: it may hide the rest."""
    ratio = case.point["threads_per_core"]
    if not ratio > THREADS_PER_CORE:
        return None
    ranks = int(case.point["devices_per_node"])  # of a host, as threads and cores are
    threads = int(case.point["threads_per_rank"] * case.point["devices_per_node"])
    cores = round(threads / ratio)
    too_few = f"{cores} cores are too few for {case.ranks} ranks: use a larger host"
    return Seen(
        f"{threads} compute threads share {cores} cores of a host, so ranks wait for each other's time slices."
        " Until that is put right no other cause can be told from it.",
        (Evidence.of("threads_per_core", "threads per core", ratio, "", f"> {THREADS_PER_CORE:g}"),),
        (
            Recommendation(
                id="cores_of_its_own",
                change="Give every rank cores of its own, and as many threads as cores.",
                patch={"host": {"pin": True, "cores_per_rank": max(1, cores // ranks)}},
                unpredicted="time slices follow no model we have. Measure again.",
                warning="" if cores >= ranks else too_few,
            ),
        ),
    )


@cause("numa", Stage.HOST, refuted_by="the same difference when every rank has cores of one node, near its GPU")
def numa(case: Case) -> Seen | None:
    """Ranks with cores on several NUMA nodes, or off the socket of their GPU, whose host work takes >= 2 % of the
    step longer.

    Only where other ranks of the launch are bound better: they are what these are compared with.
    """
    excess_s, least_s = case.point["numa_excess_s"], NUMA_SHARE * case.point["step_time_s"]
    lost_s, found = Interval(excess_s), excess_s >= least_s
    support = beyond(case, lost_s, least_s)
    if not (found or is_possible(support)):
        return None
    across, far = numa_ranks(case.point), far_ranks(case.point)
    name = f"host work of {across if across and not far else 'these ranks'} beyond that of the others"
    on_several = (
        f"Cores of {across} lie on several NUMA nodes; reading and copying there takes longer than on ranks"
    )
    said = (
        f"{on_several} that stay on one." if across else "",
        f"{far[0].upper()}{far[1:]}. Its copies cross the link between the sockets." if far else "",
    )
    off_socket = (Evidence.of("far_ranks", far, far.count(";") + 1, "ranks", "0"),) if far else ()
    return Seen(
        " ".join(filter(None, said)),
        (
            *off_socket,
            Evidence.of("extra_host_work", name, excess_s, "ms a step"),
            case.share_evidence(excess_s, NUMA_SHARE),
        ),
        (
            Recommendation(
                id="bind_to_numa_node",
                change=ON_ONE_NODE if not far else NEAR_THE_GPU,
                patch=None if case.study.host.pin else {"host": {"pin": True}},
                prediction=saving(case, lost_s, "if all ranks become as fast as the better placed ones"),
            ),
        ),
        lost_s,
        support=support,
        found=found,
    )


@cause("input-bound", Stage.HOST, refuted_by="the same step time with synthetic data of the same shape")
def input_bound(case: Case) -> Seen | None:
    """Data wait >= 10 % of a step, critical from 20 % (TraceML).

    More processes read ahead: `r` seconds of reading a step are hidden when `workers` of them share it.
    """
    part = _part(case, "data_time_s", "waiting for data", 0.10, ", critical from 20 % (TraceML)")
    if part is None:
        return None
    waited_s, evidence = part.seconds, part.evidence
    step_s, read_s, known = case.point["step_time_s"], waited_s.value, case.knobs.input.workers
    compute_s = step_s - read_s
    # With workers, what is waited for is what of the reading they did not hide.
    whole_s = known * step_s if known else read_s
    workers = max(max(1, known) + 1, ceil(whole_s / compute_s))
    left_s = max(0.0, whole_s / workers - compute_s)  # of the reading, beside what training takes
    change = {"loader": "dataloader", "workers": workers, "persistent_workers": True}
    if str(case.point["device"]) != "cpu":
        change["pin_memory"] = True
    read_ahead = Recommendation(
        id="read_ahead",
        change=f"Read ahead with {workers} processes a rank.",
        patch=case.variant_patch({"input": change}),
        prediction=saving(case, waited_s.scaled(1 - left_s / read_s), "if each process has a core of its own"),
        warning="The processes take cores of the host; where it has none to spare, prepare the data beforehand"
        " (scalestudy stage prepare), or keep them on the device.",
    )
    synthetic = Recommendation(
        id="synthetic_data",
        change="Measure with synthetic data of the same shape to see how fast training is without its input.",
        prediction=saving(case, waited_s, "if nothing is waited for at all: the most that there is to gain"),
    )
    return Seen(
        f"The loader does not keep up: {read_s / step_s:.0%} of every step the ranks wait for their batch.",
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
        f"Reading the loss and printing it takes {logged_s.value / case.point['step_time_s']:.0%} of every step,"
        f" {often}; on a GPU it also waits for all that was queued.",
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
        warning=f"A run that is ended loses up to {every} steps.",
    )
    beside = Recommendation(
        id="save_asynchronously",
        change="Write checkpoints while training goes on.",
        patch=case.variant_patch({"checkpoint_async": True}),
        unpredicted="the copy stays in the step, and writing takes a core of the host.",
    )
    return Seen(
        f"Writing checkpoints takes {saved_s.value / case.point['step_time_s']:.0%} of the steps' time, {often}.",
        evidence,
        (rarer,) if case.knobs.checkpoint_async else (rarer, beside),
        saved_s,
        case.beyond_alone("checkpoint_time_s"),
        support=part.support,
        found=part.found,
    )


def _checkpoints_apart(case: Case) -> Seen | None:
    """Of a script, whose steps with a checkpoint are left out of the step time: the share is of both together."""
    apart = case.interval("checkpoint_apart_s")
    step_s, every = case.point["step_time_s"], case.knobs.checkpoint_every_steps
    least_s = CHECKPOINTS * (step_s + apart.value)
    found, support = _at_least(apart, least_s), beyond(case, apart, least_s)
    if every is None or not (found or is_possible(support)):
        return None
    share = apart.value / (step_s + apart.value)
    kept_out = "the step time leaves out steps with a checkpoint, so it does not show what is gained"
    return Seen(
        f"Writing checkpoints takes {share:.0%} of the training, one every {every} steps. Step time, speedup and"
        " efficiency leave these steps out.",
        (
            Evidence.of("checkpoint_time", "checkpoints, for each step", apart, "ms"),
            Evidence.of("share_of_training", "share of the training", share, "%", f">= {CHECKPOINTS:.0%}"),
        ),
        (
            Recommendation(
                id="save_less_often",
                change=f"Write a checkpoint every {every * TEN_TIMES} steps.",
                patch=case.variant_patch({"checkpoint_every_steps": every * TEN_TIMES}),
                unpredicted=f"{kept_out}.",
                warning=f"A run that is ended loses up to {every * TEN_TIMES} steps.",
            ),
            Recommendation(
                id="save_asynchronously",
                change="Write checkpoints while training goes on.",
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
    """A part of the step, in seconds, that is at its threshold or may be."""

    seconds: Interval
    evidence: tuple[Evidence, ...]
    support: float
    found: bool


def _part(case: Case, column: str, name: str, threshold: float, source: str = "") -> _Part | None:
    """A part of the step; None where it is ruled out. It is found where its lower limit is at the threshold."""
    part, least_s = case.interval(column), threshold * case.point["step_time_s"]
    found, support = _at_least(part, least_s), beyond(case, part, least_s)
    if not (found or is_possible(support)):
        return None
    evidence = Evidence.of(column.removesuffix("_s"), name, part, "ms a step")
    return _Part(part, (evidence, case.share_evidence(part.value, threshold, source)), support, found)


def _at_least(part: Interval, least_s: float) -> bool:
    """Whether the lower limit of a part, or its value where there is no limit, is at a threshold or above."""
    return (part.value if isnan(part.low) else part.low) >= least_s
