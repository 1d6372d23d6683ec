"""Causes of size: too little computation per synchronised byte, or per operation launched."""

from math import isnan

from scalestudy.analyse.forecast.batches import step_model
from scalestudy.analyse.forecast.columns import NoFitError
from scalestudy.analyse.statistics.intervals import Interval, less
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Seen, Stage, cause
from scalestudy.diagnose.fewer_ranks import fewer_ranks
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.diagnose.larger_batch import larger_batch
from scalestudy.diagnose.support import beyond, is_possible
from scalestudy.diagnose.synchronisation import SYNCHRONISATION, Probed, probed
from scalestudy.registry.codes import Changes, Wrapper
from scalestudy.registry.column import Row

SHARE = 0.10  # of a step; the threshold of PyTorch's Kineto plug-in for communication
FIXED = 0.5  # of the step of one process at the batch per rank
PROBED = {
    "differential_s": ("synchronisation", SYNCHRONISATION),
    "exposed_span_s": ("exposed_communication", "exposed (not overlapped) communication"),
    "interference_s": ("interference", "interference of communication with computation"),
    "wait_time_s": ("wait_for_latest_rank", "waiting for the slowest rank"),
}
"""Column of each quantity that the probes measure -> (key, name) of its evidence."""


@cause(
    "comm-bound",
    Stage.SIZE,
    refuted_by="an overhead that grows in proportion to the batch, which synchronisation does not",
)
def comm_bound(case: Case) -> Seen | None:
    """Overhead >= 10 % of a step (PyTorch's Kineto plug-in), with an interval that excludes 0.

    Ruled out if the probes exclude that synchronisation takes 10 % of the step; not found if they resolve it and
    measure less. Other probes do not count. Not judged for imported runs: their overhead may be anything.
    """
    if case.study.imported:
        return None
    point, overhead = case.point, case.interval("overhead_s")
    probes = probed(case)
    if probes.excludes:
        return None
    found = point["overhead_share"] >= SHARE and not overhead.low <= 0 and probes.found
    support = min(beyond(case, overhead, SHARE * point["step_time_s"]), probes.support)
    if not (found or is_possible(support)):
        return None
    alone = case.interval("step_time_alone_s")
    evidence = (
        *case.overhead_evidence(),
        case.share_evidence(overhead, SHARE),
        Evidence.of("step_of_one_process", "step of one process at equal batch per rank", alone, "ms"),
        *(
            Evidence.of(key, name, case.interval(column), "ms")
            for column, (key, name) in PROBED.items()
            if not isnan(point[column])
        ),
    )
    advice = (*fewer_ranks(case), larger_batch(case))
    return Seen(
        f"A step at {point['batch_per_rank']} samples per rank computes too little for the {_synchronised(point)}"
        f" that it synchronises. {_held_by(case, probes)}",
        evidence,
        advice,
        overhead,
        support=support,
        found=bool(found),
    )


def _synchronised(point: Row) -> str:
    """'25.60 MiB of gradients'; without the size where a script does not show it."""
    size = point["gradient_bytes"] / 2**20
    return "gradients" if isnan(size) else f"{size:.2f} MiB of gradients"


def _held_by(case: Case, probes: Probed) -> str:
    """What the overhead consists of, and whether the probes support that it is synchronisation; in sentences."""
    if isnan(case.point["differential_s"]):
        return (
            "The overhead includes communication, waiting for the slower rank, and contention between ranks on the"
            " host. They were not measured separately."
        )
    wrapper = " plus the overhead of the wrapper" if case.base["wrapper"] == Wrapper.NONE else ""
    rest = f"The rest is contention between ranks on the host{wrapper}."
    said = f"The probes measure the part of the overhead that is synchronisation. {rest}"
    return f"{said} {probes.doubt}" if probes.doubt else said


