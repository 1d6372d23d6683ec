"""Values of an optimizer with which nothing is learned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.config.meaning.facts import built_in, most_ranks, tuned
from scalestudy.study.config.refusals import shown
from scalestudy.study.config.study import Study
from scalestudy.study.config.tune import BATCH
from scalestudy.study.config.workloads import Workload

LEAST_CLIP, LEAST_RATE, MOST_MOMENTUM = 1e-7, 1e-10, 0.9999


def wrong_of_optimizers(study: Study, _: Mapping[str, Any]) -> Iterator[str]:
    """A line for each value with which weights do not change, or lose all that they had."""
    for name, workload in built_in(study).items():
        yield from (f"workloads.{name}.{line}" for line in _optimizer(workload))
        scaling = workload.optimizer.learning_rate_scaling
        if scaling != "none" and not _is_tried(study, workload) and (why := constant_batch(study, workload)):
            yield (
                f"workloads.{name}.optimizer.learning_rate_scaling: {scaling} has no effect, since {why}; leave"
                " it out"
            )


def constant_batch(study: Study, workload: Workload | CommandWorkload) -> str:
    """Why no run or advice of a study has a larger batch than `batch_size`; '' if any has."""
    if most_ranks(study) == 1:
        return "no run has several ranks, so the batch never grows"
    if "weak" in workload.scaling:
        return ""
    constant = "strong scaling keeps the batch, and no larger one is advised with"
    if not study.report.overhead_reference:
        return f"{constant} report.overhead_reference: false"
    return f"{constant} report.target_efficiency: 1" if study.report.target_efficiency >= 1 else ""


def _is_tried(study: Study, workload: Workload) -> bool:
    """Whether trainings at larger batches are made: trials after a training with ddp, or by `scalestudy tune`."""
    measure = study.measure
    ddp = any(variant.strategy == "ddp" for variant in study.variants.values())
    trials = ddp and measure.probe_rounds > 0 and measure.batch_trial_share > 0
    return workload.epochs > 0 and (trials or (tuned(study) and BATCH not in study.tune.hold))


def _optimizer(workload: Workload) -> Iterator[str]:
    optimizer = workload.optimizer
    if optimizer.type != "adam" and optimizer.learning_rate * optimizer.weight_decay >= 1:
        yield (
            f"optimizer.weight_decay: {optimizer.weight_decay:g} times learning_rate: {optimizer.learning_rate:g}"
            " is 1 or more, so each step takes all of every weight away; use less, such as 0.01"
        )
    if optimizer.learning_rate < LEAST_RATE:
        yield (
            f"optimizer.learning_rate: {optimizer.learning_rate:g} changes no weight that fp32 can hold; use more,"
            " such as 0.001"
        )
    if optimizer.type == "sgd" and optimizer.momentum > MOST_MOMENTUM:
        yield (
            f"optimizer.momentum: {shown(optimizer.momentum)} averages over more than 10000 steps; use"
            f" {MOST_MOMENTUM:g} or less, such as 0.9"
        )
    if optimizer.gradient_clip is not None and optimizer.gradient_clip < LEAST_CLIP:
        yield (
            f"optimizer.gradient_clip: {optimizer.gradient_clip:g} is less than fp32 resolves next to 1, so"
            " nothing is learned; use 1, for instance, or leave it out"
        )
