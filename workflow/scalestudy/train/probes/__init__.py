"""Probes: the cost of communication in a step, measured by independent methods after the training.

They come last because they change the model: replicas that do not synchronise drift apart. Nothing is timed for
the study's step time after them. docs/measurement.md explains their numbers.
"""

import itertools
from collections.abc import Callable
from typing import Any

from scalestudy.record.batch_trial import KEY as BATCH_TRIAL
from scalestudy.record.gradient_noise import KEY as GRADIENT_NOISE
from scalestudy.record.observation import NO_SYNC_LEFT_OUT
from scalestudy.train.loop import Trainer
from scalestudy.train.probes.alternation import alternate
from scalestudy.train.probes.arrivals import probe_arrivals
from scalestudy.train.probes.batch_trial import try_batches
from scalestudy.train.probes.collectives import probe_collectives
from scalestudy.train.probes.gradient_noise import is_wanted, keep_parameters, probe_gradient_noise
from scalestudy.train.probes.room import lack_of_room, whole_gradients_gib
from scalestudy.train.probes.synchronisation import bucket_bytes, probe_ddp, probe_fsdp, unit_bytes
from scalestudy.train.profile import take_trace

TRACE_WARMUP_STEPS = 3


def run_probes(trainer: Trainer) -> dict[str, Any]:
    """Run the probes of the spec, and return facts for the record, by name.

    These are: alternation with the baseline, communication, a trace, the scatter of gradients, and larger batches.
    The alternation comes first, since it trains as the run did.
    """
    trainer.stepper.stop_bookkeeping()
    kept = keep_parameters(trainer)
    facts: dict[str, Any] = {}
    if trainer.spec.alternation:
        facts["alternation_failed"] = alternate(trainer)
    if trainer.spec.measure.probe_rounds and trainer.spec.strategy == "ddp":
        # Only one hook can be registered, and timestamps need exactly one synchronisation per step.
        plain = trainer.spec.ddp.communication_hook == "none" and not trainer.spec.accumulation_sync
        probe_ddp(trainer, logger=plain)
        probe_collectives(trainer, probe_arrivals(trainer) if plain else bucket_bytes(trainer))
    if trainer.spec.measure.probe_rounds and trainer.spec.strategy == "fsdp":
        if lacking := lack_of_room(trainer, whole_gradients_gib(trainer.spec, trainer.parameters)):
            facts[NO_SYNC_LEFT_OUT] = lacking
        else:
            probe_fsdp(trainer)
        probe_collectives(trainer, unit_bytes(trainer))
    if trainer.spec.profile_steps:
        trace_steps(trainer)
    if is_wanted(trainer.spec):
        facts[GRADIENT_NOISE] = probe_gradient_noise(trainer, kept).model_dump(mode="json")
    if (trial := try_batches(trainer)) is not None:
        facts[BATCH_TRIAL] = trial.model_dump(mode="json")
    return facts


def trace_steps(trainer: Trainer) -> None:
    """Trace extra steps of the model as it was trained: in a wrapper without the hooks of the probes."""
    trainer.wrap_anew().train()
    batches = trainer.open_extra(TRACE_WARMUP_STEPS + trainer.spec.profile_steps)

    def run_steps(steps: int, *, after_step: Callable[[], None] | None = None) -> None:
        block = list(itertools.islice(batches, steps))
        trainer.stepper.run_block(block, after_step=after_step, meet=False)

    take_trace(
        run_steps,
        steps=trainer.spec.profile_steps,
        warmup_steps=TRACE_WARMUP_STEPS,
        directory=trainer.recorder.directory,
        rank=trainer.place.rank,
        device=trainer.place.device,
    )
