"""oversubscribed: the ranks of a host run more threads than it has cores for them."""

from __future__ import annotations

from scalestudy.diagnose.case import Case
from scalestudy.diagnose.findings import Evidence, Finding, Recommendation

THREADS_PER_CORE = 1.0


def find(case: Case, verdict: str) -> Finding | None:
    """Finding where ranks x threads exceed the cores they may use, whatever the verdict: it may hide the rest."""
    ratio = case.point["threads_per_core"]
    if not ratio > THREADS_PER_CORE:
        return None
    threads = int(case.point["threads_per_rank"] * case.point["devices_per_node"])
    cores = round(threads / ratio)
    fitting = max(1, cores // int(case.point["devices_per_node"]))
    return Finding(
        cause="oversubscribed",
        explanation=f"{threads} compute threads share {cores} cores of a host, so ranks wait for each other's time"
        " slices. Until that is put right no other cause can be told from it.",
        evidence=(Evidence("threads per core", ratio, "", threshold=f"> {THREADS_PER_CORE:g}"),),
        refuted_by="the same step time with threads = cores / ranks",
        recommendations=(
            Recommendation(
                change="Give every rank cores of its own, and as many threads as cores.",
                patch={"host": {"pin": True, "cores_per_rank": fitting}},
                prediction="Not predicted: time slices follow no model we have. Measure again.",
                warning=""
                if cores >= case.point["devices_per_node"]
                else f"{cores} cores are too few for {case.ranks} ranks: use a larger host",
            ),
        ),
    )