@cause("launch-bound", Stage.SIZE, refuted_by="a step of one process that shrinks in proportion to its batch")
def launch_bound(case: Case) -> Seen | None:
    """Half or more of one process's step does not depend on its batch (fit of a + b batch): the host is the limit.

    Strong scaling only. The loss is the step time of one process at the batch per rank, minus 1/ranks of its step
    time at the global batch.
    """
    point, ranks = case.point, case.ranks
    alone, base_s = case.interval("step_time_alone_s"), case.base["step_time_s"]
    if point["scaling"] != "strong" or isnan(alone.value) or isnan(base_s):
        return None
    least_s, least_fixed_s = SHARE * point["step_time_s"], FIXED * alone.value
    lost = less(alone, Interval.of(case.base, "step_time_s").scaled(1 / ranks))
    lost_s, support = lost.value, beyond(case, lost, least_s)
    if not (lost_s >= least_s or is_possible(support)):
        return None
    try:
        fixed_s = step_model(case.alone).fixed_s
    except NoFitError:  # it does not grow with its batch at all
        fixed_s = alone.value
    found = lost_s >= least_s and fixed_s >= least_fixed_s
    support = min(support, beyond(case, _fixed(case), least_fixed_s, whole=alone.value))
    if not (found or is_possible(support)):
        return None
    mine, whole = point["batch_per_rank"], case.base["batch_per_rank"]
    fixed = min(1.0, fixed_s / alone.value)
    evidence = (
        Evidence.of("step_of_one_process", f"step of one process at {mine} samples", alone, "ms"),
        Evidence.of("ideal_step", f"1/{ranks} of its step at {whole} samples", base_s / ranks, "ms"),
        Evidence.of("fixed_share", "part of the step that does not depend on the batch", fixed, "%"),
        *_queued(case),
    )
    compiled = Recommendation(
        id="compile",
        change="Compile the model, so that it launches fewer and larger operations.",
        patch={"variants": {name: {"compile": True} for name in (point["variant"], case.base["variant"])}},
        unpredicted="how many operations can be fused depends on the model. A step can become at most"
        f" {lost_s * 1e3:.3g} ms shorter.",
        changes=Changes.OPERATIONS,
    )
    weak = Recommendation(
        id="weak_scaling",
        change="Or keep the batch per rank constant instead of the global batch (weak scaling), if training"
        " tolerates it.",
        unpredicted="see the weak-scaling rows, if they were measured.",
        changes=Changes.BATCH,
        warning="The global batch grows with the ranks: scale and warm up the learning rate.",
    )
    return Seen(
        f"At {mine} samples per rank, launching operations takes as much time as computing. Even without"
        f" communication, one process needs more than 1/{ranks} of the time for 1/{ranks} of the batch.",
        evidence,
        (compiled, weak),
        lost,
        support=support,
        found=bool(found),
    )


def _queued(case: Case) -> tuple[Evidence, ...]:
    """Whether the host keeps up with a GPU. The rule does not use it: a host that just keeps up is a limit too."""
    share = case.point["enqueue_share"]
    if isnan(share):
        return ()
    name = "host's time to queue a step, share of the step"
    return (Evidence.of("enqueue_share", name, share, "%", "near 100 %"),)


def _fixed(case: Case) -> Interval:
    """Seconds of a step of one process that do not depend on its batch, from the smallest and the largest batch.

    a = (T0 B1 - T1 B0) / (B1 - B0), with limits from those of both times. With one batch it is the whole step.
    """
    rows = case.alone.dropna(subset=["step_time_s"]).sort_values("batch_per_rank")
    if rows.empty:
        return case.interval("step_time_alone_s")
    first, last = (float(batch) for batch in rows["batch_per_rank"].iloc[[0, -1]])
    small, large = (Interval.of(rows.iloc[place], "step_time_s") for place in (0, -1))
    if first == last:
        return small
    return less(small.scaled(last / (last - first)), large.scaled(first / (last - first)))
