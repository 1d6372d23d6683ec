"""One rank is last nearly always, and all others wait for it: with more samples (imbalance), or without a reason
that is known (straggler)."""

from scalestudy.analyse.point.rows import LATE_SHARE, last_often, waits_for_one
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Seen, Stage, cause
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.diagnose.predict import saving

EXCESS = 0.05  # of the mean rank's samples


@cause("imbalance", Stage.STRAGGLER, refuted_by="equal samples on all ranks, and the same step time")
def imbalance(case: Case) -> Seen | None:
    """A rank has >= 5 % more samples than the mean rank, as every rank counted them when they came."""
    excess = case.point["samples_excess"]
    if not excess >= EXCESS:
        return None
    rank = int(case.point["heaviest_rank"])
    name = f"samples of rank {rank} beyond those of the mean rank"
    lost_s = case.interval("step_time_s").scaled(1 - 1 / (1 + excess))
    return Seen(
        f"Rank {rank} has {excess:.0%} more samples than the mean rank, and all others wait for it.",
        (Evidence.of("excess_samples", name, excess, "%", f">= {EXCESS:.0%}"),),
        (
            Recommendation(
                id="equal_samples",
                change="Give every rank as many samples: a batch that divides, drop_last, or padding.",
                prediction=saving(case, lost_s, "if the step follows the samples of the rank that has most"),
            ),
        ),
        lost_s,
    )


@cause(
    "straggler",
    Stage.STRAGGLER,
    refuted_by="another rank that is late when ranks are placed on other devices and cores",
)
def straggler(case: Case) -> Seen | None:
    """A rank last in most buckets and late by >= 10 % of a step, the same one in the launches.

    Critical from 20 % (TraceML). By the stamps of gradient buckets; step times cannot tell, for ranks in step are
    equally slow.
    """
    point = case.point
    if point["samples_excess"] >= EXCESS and point["late_rank"] == point["heaviest_rank"]:
        return None  # it is late because it has more to do
    if not waits_for_one(point):
        return None
    rank, share, lateness_s = int(point["late_rank"]), point["late_share"], case.interval("lateness_s")
    name, often = f"buckets for which rank {rank} came last", f">= {last_often(case.ranks):.0%}"
    return Seen(
        f"Rank {rank} is late: its gradients come last in {share:.0%} of the buckets,"
        f" {lateness_s.value * 1e3:.3g} ms after those of the others, who wait.",
        (
            Evidence.of("last_share", name, share, "%", often),
            Evidence.of("lateness", "its lateness", lateness_s, "ms a step"),
            case.share_evidence(lateness_s.value, LATE_SHARE, " (TraceML)"),
        ),
        (
            Recommendation(
                id="compare_ranks",
                change=f"Look at what rank {rank} has that others have not: device, cores, share of the data.",
                prediction=saving(case, lateness_s, "if it becomes as fast as the others"),
            ),
        ),
        lateness_s,
    )
