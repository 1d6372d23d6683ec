"""Whether a distributed run also trains its baseline, in blocks that alternate with its own.

Rank 0 trains a replica by itself while the others sleep; then all ranks train. Both sides of the ratio then share
the processes, the cores and the minute. The baseline does not take turns if it would be measured differently from
a run of its own.
"""

from scalestudy.registry.codes import NotAlternated
from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.config.study import Study
from scalestudy.study.config.variants import Knobs
from scalestudy.study.spec import Alternation

WHY_NOT = {
    NotAlternated.COMMAND: "workloads are commands",
    NotAlternated.PRECISION: "precision differs from the baseline's",
    NotAlternated.ENVIRONMENT: "environment or start differs from the baseline's",
    NotAlternated.WORKERS: "input.workers read ahead",
    NotAlternated.BOOKKEEPING: "variant or baseline logs or writes checkpoints",
}
"""Why a variant does not take turns with its baseline, in words."""


def alternation_of(study: Study, workload: str, variant: str) -> Alternation | None:
    """The baseline that the runs of a variant of a workload train too; None if they train none."""
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
    """Why the baseline of a distributed variant cannot be measured in its processes; `none` if it can."""
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
