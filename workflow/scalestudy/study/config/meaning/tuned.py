"""Values of `tune` that no search can try."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from scalestudy.study.config.meaning.facts import built_in, distributed, most_ranks, most_samples, scripts
from scalestudy.study.config.refusals import shown, words
from scalestudy.study.config.report import FARTHEST_BATCH
from scalestudy.study.config.scales import nodes_and_devices
from scalestudy.study.config.study import Study
from scalestudy.study.config.sweep import write_at
from scalestudy.study.config.tune import BATCH, OF_KEYS, SHARDING, Tune
from scalestudy.study.config.variants import Knobs, Variant


def unused_bounds(study: Study, _: Mapping[str, Any]) -> Iterator[str]:
    """A line for each value that `scalestudy tune` cannot try in this study."""
    if study.tune == Tune():
        return
    yield from _strategies(study)
    yield from _places(study)
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
        for key in study.tune.hold:
            nothing = "is all that can be searched" if key == BATCH else "is not searched"
            yield f"tune.hold: {key} {nothing}, since every workload is a command; leave it out"
        return
    tune, names = study.tune, distributed(study)
    if BATCH in tune.hold and not any(one.epochs for one in built_in(study).values()):
        yield f"tune.hold: {BATCH} is not searched, since no workload trains for epochs; leave it out"
    for key in (SHARDING, OF_KEYS["bucket_cap_mb"]):
        if key in tune.hold and not names:
            yield f"tune.hold: {key} is not searched, since every variant is one process; leave it out"
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


def _places(study: Study) -> Iterator[str]:
    """Values that no run of this study can have, and a search of nothing."""
    tune, names = study.tune, distributed(study)
    if not built_in(study):
        return
    if tune.precision and "tf32" in tune.precision and study.host.device == "cpu":
        yield "tune.precision: tf32 is available on CUDA devices only; leave it out on a CPU"
    fsdp_only = bool(names) and all(study.variants[name].strategy == "fsdp" for name in names)
    fsdp_only &= tune.sharding is None or "ddp" not in tune.sharding
    if tune.precision and "fp16" in tune.precision and fsdp_only and (tune.sharding or SHARDING in tune.hold):
        yield "tune.precision: fp16 is not available with fsdp, and no ddp is searched; use bf16"
    if "fsdp-hybrid" in (tune.sharding or ()) and all(nodes_and_devices(one)[0] == 1 for one in study.scales):
        yield (
            "tune.sharding: fsdp-hybrid is the same as fsdp-full on one node; leave it out, or add a scale of"
            " several"
        )
    on_device = all(getattr(one.data, "on_device", False) for one in built_in(study).values())
    if "workers" in tune.given and on_device:
        yield (
            f"tune.workers: [{', '.join(map(str, tune.workers))}] cannot be tried, since data on the device are"
            " not read by workers; leave it out, or set data.on_device: false"
        )
    most = max(
        one.batch_size * (max(1, *tune.batch_factors) if one.epochs else 1) for one in built_in(study).values()
    )
    for parts in (one for one in tune.accumulation_steps if "accumulation_steps" in tune.given and one > most):
        yield f"tune.accumulation_steps: no batch has {parts} samples; the largest to be tried has {most:g}"
    for key, values in tune.also.items():
        if {*map(repr, values)} == {repr(_present(study.variants[name], key)) for name in names or study.variants}:
            yield f"tune.also: {key}: {shown(values[0])} is the present value of every variant; list another one"
    if not any(variant.checkpoint_every_steps for variant in study.variants.values()):
        for key in ("checkpoints_kept", "checkpoint_async"):
            if key in tune.also and "checkpoint_every_steps" not in tune.also:
                yield (
                    f"tune.also: {key}: has no effect without checkpoint_every_steps; leave it out, or set that"
                    " key"
                )
    if set(OF_KEYS.values()) <= set(tune.hold) and not tune.also:
        yield "tune.hold: every key is held, so there is nothing to search; leave out one of them"


def _present(variant: Variant, key: str) -> Any:
    node: Any = variant
    for part in key.split("."):
        node = getattr(node, part, None)
    return node


def _batches(study: Study) -> Iterator[str]:
    tune, workloads = study.tune, study.workloads.values()
    if not any(one.epochs for one in built_in(study).values()):
        why = "a script's accuracy at another batch is not known" if scripts(study) else "nothing is validated"
        usual = Tune()
        for key in ("batch_factors", "largest_batch", "fewest_steps"):
            if getattr(tune, key) != getattr(usual, key):
                yield (
                    f"tune.{key}: has no effect, since no built-in workload trains for epochs and {why}; leave it"
                    " out, or give batches with --try batch_size=64,128"
                )
        return
    largest = max(one.batch_size for one in workloads)
    tried = [factor for factor in tune.batch_factors if int(largest * factor)]
    if not tried:
        yield f"tune.batch_factors: none of them leaves a whole sample of batch_size: {largest}; use larger ones"
    widest = most_ranks(study)
    growth = {scaling: FARTHEST_BATCH * (widest if scaling == "strong" else 1) for scaling in ("strong", "weak")}
    limit = max(growth[scaling] for one in workloads for scaling in one.scaling)
    others = [factor for factor in tried if factor != 1]
    if "batch_factors" in tune.given and tried and min(tried) > limit:
        yield (
            f"tune.batch_factors: {min(tried):g} gives more than {FARTHEST_BATCH:g} times the largest measured"
            f" batch per rank at every scale; use at most {limit:g}"
        )
    elif "batch_factors" in tune.given and others and not _leave_steps(study, others):
        yield (
            f"tune.batch_factors: no batch of [{', '.join(f'{one:g}' for one in others)}] times batch_size leaves"
            f" tune.fewest_steps: {tune.fewest_steps} steps of an epoch; use smaller ones, or fewer steps"
        )
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


def _leave_steps(study: Study, factors: Sequence[float]) -> bool:
    """Whether an epoch has, or may have, enough steps at any of these multiples of the batch."""
    known = [(most_samples(one), one.batch_size) for one in built_in(study).values() if one.epochs]
    fewest = study.tune.fewest_steps
    return any(
        samples is None or samples >= fewest * int(size * factor) for samples, size in known for factor in factors
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
