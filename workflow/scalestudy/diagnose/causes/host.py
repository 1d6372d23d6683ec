"""Causes in the host and its input: threads, memory nodes, waiting for data, logging, checkpoints.

Each part of a step is measured end to end, so that its share is what leaving it out would save, but for what then
takes its place.
"""

from math import ceil, isnan

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Seen, Stage, cause
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.diagnose.predict import saving
from scalestudy.registry.words.points import numa_ranks

THREADS_PER_CORE = 1.0
NUMA_SHARE = 0.02  # of a step
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


@cause("numa", Stage.HOST, refuted_by="the same difference when every rank is bound to the cores of one node")
def numa(case: Case) -> Seen | None:
    """Ranks with cores on several NUMA nodes, whose host work takes >= 2 % of the step longer.

    Only where other ranks of the launch are bound better: they are what these are compared with.
    """
    excess_s = case.point["numa_excess_s"]
    if not excess_s >= NUMA_SHARE * case.point["step_time_s"]:
        return None
    ranks, lost_s = numa_ranks(case.point), Interval(excess_s)
    name = f"host work of {ranks} beyond that of the others"
    return Seen(
        f"Cores of {ranks} lie on several NUMA nodes; reading and copying there takes"
        " longer than on ranks that stay on one.",
        (
            Evidence.of("extra_host_work", name, excess_s, "ms a step"),
            case.share_evidence(excess_s, NUMA_SHARE),
        ),
        (
            Recommendation(
                id="bind_to_numa_node",
                change="Bind every rank to cores of one NUMA node, that of its GPU: host.pin with cores_per_rank"
                " that divides a node, or srun --cpu-bind=ldoms.",
                patch=None if case.study.host.pin else {"host": {"pin": True}},
                prediction=saving(case, lost_s, "if all ranks become as fast as those that stay on one node"),
            ),
        ),
        lost_s,
    )


@cause("input-bound", Stage.HOST, refuted_by="the same step time with synthetic data of the same shape")
def input_bound(case: Case) -> Seen | None:
    """Data wait >= 10 % of a step, critical from 20 % (TraceML).

    More processes read ahead: `r` seconds of reading a step are hidden when `workers` of them share it.
    """
    found = _part(case, "data_time_s", "waiting for data", 0.10, ", critical from 20 % (TraceML)")
    if found is None:
        return None
    waited_s, evidence = found
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
    )


@cause("sync-logging", Stage.HOST, refuted_by="the same step time with rarer logging")
def sync_logging(case: Case) -> Seen | None:
    """Logging >= 5 % of a step (calibrated by injection)."""
    found = _part(case, "logging_time_s", "logging", 0.05)
    if found is None:
        return None
    logged_s, evidence = found
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
    )


@cause("checkpointing", Stage.HOST, refuted_by="the same step time with rarer checkpoints")
def checkpointing(case: Case) -> Seen | None:
    """Checkpoints >= 5 % of a step (calibrated by injection)."""
    found = _part(case, "checkpoint_time_s", "checkpoints", CHECKPOINTS)
    if found is None:
        return _checkpoints_apart(case)
    saved_s, evidence = found
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
    )


def _checkpoints_apart(case: Case) -> Seen | None:
    """Of a script, whose steps with a checkpoint are left out of the step time: the share is of both together."""
    apart = case.interval("checkpoint_apart_s")
    step_s, every = case.point["step_time_s"], case.knobs.checkpoint_every_steps
    least = apart.value if isnan(apart.low) else apart.low
    if every is None or not least >= CHECKPOINTS * (step_s + apart.value):
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
    )


def _part(
    case: Case, column: str, name: str, threshold: float, source: str = ""
) -> tuple[Interval, tuple[Evidence, ...]] | None:
    """A part of the step in seconds with its evidence; None where its lower limit is below the threshold."""
    part = case.interval(column)
    least = part.value if isnan(part.low) else part.low
    if not least >= threshold * case.point["step_time_s"]:
        return None
    evidence = Evidence.of(column.removesuffix("_s"), name, part, "ms a step")
    return part, (evidence, case.share_evidence(part.value, threshold, source))
