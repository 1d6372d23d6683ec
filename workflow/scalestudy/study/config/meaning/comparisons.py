"""Scales, forecasts, gains and tables of which nothing comes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scalestudy.study.config.meaning.facts import distributed, most_ranks, repeated, scaled
from scalestudy.study.config.report import FARTHEST_BATCH, FARTHEST_SCALE
from scalestudy.study.config.scales import nodes_and_devices, world_size
from scalestudy.study.config.study import Study

ALONE = "every variant is one process, which runs at 1x1"
ADD = "add a ddp or fsdp variant"


def unused_comparisons(study: Study, content: Mapping[str, Any]) -> Iterator[str]:
    """A line for each scale, forecast, gain or table of which nothing comes."""
    yield from _alone(study, content)
    yield from _forecasts(study)
    yield from _gains(study)
    yield from _tables(study)


def _alone(study: Study, content: Mapping[str, Any]) -> Iterator[str]:
    if distributed(study):
        return
    if wide := [scale for scale in study.scales if world_size(scale) > 1]:
        yield f"scales: nothing runs at {wide[0]}, since {ALONE}; {ADD}, or set scales: [1x1]"
    if study.until_decided and content.get("max_repeats"):
        yield (
            f"max_repeats: {study.max_repeats} repeats are never run, since nothing is compared: {ALONE}; leave it"
            " out, or set measure.until: precise"
        )


def _forecasts(study: Study) -> Iterator[str]:
    key, scales = "report.forecast_scales", study.report.forecast_scales or ()
    if not distributed(study):
        if scales:
            yield f"{key}: nothing can be forecast to {scales[0]}, since {ALONE}; {ADD}, or leave it out"
        return
    for scale in repeated(scales):
        yield f"{key}: {scale} is listed twice; leave out one of them"
    for factor in (one for one in study.report.forecast_batches if one > FARTHEST_BATCH):
        yield (
            f"report.forecast_batches: {factor} is never forecast, since predictions go up to {FARTHEST_BATCH:g}"
            f" times the largest measured batch; use {FARTHEST_BATCH:g} or less"
        )
    for factor in repeated(study.report.forecast_batches):
        yield f"report.forecast_batches: {factor} is listed twice; leave out one of them"
    if scales and most_ranks(study) == 1:
        yield (
            f"{key}: nothing can be forecast to {scales[0]} from scales: [1x1]; add a scale of several ranks, or"
            " leave it out"
        )
        return
    for scale in dict.fromkeys(scales):
        if scale in study.scales or world_size(scale) == 1:
            yield f"{key}: {scale} is measured, so it is not forecast; leave it out"
        elif not any(_divides(one, world_size(scale)) for one in study.workloads.values()):
            batches = ", ".join(str(one.batch_size) for one in study.workloads.values())
            yield (
                f"{key}: nothing is forecast to {scale}, since {world_size(scale)} ranks do not divide the global"
                f" batch ({batches}); use a number of ranks that does, or scaling: [weak]"
            )
        elif why := _out_of_reach(study, scale):
            yield f"{key}: {scale} is never forecast, since {why}; use a nearer scale, or measure a larger one"


def _out_of_reach(study: Study, scale: str) -> str:
    """Why the growth models of the analysis refuse a scale; '' where they may not."""
    nodes, devices = nodes_and_devices(scale)
    measured = [nodes_and_devices(one) for one in study.scales]
    if nodes == 1:
        if (largest := max((inside for one, inside in measured if one == 1), default=1)) == 1:
            return "no scale of several devices on one node is measured"
        return _too_far(devices, largest, "ranks of a node")
    alike = [one for one, inside in measured if inside == devices]
    if max(alike, default=1) == 1:
        return f"no scale of several nodes with {devices} devices each is measured"
    if len({*alike, *([1] if devices == 1 else [])}) == 1:  # the baseline is a node of one device
        return f"{alike[0]}x{devices} is the only one with {devices} devices on each node"
    return _too_far(nodes, max(alike), "nodes")


def _too_far(size: int, largest: int, what: str) -> str:
    farthest = f"it is more than {FARTHEST_SCALE:g} times the largest measured number of {what}, {largest}"
    return farthest if size > FARTHEST_SCALE * largest else ""


def _divides(workload: Any, ranks: int) -> bool:
    return "weak" in workload.scaling or workload.batch_size % ranks == 0


def _gains(study: Study) -> Iterator[str]:
    gains = study.measure.gains
    if gains and not study.until_decided:
        yield (
            f"measure.gains: has no effect, since no repeats are run beyond repeats: {study.repeats}; raise"
            " max_repeats, or leave it out"
        )
        return
    for index, gain in enumerate(gains):
        path, sides = f"measure.gains.{index}", {_of(gain.before), _of(gain.after)}
        if len(sides) == 1:
            yield f"{path}: before and after are the same; name another workload or variant"
            continue
        if sides in [{_of(other.before), _of(other.after)} for other in gains[:index]]:
            yield f"{path}: these two are compared above; leave out one of them"
        scalings = [study.workloads[side.workload].scaling for side in (gain.before, gain.after)]
        if not set(scalings[0]) & set(scalings[1]):
            yield (
                f"{path}: {gain.before.workload} has scaling: [{', '.join(scalings[0])}] and"
                f" {gain.after.workload} has scaling: [{', '.join(scalings[1])}], so the two are never compared;"
                " give both one of these"
            )


def _of(setting: Any) -> tuple[str, str]:
    return setting.workload, setting.variant


def _tables(study: Study) -> Iterator[str]:
    for name, columns in study.report.tables.items():
        path = f"report.tables.{name}"
        for column in repeated(columns):
            yield f"{path}: {column} is listed twice; leave out one of them"
        if lacks := _lacks(study, name):
            yield f"{path}: this table is empty, since {lacks}; leave it out"


def _lacks(study: Study, table: str) -> str:
    """What a table has no rows without; '' where the study has it."""
    names = distributed(study)
    if table in ("strong_scaling", "weak_scaling"):
        kind = table.removesuffix("_scaling")
        return "" if scaled(study, kind) else f"the study has no {kind} scaling over several ranks"
    if table == "variants" and len(names) < 2:
        return "the study has fewer than two ddp or fsdp variants"
    if table == "ddp_fsdp" and {study.variants[name].strategy for name in names} != {"ddp", "fsdp"}:
        return "the study does not have both ddp and fsdp"
    return ""
