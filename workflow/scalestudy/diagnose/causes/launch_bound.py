"""launch-bound: the step of one process stops shrinking with its batch.

The host, not the network, is the limit.
"""

from __future__ import annotations

from math import isnan

from scalestudy.analyse.forecast.refusal import NoFitError
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.case import Case
from scalestudy.diagnose.cause import Cause, Seen, Stage
from scalestudy.diagnose.findings import Evidence, Recommendation

SHARE = 0.10  # of a step
FIXED = 0.5  # of the step of one process at a rank's batch


def look(case: Case) -> Seen | None:
    """Strong scaling: what a rank's share of the batch takes alone, above its share of the whole batch's time."""
    point = case.point
    alone, base = point["step_time_alone_s"], case.base["step_time_s"]
    if point["scaling"] != "strong" or isnan(alone) or isnan(base):
        return None
    lost = alone - base / case.ranks
    if lost < SHARE * point["step_time_s"]:
        return None
    try:
        fixed = case.step_model().fixed_s
    except NoFitError:  # it does not grow with its batch at all
        fixed = alone
    if fixed < FIXED * alone:
        return None
    mine = case.interval("step_time_alone_s")
    evidence = (
        Evidence.of("step_of_one_process", f"one process at {point['batch_per_rank']} samples", mine, "ms a step"),
        Evidence.of(
            "ideal_step",
            f"1/{case.ranks} of its step at {case.base['batch_per_rank']} samples",
            base / case.ranks,
            "ms",
        ),
        Evidence.of(
            "fixed_share", "part of the step that does not depend on the batch", min(1.0, fixed / alone), "%"
        ),
    )
    return Seen(evidence, Interval(lost))


LAUNCH_BOUND = Cause(
    id="launch-bound",
    stage=Stage.SIZE,
    threshold="half of a process's step or more does not depend on its batch (fit of a + b batch)",
    look=look,
    explanation=lambda case, seen: (
        f"At {case.point['batch_per_rank']} samples a rank is as busy with starting operations as with"
        " computing: on one"
        f" process a {case.ranks}th of the batch takes more than a {case.ranks}th of the time, without any"
        " communication."
    ),
    refuted_by="a step of one process that shrinks in proportion to its batch",
    recommend=lambda case, seen: (
        Recommendation(
            id="compile",
            change="Compile the model, so that fewer and larger operations are started.",
            patch={
                "variants": {name: {"compile": True} for name in (case.point["variant"], case.base["variant"])}
            },
            unpredicted="how many operations become one is the model's own;"
            f" {seen.loss_s.value * 1e3:.3g} ms a step less at the most.",
        ),
        Recommendation(
            id="weak_scaling",
            change="Or hold the batch of a rank instead of the global one (weak scaling), if training bears it.",
            unpredicted="the rows of weak scaling say it, where they were measured.",
            keeps_the_work=False,
            warning="The global batch grows with the ranks: scale and warm up the learning rate.",
        ),
    ),
)
