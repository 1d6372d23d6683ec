"""One rank is nearly always last, and all others wait for it. It has more samples (imbalance), or the reason is
unknown (straggler)."""

from math import isnan

from scalestudy.analyse.point.rows import LATE_SHARE, last_often, waits_for_one
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Seen, Stage, cause
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.diagnose.predict import saving
from scalestudy.diagnose.support import beyond, is_possible
from scalestudy.registry.codes import LateBy
from scalestudy.registry.words.percent import percent

EXCESS = 0.05  # of the mean rank's samples


@cause("imbalance", Stage.STRAGGLER, refuted_by="the same step time with equal numbers of samples on all ranks")
def imbalance(case: Case) -> Seen | None:
    """A rank has >= 5 % more samples than the mean rank. Each rank counts the samples that it reads."""
    excess = case.point["samples_excess"]
    if not excess >= EXCESS:
        return None
    rank = int(case.point["heaviest_rank"])
    name = f"samples of rank {rank} beyond the mean over ranks"
    lost_s = case.interval("step_time_s").scaled(1 - 1 / (1 + excess))
    return Seen(
        f"Rank {rank} has {percent(excess)} more samples than the mean rank, and all others wait for it.",
        (Evidence.of("excess_samples", name, excess, "%", f">= {percent(EXCESS)}"),),
        (
            Recommendation(
                id="equal_samples",
                change="Give every rank the same number of samples: a divisible batch, drop_last, or padding.",
                prediction=saving(case, lost_s, "if step time is proportional to the largest number of samples"),
            ),
        ),
        lost_s,
    )


@cause(
    "straggler",
    Stage.STRAGGLER,
    refuted_by="a different late rank when ranks are placed on other devices and cores",
)
def straggler(case: Case) -> Seen | None:
    """The same rank is last in most buckets and late by >= 10 % of a step in the runs.

    Critical from 20 % (TraceML). Measured with timestamps of gradient buckets. Step times cannot show a straggler,
    because synchronised ranks are equally slow. Scripts are measured in blocks of steps without synchronisation,
    in which no rank waits for another; without such blocks, by the time of their steps outside the backward pass.
    """
    point = case.point
    if point["samples_excess"] >= EXCESS and point["late_rank"] == point["heaviest_rank"]:
        return None  # it is late because it has more samples
    found, support = waits_for_one(point), _support(case)
    if not (found or is_possible(support)):
        return None
    rank, share, lateness_s = int(point["late_rank"]), point["late_share"], case.interval("lateness_s")
    often, late_ms = f">= {percent(last_often(case.ranks))}", f"{lateness_s.value * 1e3:.3g} ms"
    by_buckets = (
        f"buckets in which rank {rank} was last",
        f"its gradients are last in {percent(share)} of the buckets, {late_ms} after the other ranks', which"
        " wait.",
    )
    name, said = {
        LateBy.BLOCKS: (
            f"blocks without synchronisation in which rank {rank} was slowest",
            f"without synchronisation its steps take {late_ms} longer than the other ranks', which otherwise wait"
            " for it.",
        ),
        LateBy.STEPS: (
            f"steps in which rank {rank} was slowest outside the backward pass",
            f"outside the backward pass its steps take {late_ms} longer than the other ranks', which wait for it.",
        ),
    }.get(point["late_by"], by_buckets)
    return Seen(
        f"Rank {rank} is late: {said}",
        (
            Evidence.of("last_share", name, share, "%", often),
            Evidence.of("lateness", f"lateness of rank {rank}", lateness_s, "ms per step"),
            case.share_evidence(lateness_s.value, LATE_SHARE, " (TraceML)"),
        ),
        (
            Recommendation(
                id="compare_ranks",
                change=f"Find out how rank {rank} differs from the others: device, cores, share of the data.",
                prediction=saving(case, lateness_s, "if it becomes as fast as the others"),
            ),
        ),
        lateness_s,
        support=support,
        found=found,
    )


def _support(case: Case) -> float:
    """The smaller of two probabilities: that the rank is late enough, and that it is last often enough.

    A run in which another rank is last counts as 0 for both, so the share has the relative error of the lateness.
    """
    point, lateness_s = case.point, case.interval("lateness_s")
    if isnan(lateness_s.value) or not lateness_s.value > 0:
        return 0.0
    share = float(point["late_share"])
    often = Interval(share) if isnan(lateness_s.low) else lateness_s.map(lambda s: share * s / lateness_s.value)
    return min(
        beyond(case, lateness_s, LATE_SHARE * point["step_time_s"]),
        beyond(case, often, last_often(case.ranks), whole=1.0),
    )
