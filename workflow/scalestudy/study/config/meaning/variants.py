"""Options of a variant that have no effect, or with which its runs would fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scalestudy.study.config.meaning.facts import built_in, compared_with
from scalestudy.study.config.models import ConvnetModel, HuggingFaceModel
from scalestudy.study.config.scales import nodes_and_devices, world_size
from scalestudy.study.config.study import Study
from scalestudy.study.config.variants import Variant
from scalestudy.study.config.workloads import Workload


def unused_options(study: Study, _: Mapping[str, Any]) -> Iterator[str]:
    """A line for each option that has no effect."""
    for name, variant in study.variants.items():
        for line in [*_ddp(variant), *_fsdp(study, variant), *_alone(study, name)]:
            yield f"variants.{name}.{line}"
        normed = [one for one, workload in built_in(study).items() if _has_batch_norm(workload)]
        if variant.strategy == "fsdp" and variant.precision == "bf16" and study.host.device == "cpu" and normed:
            yield (
                f"variants.{name}.precision: torch has no batch normalisation in bf16 with fsdp on a CPU, so runs"
                f" of workload {normed[0]} fail; use fp32, or norm: none there"
            )
        if variant.ddp.sync_batch_norm:
            lacking = [
                one
                for one, workload in built_in(study).items()
                if not (_has_batch_norm(workload) or isinstance(workload.model, HuggingFaceModel))
            ]
            if lacking:
                yield (
                    f"variants.{name}.ddp.sync_batch_norm: workload {lacking[0]} has no batch normalisation, so"
                    " its runs fail; leave it out, or use a convnet with norm: batch"
                )


def _alone(study: Study, name: str) -> Iterator[str]:
    """Options of synchronisation of a baseline that no variant shares with it."""
    variant = study.variants[name]
    if variant.strategy != "single" or not variant.accumulation_sync:
        return
    if not any(study.variants[one].accumulation_sync for one in compared_with(study, name)):
        yield (
            "accumulation_sync: true has no effect, since one process has nothing to synchronise, and no variant"
            " that is compared with it has this key; leave it out"
        )


def _ddp(variant: Variant) -> Iterator[str]:
    options = variant.ddp
    if options.powersgd_rank != 1 and options.communication_hook != "powersgd":
        yield (
            f"ddp.powersgd_rank: {options.powersgd_rank} has no effect with communication_hook:"
            f" {options.communication_hook}; leave it out, or set communication_hook: powersgd"
        )
    if options.static_graph and options.find_unused_parameters:
        yield (
            "ddp.find_unused_parameters: true has no effect with static_graph: true, which finds them itself;"
            " leave out one of them"
        )


def _fsdp(study: Study, variant: Variant) -> Iterator[str]:
    if variant.fsdp.sharding == "hybrid" and _one_group(study, variant.fsdp.shard_ranks):
        yield (
            "fsdp.sharding: hybrid is the same as full here, since the ranks of every scale are one group; add a"
            " scale of several nodes, or set shard_ranks to a part of the ranks"
        )
    if variant.fsdp.reduce_dtype != "fp32" and variant.precision != "bf16":
        yield (
            f"fsdp.reduce_dtype: {variant.fsdp.reduce_dtype} has no effect with precision: {variant.precision};"
            " leave it out, or set precision: bf16"
        )


def _one_group(study: Study, shard_ranks: int | None) -> bool:
    return all(world_size(scale) == (shard_ranks or nodes_and_devices(scale)[1]) for scale in study.scales)


def _has_batch_norm(workload: Workload) -> bool:
    return isinstance(workload.model, ConvnetModel) and workload.model.norm == "batch"
