"""What the rules of this package have to find out of a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scalestudy.study.config.commands import CommandWorkload
from scalestudy.study.config.scales import world_size
from scalestudy.study.config.study import Study
from scalestudy.study.config.tune import Tune
from scalestudy.study.config.workloads import Workload

OFFICIAL_SAMPLES = {"cifar": 50_000, "imdb": 25_000, "ag-news": 120_000}
"""Training samples of distributions that are the same everywhere."""


def most_samples(workload: Workload) -> int | None:
    """Largest number of training samples; None if it is unknown before the data are read."""
    data = workload.data
    known = [workload.known_train_samples, getattr(data, "max_samples", None), OFFICIAL_SAMPLES.get(data.type)]
    return min((one for one in known if one is not None), default=None)


def fewest_samples(workload: Workload) -> int | None:
    """Smallest number of training samples; None if it is unknown: a folder may have a part of them."""
    downloaded = getattr(workload.data, "path", None) is None
    return workload.known_train_samples or (most_samples(workload) if downloaded else None)


def built_in(study: Study) -> dict[str, Workload]:
    """Workloads that the built-in training trains."""
    return {name: one for name, one in study.workloads.items() if isinstance(one, Workload)}


def scripts(study: Study) -> dict[str, CommandWorkload]:
    """Workloads that are commands."""
    return {name: one for name, one in study.workloads.items() if isinstance(one, CommandWorkload)}


def distributed(study: Study) -> list[str]:
    """Names of the variants of several ranks."""
    return [name for name, variant in study.variants.items() if variant.strategy != "single"]


def compared_with(study: Study, single: str) -> list[str]:
    """Names of the variants of several ranks whose baseline is this one."""
    return [name for name in distributed(study) if study.base_of(name) == single]


def most_ranks(study: Study) -> int:
    """Ranks of the largest run."""
    return max(map(world_size, study.scales)) if distributed(study) else 1


def tuned(study: Study) -> bool:
    """Whether the study is meant for `scalestudy tune`, whose runs heed keys that the study's own runs do not."""
    return study.tune != Tune() or bool(study.tune.model_fields_set)


def scaled(study: Study, scaling: str) -> bool:
    """Whether any workload scales like this, `strong` or `weak`, over several ranks."""
    return most_ranks(study) > 1 and any(scaling in one.scaling for one in study.workloads.values())


def written(content: Mapping[str, Any], key: str) -> Any:
    """The value at a dotted key of the study's file; None where it has none."""
    node: Any = content
    for part in key.split("."):
        node = node.get(part) if isinstance(node, Mapping) else None
    return node


def repeated(values: tuple[Any, ...]) -> Iterator[Any]:
    """Values that are listed again, each once."""
    yield from dict.fromkeys(value for at, value in enumerate(values) if value in values[:at])


def default_of(key: str) -> Any:
    """The default at a dotted key of a study."""
    model: Any = Study
    *parents, last = key.split(".")
    for part in parents:
        model = model.model_fields[part].annotation
    return model.model_fields[last].default


def value_of(study: Study, key: str) -> Any:
    """The value at a dotted key of a study."""
    node: Any = study
    for part in key.split("."):
        node = getattr(node, part)
    return node
