"""Whether a distributed launch trains its base case too, in blocks that alternate with its own.

Rank 0 trains a replica by itself while the others sleep; then all train. Both sides of the ratio then share the
processes, the cores and the minute. That is no base case where it would not be measured as in a launch of its own.
"""

from scalestudy.registry.codes import NotAlternated
from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.config.study import Study
from scalestudy.study.config.variants import Knobs
from scalestudy.study.spec import Alternation


def alternation_of(study: Study, workload: str, variant: str) -> Alternation | None:
    """What the launches of a variant of a workload train beside it; None where they do not."""
    rounds = study.measure.alternating_rounds
    if not rounds or study.variants[variant].strategy == "single":
        return None
    if isinstance(study.workloads[workload], CommandWorkload):
        return None
    if not_alternated(study, variant) != NotAlternated.NONE:
        return None
    base = study.variants[study.base_of(variant)]
    return Alternation(
        rounds=rounds,
        base=Knobs(**{knob: getattr(base, knob) for knob in Knobs.model_fields}),
        batch_per_rank=study.workloads[workload].batch_size,
    )


def not_alternated(study: Study, variant: str) -> NotAlternated:
    """Why the base case of a distributed variant cannot be measured in its processes; `none` where it can."""
    if all(isinstance(workload, CommandWorkload) for workload in study.workloads.values()):
        return NotAlternated.COMMAND
    mine, base = study.variants[variant], study.variants[study.base_of(variant)]
    if mine.precision != base.precision:
        return NotAlternated.PRECISION
    if study.host_of(variant) != study.host_of(study.base_of(variant)):
        return NotAlternated.ENVIRONMENT
    if mine.input.workers or base.input.workers:
        return NotAlternated.WORKERS
    for one in (mine, base):
        if one.log_every_steps or one.checkpoint_every_steps:
            return NotAlternated.BOOKKEEPING
    return NotAlternated.NONE
