"""straggler: one rank is last nearly always, and all others wait for it."""

from __future__ import annotations

from scalestudy.analyse.intervals import Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Cause, Seen, Stage
from scalestudy.diagnose.causes.predict import saving
from scalestudy.diagnose.findings import Evidence, Recommendation

SHARE = 0.10  # of a step; TraceML warns of skew from there, and calls it critical from 0.20


def last_often(ranks: int) -> float:
    """Share of buckets from which a rank is last too often to be chance: half-way from its due to always."""
    return (1 + 1 / ranks) / 2


def look(case: Case) -> Seen | None:
    """By the stamps of gradient buckets; step times cannot tell, for ranks in step are equally slow."""
    point = case.point
    late_s, step = point["lateness_s"], point["step_time_s"]
    if not (point["late_share"] >= last_often(case.ranks) and late_s >= SHARE * step):
        return None
    evidence = (
        Evidence(
            f"buckets for which rank {int(point['late_rank'])} came last",
            point["late_share"] * 100,
            "%",
            threshold=f">= {last_often(case.ranks):.0%}",
        ),
        Evidence("its lateness", late_s * 1e3, "ms a step"),
        Evidence("share of the step", late_s / step * 100, "%", threshold=f">= {SHARE:.0%} (TraceML)"),
    )
    return Seen(evidence, Interval(late_s))


def _balance(case: Case, seen: Seen) -> tuple[Recommendation, ...]:
    rank = int(case.point["late_rank"])
    return (
        Recommendation(
            change=f"Look at what rank {rank} has that others have not: device, cores, share of the data.",
            prediction=saving(case, seen.loss_s, "if it becomes as fast as the others"),
        ),
    )


STRAGGLER = Cause(
    id="straggler",
    stage=Stage.STRAGGLER,
    threshold="a rank last in most buckets and late by >= 10 % of a step, critical from 20 % (TraceML)",
    look=look,
    explanation=lambda case, seen: (
        f"Rank {int(case.point['late_rank'])} is late: its gradients come last in {case.point['late_share']:.0%}"
        " of the"
        f" buckets, {case.point['lateness_s'] * 1e3:.3g} ms after those of the others, who wait."
    ),
    refuted_by="another rank that is late when ranks are placed on other devices and cores",
    recommend=_balance,
)
