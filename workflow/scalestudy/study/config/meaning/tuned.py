"""Values of `tune` that no search can try."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from scalestudy.study.config.meaning.facts import built_in, distributed
from scalestudy.study.config.refusals import shown, words
from scalestudy.study.config.study import Study
from scalestudy.study.config.sweep import write_at
from scalestudy.study.config.tune import Tune
from scalestudy.study.config.variants import Knobs


def unused_bounds(study: Study, _: Mapping[str, Any]) -> Iterator[str]:
    """A line for each value that `scalestudy tune` cannot try in this study."""
    if study.tune == Tune():
        return
    yield from _strategies(study)
    yield from _batches(study)
    for key, values in study.tune.also.items():
        yield from _values(key, values)
    ranks = study.tune.also.get("ddp.powersgd_rank")
    hooks = {variant.ddp.communication_hook for variant in study.variants.values()}
    if ranks and "powersgd" not in {*hooks, *study.tune.also.get("ddp.communication_hook", ())}:
        yield (
            "tune.also: ddp.powersgd_rank: has no effect without communication_hook: powersgd; leave it out, or"
            " set that hook"
        )


def _strategies(study: Study) -> Iterator[str]:
    if not built_in(study):
        for name in (*[name for name in study.tune.given if name != "batch_factors"], *study.tune.also):
            yield f"tune.{name}: has no effect, since every workload is a command; leave it out"
        return
    tune, names = study.tune, distributed(study)
    of_strategy = [key for key in study.tune.also if key.partition(".")[0] in ("ddp", "fsdp")]
    if not names:
        given = [name for name in ("sharding", "bucket_cap_mb") if name in tune.given]
        for name in (*given, *(f"also: {key}" for key in of_strategy)):
            yield f"tune.{name}: has no effect, since every variant is one process; leave it out"
        return
    if "bucket_cap_mb" in tune.given and all(study.variants[name].strategy != "ddp" for name in names):
        yield "tune.bucket_cap_mb: has no effect, since no variant is ddp; leave it out, or add one"
    if tune.sharding is None:
        return
    searched = {one.partition("-")[0] for one in tune.sharding} | {study.variants[name].strategy for name in names}
    for key in of_strategy:
        if (strategy := key.partition(".")[0]) not in searched:
            yield f"tune.also: {key}: has no effect, since sharding has no {strategy}; leave it out, or add one"


def _batches(study: Study) -> Iterator[str]:
    tune, workloads = study.tune, study.workloads.values()
    largest = max(one.batch_size for one in workloads)
    tried = [factor for factor in tune.batch_factors if int(largest * factor)]
    if not tried:
        yield f"tune.batch_factors: none of them leaves a whole sample of batch_size: {largest}; use larger ones"
    smallest = min(one.batch_size for one in workloads)
    if tune.largest_batch is not None and all(
        int(one.batch_size * factor) > tune.largest_batch for one in workloads for factor in (*tried, 1)
    ):
        yield (
            f"tune.largest_batch: {tune.largest_batch} is less than every batch to be tried, since batch_size is"
            f" {smallest}; raise it"
        )
    known = [(one.known_train_samples, one.batch_size * min((*tried, 1))) for one in workloads]
    if tune.fewest_steps != Tune().fewest_steps and all(
        samples is not None and samples < tune.fewest_steps * batch for samples, batch in known
    ):
        yield (
            f"tune.fewest_steps: no batch to be tried leaves {tune.fewest_steps} steps of an epoch of"
            f" {max(samples or 0 for samples, _ in known)} samples; use fewer"
        )


def _values(key: str, values: Sequence[Any]) -> Iterator[str]:
    """What is wrong with values of a key of a variant."""
    for value in values:
        entry: dict[str, Any] = {"strategy": "ddp"}
        write_at(entry, key.split("."), value, f"tune.also: {key}")
        try:
            Knobs.model_validate(entry, strict=True)
        except ValidationError as error:
            for item in error.errors(include_url=False):
                if item["type"] != "value_error" and ".".join(map(str, item["loc"])).startswith(key):
                    ours = words(item["type"], item.get("ctx", {}), item["input"])
                    yield f"tune.also: {key}: {ours or f'{shown(value)} is not a value of this key'}"
                    break
