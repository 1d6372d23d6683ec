"""numa: ranks whose cores lie on several memory nodes of the host, and whose host work takes longer for it."""

from __future__ import annotations

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Cause, Seen, Stage
from scalestudy.diagnose.findings import Evidence, Recommendation
from scalestudy.diagnose.predict import saving
from scalestudy.registry.words.numa import numa_ranks

SHARE = 0.02  # of a step


def look(case: Case) -> Seen | None:
    """Only where other ranks of the launch are bound better: they are what these are compared with."""
    excess_s, step_s = case.point["numa_excess_s"], case.point["step_time_s"]
    if not excess_s >= SHARE * step_s:
        return None
    evidence = (
        Evidence.of(
            "extra_host_work",
            f"host work of {numa_ranks(case.point)} beyond that of the others",
            excess_s,
            "ms a step",
        ),
        case.share_evidence(excess_s, SHARE),
    )
    return Seen(evidence, Interval(excess_s))


NUMA = Cause(
    id="numa",
    stage=Stage.HOST,
    threshold="ranks with cores on several NUMA nodes, whose host work takes >= 2 % of the step longer",
    look=look,
    explanation=lambda case, seen: (
        f"Cores of {numa_ranks(case.point)} lie on several NUMA nodes; reading and copying there takes"
        " longer than on ranks that stay on one."
    ),
    refuted_by="the same difference when every rank is bound to the cores of one node",
    recommend=lambda case, seen: (
        Recommendation(
            id="bind_to_numa_node",
            change="Bind every rank to cores of one NUMA node, that of its GPU: host.pin with cores_per_rank that"
            " divides a node, or srun --cpu-bind=ldoms.",
            patch=None if case.study.host.pin else {"host": {"pin": True}},
            prediction=saving(case, seen.loss_s, "if all ranks become as fast as those that stay on one node"),
        ),
    ),
)
