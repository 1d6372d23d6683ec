"""One rank is last nearly always, and all others wait for it: with more samples (imbalance), or without a reason
that is known (straggler)."""

from __future__ import annotations

from scalestudy.analyse.point.rows import LATE_SHARE, last_often, waits_for_one
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Cause, Seen, Stage
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.diagnose.predict import saving

EXCESS = 0.05  # of the mean rank's samples


def uneven(case: Case) -> Seen | None:
    """By the samples that every rank counted as they came."""
    excess = case.point["samples_excess"]
    if not excess >= EXCESS:
        return None
    evidence = (
        Evidence.of(
            "excess_samples",
            f"samples of rank {int(case.point['heaviest_rank'])} beyond those of the mean rank",
            excess,
            "%",
            f">= {EXCESS:.0%}",
        ),
    )
    return Seen(evidence, case.interval("step_time_s").scaled(1 - 1 / (1 + excess)))


IMBALANCE = Cause(
    id="imbalance",
    stage=Stage.STRAGGLER,
    threshold="a rank has >= 5 % more samples than the mean rank",
    look=uneven,
    explanation=lambda case, seen: (
        f"Rank {int(case.point['heaviest_rank'])} has {case.point['samples_excess']:.0%} more samples than the"
        " mean rank, and all others wait for it."
    ),
    refuted_by="equal samples on all ranks, and the same step time",
    recommend=lambda case, seen: (
        Recommendation(
            id="equal_samples",
            change="Give every rank as many samples: a batch that divides, drop_last, or padding.",
            prediction=saving(case, seen.loss_s, "if the step follows the samples of the rank that has most"),
        ),
    ),
)


def look(case: Case) -> Seen | None:
    """By the stamps of gradient buckets; step times cannot tell, for ranks in step are equally slow."""
    point = case.point
    if uneven(case) and point["late_rank"] == point["heaviest_rank"]:
        return None  # it is late because it has more to do
    if not waits_for_one(point):
        return None
    lateness = case.interval("lateness_s")
    evidence = (
        Evidence.of(
            "last_share",
            f"buckets for which rank {int(point['late_rank'])} came last",
            point["late_share"],
            "%",
            f">= {last_often(case.ranks):.0%}",
        ),
        Evidence.of("lateness", "its lateness", lateness, "ms a step"),
        case.share_evidence(lateness.value, LATE_SHARE, " (TraceML)"),
    )
    return Seen(evidence, lateness)


def _balance(case: Case, seen: Seen) -> tuple[Recommendation, ...]:
    rank = int(case.point["late_rank"])
    return (
        Recommendation(
            id="compare_ranks",
            change=f"Look at what rank {rank} has that others have not: device, cores, share of the data.",
            prediction=saving(case, seen.loss_s, "if it becomes as fast as the others"),
        ),
    )


STRAGGLER = Cause(
    id="straggler",
    stage=Stage.STRAGGLER,
    threshold="a rank last in most buckets and late by >= 10 % of a step, critical from 20 % (TraceML);"
    " the same one in the launches",
    look=look,
    explanation=lambda case, seen: (
        f"Rank {int(case.point['late_rank'])} is late: its gradients come last in {case.point['late_share']:.0%}"
        " of the"
        f" buckets, {case.point['lateness_s'] * 1e3:.3g} ms after those of the others, who wait."
    ),
    refuted_by="another rank that is late when ranks are placed on other devices and cores",
    recommend=_balance,
)
