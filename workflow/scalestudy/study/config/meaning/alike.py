"""Workloads and variants that are the same under two names: every point of them is measured twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scalestudy.study.config.study import Study


def alike(study: Study, _: Mapping[str, Any]) -> Iterator[str]:
    """A line for each workload and variant that is the same as one before it."""
    variants = {
        name: variant.model_dump(exclude={"base"}) | {"base": _base(study, name)}
        for name, variant in study.variants.items()
    }
    workloads = {name: workload.model_dump() for name, workload in study.workloads.items()}
    for section, entries in (("variants", variants), ("workloads", workloads)):
        names = list(entries)
        for at, name in enumerate(names):
            if same := next((other for other in names[:at] if entries[other] == entries[name]), None):
                yield (
                    f"{section}.{name}: is the same as {same}, so each of its points is measured twice; leave it"
                    " out, or change it (measure.floor: true shows how much equal runs differ)"
                )


def _base(study: Study, name: str) -> str:
    return "" if study.variants[name].strategy == "single" else study.base_of(name)
