"""Causes and advice for imported runs: their logs show step times only, and nothing of the study can be run."""

from __future__ import annotations

from scalestudy.diagnose.findings import NotJudged, Recommendation

STEP_TIMES_ONLY = "the logs have step times only"
SHOWN_BY = "`scalestudy run` with the script measures the parts of a step, the ranks and the communication"
CHANGES = {
    "more_repeats": "Repeat the runs and import their logs as well: `scalestudy import` lists the fewest that"
    " decide.",
    "equal_batch_reference": "Import a run on one device at the batch per device of this one: without it the"
    " overhead is unknown.",
    "more_ranks": "Import a run on more devices as well.",
    "same_settings": "Import runs that differ in the number of devices only.",
}
"""Id of a recommendation -> what to do instead of changing the study."""


def not_judged_of(causes: tuple[str, ...]) -> tuple[NotJudged, ...]:
    """One entry for all causes that need more than step times."""
    return (NotJudged(causes=causes, unseen=STEP_TIMES_ONLY, shown_by=SHOWN_BY),)


def for_imported(recommendation: Recommendation) -> Recommendation:
    """The same advice without a patch, since no study can be run with it."""
    change = CHANGES.get(recommendation.id, recommendation.change)
    return recommendation.model_copy(update={"change": change, "patch": None})
