"""Options of the input that have no effect, and data that take longer to read than a run may."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scalestudy.study.config.datasets import Synthetic
from scalestudy.study.config.meaning.arithmetic import samples_of_a_run
from scalestudy.study.config.meaning.facts import built_in
from scalestudy.study.config.scales import world_size
from scalestudy.study.config.study import Study
from scalestudy.study.config.variants import Variant

LEAST_DELAY_US = 1.0
"""Of a batch. A process that sleeps for less wakes up 50 microseconds later in any case."""


def unused_of_inputs(study: Study, _: Mapping[str, Any]) -> Iterator[str]:
    """A line for each option of an input that has no effect, and for data that are read too slowly."""
    for name, variant in study.variants.items():
        for line in [*_input(study, variant), *_read_ahead(study, variant)]:
            yield f"variants.{name}.{line}"
    yield from _delays(study)


def _input(study: Study, variant: Variant) -> Iterator[str]:
    options = variant.input
    if options.pin_memory and study.host.device == "cpu":
        yield "input.pin_memory: true has no effect with host.device: cpu; leave it out"
    if not options.reshuffle and _one_epoch(study):
        yield "input.reshuffle: false has no effect with epochs: 1, which has one order; leave it out"
    if not options.drop_last and _always_whole(study, variant):
        yield (
            "input.drop_last: false has no effect, since the last batch of an epoch is whole at every scale; leave"
            " it out"
        )


def _one_epoch(study: Study) -> bool:
    """Whether every training passes over its data once. With epochs: 0 a run may begin again."""
    return bool(built_in(study)) and all(one.epochs == 1 for one in built_in(study).values())


def _always_whole(study: Study, variant: Variant) -> bool:
    """Whether the global batch of every run of a variant divides its training samples."""
    batches = _epochs(study, variant)
    return bool(batches) and all(samples is not None and samples % batch == 0 for samples, batch in batches)


def _epochs(study: Study, variant: Variant) -> list[tuple[int | None, int]]:
    """(training samples, None if unknown; global batch) of each run of a variant."""
    ranks = [1] if variant.strategy == "single" else [world_size(scale) for scale in study.scales]
    return [
        (one.known_train_samples, one.batch_size * (many if scaling == "weak" else 1))
        for one in built_in(study).values()
        for scaling in one.scaling
        for many in ranks
    ]


def _read_ahead(study: Study, variant: Variant) -> Iterator[str]:
    """Processes and batches beyond those of an epoch."""
    batches = [
        samples and samples // batch * variant.accumulation_steps for samples, batch in _epochs(study, variant)
    ]
    if not batches or None in batches:
        return
    most, options = max(filter(None, batches), default=0), variant.input
    if options.workers > most:
        yield f"input.workers: {options.workers} processes share {most} batches of an epoch; use {most} or fewer"
    if options.prefetch_factor is not None and options.prefetch_factor > most:
        yield (
            f"input.prefetch_factor: {options.prefetch_factor} is more than the {most} batches of an epoch; use"
            " fewer"
        )


def _delays(study: Study) -> Iterator[str]:
    fewest = max(1, min(study.variants[one].input.workers for one in study.singles()))
    for name, workload in built_in(study).items():
        if isinstance(workload.data, Synthetic):
            delay_us = workload.data.sample_delay_us * workload.batch_size
            if 0 < delay_us < LEAST_DELAY_US:
                yield (
                    f"workloads.{name}.data.sample_delay_us: {workload.data.sample_delay_us:g} delays a batch of"
                    f" {workload.batch_size} samples by {delay_us:.2g} microseconds, less than any step shows; use"
                    " more, or leave it out"
                )
            run_s = workload.data.sample_delay_us * 1e-6 * samples_of_a_run(study, workload) / fewest
            if run_s > 60 * study.time_limit_min:
                yield (
                    f"workloads.{name}.data.sample_delay_us: {workload.data.sample_delay_us:g} delays a run of one"
                    f" process, the baseline, by {run_s:.3g} s, more than"
                    f" time_limit_min: {study.time_limit_min:g}; use fewer microseconds or samples, or more time"
                )
