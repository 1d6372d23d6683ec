"""Workloads and variants that are the same under two names: every point of them is measured twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scalestudy.study.config.meaning.facts import built_in
from scalestudy.study.config.study import Study

PREFETCHED = 2
"""Batches that torch's loader reads ahead in each worker if nothing is set."""


def alike(study: Study, _: Mapping[str, Any]) -> Iterator[str]:
    """A line for each workload and variant that is the same as one before it."""
    variants = {name: _resolved(study, name) for name in study.variants}
    workloads = {name: workload.model_dump() for name, workload in study.workloads.items()}
    for section, entries in (("variants", variants), ("workloads", workloads)):
        names = list(entries)
        for at, name in enumerate(names):
            if same := next((other for other in names[:at] if entries[other] == entries[name]), None):
                yield (
                    f"{section}.{name}: is the same as {same}, so each of its points is measured twice; leave it"
                    " out, or change it (measure.floor: true shows how much equal runs differ)"
                )


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
