"""Steps that a run does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any

from scalestudy.study.config.meaning.facts import built_in, default_of, most_samples, scripts
from scalestudy.study.config.meaning.limits import LEAST_STEP_S
from scalestudy.study.config.scales import world_size
from scalestudy.study.config.study import Study
from scalestudy.study.config.variants import Variant
from scalestudy.study.config.workloads import Workload

FEWEST_TIMED = 2
"""Steps that a spread of step times needs."""
TRIAL_STEPS = 24
"""Steps of a trial of larger batches: six of the largest batch, which is four times the run's
(train/step/branch_point.py)."""


def wrong_steps(study: Study, _: Mapping[str, Any]) -> Iterator[str]:
    """A line for each key that needs more steps than a run has."""
    most: dict[str, int] = dict.fromkeys(study.variants, 0)
    unknown = set(study.variants) if scripts(study) else set()
    """Variants with a run whose number of steps is not known before it is made."""
    for name, workload in built_in(study).items():
        fewest: tuple[int, int, str] | None = None
        for variant, scale, scaling in _points(study, workload):
            steps = _steps_of(study, workload, scale, scaling, tail=not study.variants[variant].input.drop_last)
            if steps is None:
                unknown.add(variant)
                continue
            most[variant] = max(most[variant], steps)
            timed = _steps_of(study, workload, scale, scaling, tail=False)
            if workload.epochs and timed is not None:
                here = (timed, steps, f"{scale} ({scaling})")
                fewest = here if fewest is None or here[:2] < fewest[:2] else fewest
        if not workload.epochs and workload.optimizer.warmup_steps > (longest := _longest(study)):
            yield (
                f"workloads.{name}.optimizer.warmup_steps: {workload.optimizer.warmup_steps} is more than the"
                f" {longest} steps that a run can have with epochs: 0, so no step has the learning rate; use"
                " fewer, or leave it out"
            )
        if fewest is not None:
            for line in _too_few(study, workload, *fewest):
                yield f"workloads.{name}.{line}"
    yield from _trials(study)
    for name in [name for name in study.variants if name not in unknown]:
        for key in ("log_every_steps", "checkpoint_every_steps"):
            every = getattr(study.variants[name], key)
            if every is not None and every > most[name]:
                yield (
                    f"variants.{name}.{key}: no run has {every} steps, the longest has {most[name]}; use fewer, or"
                    " leave it out"
                )
        yield from _kept(name, study.variants[name], most[name])


def _trials(study: Study) -> Iterator[str]:
    """A line if every training is too short for the trials of larger batches at the share that is set."""
    share, key = study.measure.batch_trial_share, "measure.batch_trial_share"
    steps = [
        _steps_of(study, workload, scale, scaling, tail=False)
        for workload in built_in(study).values()
        for name, scale, scaling in _points(study, workload)
        if workload.epochs and study.variants[name].strategy == "ddp"
    ]
    if share in (0, default_of(key)) or not study.measure.probe_rounds or not steps or None in steps:
        return
    most = max(filter(None, steps), default=0)
    if int(share * most) < TRIAL_STEPS:
        yield (
            f"{key}: {share:g} of the {most} steps of the longest ddp training is less than the {TRIAL_STEPS} that"
            " a trial needs, so none is run; use a larger share or more epochs, or leave it out"
        )


def _kept(name: str, variant: Variant, most: int) -> Iterator[str]:
    every, kept = variant.checkpoint_every_steps, variant.checkpoints_kept
    if every is not None and 1 <= (written := most // every) < kept and kept > 1:
        yield (
            f"variants.{name}.checkpoints_kept: {kept} are never there, since the longest run writes"
            f" {written}; use {written} or fewer"
        )


def _too_few(study: Study, workload: Workload, timed: int, steps: int, where: str) -> Iterator[str]:
    """Lines about a workload whose shortest run has too few steps, or too many for its time.

    timed: its steps of a whole batch. steps: all of them. where: its scale.
    """
    epochs, left_out = workload.epochs, study.measure.warmup_steps
    if timed <= left_out:
        yield (
            f"epochs: with {epochs} a run has {timed} steps at {where}, and the first {left_out} are left out"
            " (measure.warmup_steps); use more epochs, or fewer warm-up steps"
        )
    elif timed - left_out < FEWEST_TIMED:
        yield (
            f"epochs: with {epochs} a run has {timed} steps at {where}, of which measure.warmup_steps: {left_out}"
            f" leaves {timed - left_out}, and a step time needs {FEWEST_TIMED}; use more epochs, or fewer warm-up"
            " steps"
        )
    if timed * LEAST_STEP_S / 60 > study.time_limit_min:
        yield (
            f"epochs: {epochs} are {timed} steps at {where}, which take more than time_limit_min:"
            f" {study.time_limit_min:g} even at {LEAST_STEP_S * 1e6:g} microseconds each; use fewer epochs, or"
            " more time"
        )
    if workload.optimizer.warmup_steps == steps and workload.optimizer.decay != "none":
        yield (
            f"optimizer.decay: {workload.optimizer.decay} has no steps after the {steps} of optimizer.warmup_steps"
            f" at {where}; use fewer, or more epochs"
        )
    if workload.optimizer.warmup_steps > steps:
        yield (
            f"optimizer.warmup_steps: {workload.optimizer.warmup_steps} is more than the {steps} steps of a run"
            f" at {where}; use fewer, or more epochs"
        )


def _points(study: Study, workload: Workload) -> Iterator[tuple[str, str, str]]:
    for name, variant in study.variants.items():
        for scale in ("1x1",) if variant.strategy == "single" else study.scales:
            for scaling in workload.scaling:
                yield name, scale, scaling


def _longest(study: Study) -> int:
    """The most steps of a run without epochs: it ends with the block in which it has enough."""
    measure = study.measure
    return max(measure.max_warmup_steps, measure.warmup_steps) + measure.max_steps + measure.block_steps - 1


def _steps_of(study: Study, workload: Workload, scale: str, scaling: str, *, tail: bool) -> int | None:
    """The most optimizer steps that a run can have; None where it is not known before the data are read.

    tail: whether an epoch has a last step of less than a whole batch.
    """
    if not workload.epochs:
        return _longest(study)
    samples = most_samples(workload)
    if samples is None or samples < workload.batch_size:  # the second has a line of its own
        return None
    batch = workload.batch_size * (world_size(scale) if scaling == "weak" else 1)
    return workload.epochs * (ceil(samples / batch) if tail else samples // batch)
