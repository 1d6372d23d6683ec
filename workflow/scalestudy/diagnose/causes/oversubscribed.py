"""oversubscribed: the ranks of a host run more threads than it has cores for them."""

from __future__ import annotations

from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Cause, Seen, Stage
from scalestudy.diagnose.findings import Evidence, Recommendation

THREADS_PER_CORE = 1.0


def look(case: Case) -> Seen | None:
    """Where ranks x threads exceed the cores they may use, whatever the verdict: it may hide the rest."""
    ratio = case.point["threads_per_core"]
    if not ratio > THREADS_PER_CORE:
        return None
    return Seen((Evidence.of("threads_per_core", "threads per core", ratio, "", f"> {THREADS_PER_CORE:g}"),))


def _threads_and_cores(case: Case) -> tuple[int, int]:
    """Of a host."""
    threads = int(case.point["threads_per_rank"] * case.point["devices_per_node"])
    return threads, round(threads / case.point["threads_per_core"])


def _explanation(case: Case, seen: Seen) -> str:
    threads, cores = _threads_and_cores(case)
    return (
        f"{threads} compute threads share {cores} cores of a host, so ranks wait for each other's time slices."
        " Until that"
        " is put right no other cause can be told from it."
    )


def _recommend(case: Case, seen: Seen) -> tuple[Recommendation, ...]:
    _, cores = _threads_and_cores(case)
    ranks = int(case.point["devices_per_node"])
    return (
        Recommendation(
            id="cores_of_its_own",
            change="Give every rank cores of its own, and as many threads as cores.",
            patch={"host": {"pin": True, "cores_per_rank": max(1, cores // ranks)}},
            unpredicted="time slices follow no model we have. Measure again.",
            warning=""
            if cores >= ranks
            else f"{cores} cores are too few for {case.ranks} ranks: use a larger host",
        ),
    )


OVERSUBSCRIBED = Cause(
    id="oversubscribed",
    stage=Stage.HOST,
    threshold="ranks x threads above the cores that they may use",
    look=look,
    explanation=_explanation,
    refuted_by="the same step time with threads = cores / ranks",
    recommend=_recommend,
    silences=True,
)
