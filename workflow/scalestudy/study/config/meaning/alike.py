"""Workloads and variants that are the same under two names: every point of them is measured twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from scalestudy.study.config.meaning.facts import built_in
from scalestudy.study.config.study import Study
from scalestudy.study.config.workloads import Workload

APART = {"allow_equal_batches", "allow_shared", "scaling"}
"""Keys that let a script run, and change nothing of what it does; and which points are measured."""
TWICE = "measured twice; leave it out, or change it (measure.floor: true shows how much equal runs differ)"
OF_RATE = ("learning_rate", "learning_rate_scaling", "warmup_steps", "decay")
WHETHER = ("momentum", "weight_decay", "gradient_clip")
"""Keys of an optimizer with the same arithmetic at all values, and at all but 0 or none."""
PREFETCHED = 2
"""Batches that torch's loader reads ahead in each worker if nothing is set."""


def alike(study: Study, _: Mapping[str, Any]) -> Iterator[str]:
    """A line for each workload and variant that is the same as one before it."""
    variants = {name: _resolved(study, name) for name in study.variants}
    names = list(variants)
    for at, name in enumerate(names):
        if same := next((other for other in names[:at] if variants[other] == variants[name]), None):
            yield f"variants.{name}: is the same as {same}, so each of its points is {TWICE}"
    names = list(study.workloads)
    for at, name in enumerate(names):
        yield from islice(filter(None, (_line(study, name, other) for other in names[:at])), 1)


def _line(study: Study, name: str, other: str) -> str:
    """A line about a workload if its points, or some of them, are those of another one; '' if they are not."""
    mine, its = study.workloads[name], study.workloads[other]
    shared = [one for one in mine.scaling if one in its.scaling]
    if not shared:
        return ""
    if mine.model_dump(exclude=APART) == its.model_dump(exclude=APART):
        if set(mine.scaling) == set(its.scaling):
            return f"workloads.{name}: is the same as {other}, so each of its points is {TWICE}"
        return (
            f"workloads.{name}: is the same as {other} in {shared[0]} scaling, so these points are measured twice;"
            f" leave {shared[0]} out of scaling here or there"
        )
    if isinstance(mine, Workload) and isinstance(its, Workload) and _timed(mine) == _timed(its):
        of_mine, of_its = mine.optimizer.model_dump(), its.optimizer.model_dump()
        differing = ", ".join(f"optimizer.{key}" for key in of_mine if of_mine[key] != of_its[key])
        return (
            f"workloads.{name}: differs from {other} only in {differing}, which changes no step time, and with"
            " epochs: 0 nothing else is measured; leave it out, or train for epochs"
        )
    return ""


def _timed(workload: Workload) -> dict[str, Any]:
    """What the step time of a workload depends on, or all of a workload that trains for epochs."""
    work = workload.model_dump(exclude=APART)
    if not workload.epochs:
        kept = {key: value for key, value in work["optimizer"].items() if key not in OF_RATE}
        work["optimizer"] = {key: bool(value) if key in WHETHER else value for key, value in kept.items()}
    return work


def _resolved(study: Study, name: str) -> dict[str, Any]:
    """What the runs of a variant depend on, with the defaults of the study in the place of keys that are unset."""
    variant, host = study.variants[name], study.host_of(name)
    found = variant.model_dump(exclude={"base"}) | {"base": _base(study, name)}
    found |= {"environment": dict(host.environment), "start": host.start}
    if found["input"]["workers"] and found["input"]["prefetch_factor"] is None:
        found["input"]["prefetch_factor"] = PREFETCHED
    if built_in(study):
        return found
    # A script does not see the strategy: only its arguments and its launcher distinguish its runs.
    alone = variant.strategy == "single"
    return found | {"strategy": alone, "launcher": variant.launcher or ("python" if alone else "torchrun")}


def _base(study: Study, name: str) -> str:
    return "" if study.variants[name].strategy == "single" else study.base_of(name)
