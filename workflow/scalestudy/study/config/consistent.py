"""Mistakes of a study whose keys are each valid: entries that cannot be run together, or names of nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scalestudy.study.config.command_variants import wrong_for_commands
from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.config.conditions import wrong_threads
from scalestudy.study.config.scales import nodes_and_devices, world_size
from scalestudy.study.config.workloads import count_points, wrong_batch
from scalestudy.study.twins import twin_name

if TYPE_CHECKING:
    from scalestudy.study.config.stopping import Setting
    from scalestudy.study.config.study import Study


def inconsistent(study: Study) -> list[str]:
    """A line for each mistake, with its key path, its value and what would be right."""
    if study.imported:
        return []  # what was run is known, and nothing else will be
    bases = [*_strategies(study), *_bases(study)]
    hosts = {name: study.host_of(name) for name in study.variants}
    threads = dict.fromkeys(line for host in hosts.values() for line in wrong_threads(host))
    return [
        *bases,
        *_repeats(study),
        *_gains(study),
        *_twins(study),
        *threads,
        *_start(study, compared=not bases),
        *_devices(study),
        *_inputs(study),
        *wrong_for_commands(study.workloads, study.variants, hosts),
        *_batches(study),
    ]


def _strategies(study: Study) -> Iterator[str]:
    """No variant of our own training loop has a strategy that only scripts and imported runs have."""
    ours = [name for name, workload in study.workloads.items() if not isinstance(workload, CommandWorkload)]
    for name, variant in study.variants.items():
        if variant.strategy == "other" and ours:
            yield (
                f"variants.{name}.strategy: other is for scripts and imported runs only, but workload {ours[0]}"
                " has no `command`; use single, ddp or fsdp"
            )


def _bases(study: Study) -> Iterator[str]:
    """Every distributed variant has one baseline, and it is known which."""
    singles = study.singles()
    listed = ", ".join(singles) or "none yet"
    for name, variant in study.variants.items():
        path = f"variants.{name}.base"
        if variant.strategy == "single":
            if variant.base not in (None, name):
                yield f"{path}: a single variant is a baseline itself; leave it out"
        elif variant.base is None and len(singles) != 1:
            yield f"{path}: name the single variant to compare with; the study has {listed}"
        elif variant.base is not None and variant.base not in singles:
            yield f"{path}: '{variant.base}' is not a single variant; the study has {listed}"


def _repeats(study: Study) -> Iterator[str]:
    if study.max_repeats is not None and study.max_repeats < study.repeats:
        yield f"max_repeats: {study.max_repeats} is fewer than repeats: {study.repeats}"
    if study.most_repeats > study.repeats and study.repeats < 2:
        yield (
            f"repeats: {study.repeats} is too few to decide on further repeats (max_repeats:"
            f" {study.most_repeats}); use 2 or more"
        )
    if study.measure.budget_device_hours and study.measure.until != "decided":
        yield "measure.budget_device_hours: needs `measure.until: decided`; leave out one of them"
    points = count_points(study.workloads.values(), study.variants.values(), study.scales)
    if (runs := points * study.most_repeats) > study.most_launches:
        yield (
            f"most_launches: {points} points x {study.most_repeats} repeats are {runs} runs,"
            f" and {study.most_launches} are allowed; set most_launches: {runs} if they are intended"
        )


def _gains(study: Study) -> Iterator[str]:
    """Both settings of a gain are in the study, and run on several ranks."""
    for index, gain in enumerate(study.measure.gains):
        yield from _wrong_setting(study, gain.before, f"measure.gains.{index}.before")
        yield from _wrong_setting(study, gain.after, f"measure.gains.{index}.after")


def _wrong_setting(study: Study, setting: Setting, path: str) -> Iterator[str]:
    known: dict[str, list[str]] = {"workload": list(study.workloads), "variant": list(study.variants)}
    for kind, names in known.items():
        name = getattr(setting, kind)
        if name not in names:
            yield f"{path}.{kind}: the study has no '{name}'; it has {', '.join(names)}"
    if setting.variant in study.singles():
        yield (
            f"{path}.variant: '{setting.variant}' is one process, which every speedup is relative to; name a"
            " variant of several ranks"
        )


def _twins(study: Study) -> Iterator[str]:
    """No variant has the name that the second runs of a baseline get."""
    for name in study.singles() if study.measure.floor else ():
        if twin_name(name) in study.variants:
            yield (
                f"variants.{twin_name(name)}: with `measure.floor: true` the second runs of {name} have this name;"
                " use another name"
            )


def _start(study: Study, *, compared: bool) -> Iterator[str]:
    """Forks work on one node, and a speedup is never a ratio of a forked and a cold run.

    compared: whether every variant has a baseline.
    """
    wide = [scale for scale in study.scales if nodes_and_devices(scale)[0] > 1]
    for name, variant in study.variants.items():
        start = study.host_of(name).start
        path = f"variants.{name}.start" if variant.start else "host.start"
        if start == "fork" and wide and variant.strategy != "single":
            yield f"{path}: fork works on one node, and scale {wide[0]} has several; use cold"
        if compared and start != study.host_of(base := study.base_of(name)).start:
            yield (
                f"variants.{name}.base: {name} starts by {start} and {base} does not; name a single variant"
                f" with `start: {start}`"
            )


def _devices(study: Study) -> Iterator[str]:
    for name, variant in study.variants.items():
        if variant.precision == "tf32" and study.host.device == "cpu":
            yield f"variants.{name}.precision: tf32 is available on CUDA devices only; use fp32 on a CPU"
        if variant.ddp.communication_hook == "bf16" and study.host.device == "cpu":
            yield (
                f"variants.{name}.ddp.communication_hook: torch sums bf16 over ranks on CUDA only;"
                " fp16 works on a CPU too"
            )
        for scale in study.scales if variant.fsdp.sharding == "hybrid" else ():
            group = variant.fsdp.shard_ranks or nodes_and_devices(scale)[1]
            if world_size(scale) % group:
                yield (
                    f"variants.{name}.fsdp.shard_ranks: {world_size(scale)} ranks of scale {scale} do not"
                    f" make whole groups of {group}"
                )
                break


def _inputs(study: Study) -> Iterator[str]:
    loading = [name for name, variant in study.variants.items() if variant.input.loader == "dataloader"]
    for name, workload in study.workloads.items():
        if loading and getattr(getattr(workload, "data", None), "on_device", False):
            yield (
                f"workloads.{name}.data.on_device: variant {loading[0]} reads through a dataloader, which data on"
                " the device do not need; set on_device: false, or input.loader: direct"
            )


def _batches(study: Study) -> Iterator[str]:
    """Every batch must divide among ranks and micro-batches and fit the data, at every scale."""
    references = study.report.overhead_reference
    for name, workload in study.workloads.items():
        if why := wrong_batch(workload, study.variants, study.scales, references=references):
            yield f"workloads.{name}.batch_size: {why}"
