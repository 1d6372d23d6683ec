"""Trainings whose arithmetic takes longer than the limits of a run."""

from __future__ import annotations

from collections.abc import Iterator

from scalestudy.study.config.meaning.facts import fewest_samples
from scalestudy.study.config.meaning.networks import operations
from scalestudy.study.config.meaning.steps import FEWEST_TIMED
from scalestudy.study.config.study import Study
from scalestudy.study.config.workloads import Workload

FASTEST_DEVICE, FASTEST_CORE = 1e16, 1e13
"""Operations per second of matrix products: more than any GPU, and any core of a CPU, reaches in bf16."""
FASTEST_DEVICE_FP32, FASTEST_CORE_FP32 = 1.7e14, 4e11
"""The same in fp32. AMD's data sheet of the MI300X gives 163e12; a core with two units of 16 numbers makes 64
operations in a cycle, which are 0.38e12 at 6 GHz."""


def too_slow(study: Study, workload: Workload) -> Iterator[str]:
    """A line for a training whose arithmetic alone takes a baseline longer than a run may last."""
    steps, samples = _steps(study, workload), samples_of_a_run(study, workload)
    rate = min(_fastest(study, name) for name in study.singles())
    minutes = samples * operations(workload) / rate / 60
    if minutes > study.time_limit_min:
        key = f"epochs: {workload.epochs} are" if workload.epochs else f"batch_size: {steps} steps are"
        yield (
            f"{key} {samples} samples, and one process, the baseline, computes them in {minutes:.3g} min or more"
            f" even at {rate:.1e} operations per second, longer than time_limit_min: {study.time_limit_min:g}; use"
            " fewer samples, a smaller network or more time"
        )


def samples_of_a_run(study: Study, workload: Workload) -> int:
    """At least the samples that one process, the baseline, trains on in a run."""
    return workload.epochs * (fewest_samples(workload) or 0) or _steps(study, workload) * workload.batch_size


def _steps(study: Study, workload: Workload) -> int:
    return study.measure.warmup_steps + (FEWEST_TIMED if workload.epochs else study.measure.min_steps)


def stalled(study: Study, name: str, workload: Workload) -> Iterator[str]:
    """A line for a limit that ends a baseline in its backward pass, a single call of a micro-batch."""
    singles = {one: study.variants[one] for one in study.singles()}
    longest_s = max(
        (
            workload.batch_size / variant.accumulation_steps * operations(workload) * 2 / 3 / _fastest(study, one)
            for one, variant in singles.items()
            if not variant.activation_checkpointing  # it runs forward passes between
        ),
        default=0.0,
    )
    if longest_s > study.stall_limit_s:
        yield (
            f"stall_limit_s: a backward pass of workload {name} takes one process, the baseline,"
            f" {longest_s:.3g} s or more, so {study.stall_limit_s:g} s end its runs; use several"
            " times as many, or a smaller batch"
        )


def _fastest(study: Study, variant: str) -> float:
    """Operations per second that no process of a variant exceeds."""
    plain = study.variants[variant].precision == "fp32"
    if study.host.device == "cpu":
        return (FASTEST_CORE_FP32 if plain else FASTEST_CORE) * (study.host.cores_per_rank or 1)
    return FASTEST_DEVICE_FP32 if plain else FASTEST_DEVICE
