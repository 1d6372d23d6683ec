"""Compatibility across releases: the ids of runs, and the defaults of studies that are already planned.

A run id is a hash of the run's spec in its canonical form, the form of release 0.1. Later releases map renamed
keys back to it, and leave out added keys that have the value at which nothing changes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Content = dict[str, Any]

# A dotted key may have the type of an entry, as in `model[convnet].norm`, or `*` for any name.
RENAMED_KEYS: dict[str, str] = {}
"""Dotted key of a spec -> its dotted key in the canonical form."""

RENAMED_VALUES: dict[tuple[str, str], str] = {
    ("host.environment.SCALESTUDY_WORKER", "scalestudy.demo.rank"): "scalestudy.train.faulty",
}
"""(dotted key of the canonical form, value of today) -> value in the canonical form."""

ADDED_KEYS: Content = {"host.start": "cold", "alternation": None, "measure.batch_trial_share": 0.2}
"""Dotted key that the canonical form does not have -> the value at which the key changes nothing."""


@dataclass(frozen=True)
class ChangedDefault:
    """A default that changed. Studies that were planned before the change keep the old one."""

    version: int
    """Version of the defaults, from 2."""
    key: str
    """Dotted key of the study's file."""
    before: Any


CHANGED_DEFAULTS: tuple[ChangedDefault, ...] = (
    ChangedDefault(2, "repeats", before=5),
    ChangedDefault(2, "measure.until", before="precise"),
    ChangedDefault(3, "allocations", before="scales"),
    ChangedDefault(4, "host.cores_per_rank", before=1),
)
SEEDS = 2**53
"""Upper limit of seeds: some JSON readers use floats, which are exact for whole numbers below it."""
DEFAULTS = max((change.version for change in CHANGED_DEFAULTS), default=1)
"""Version of the defaults of a new study."""


def to_canonical(content: Content) -> Content:
    """The canonical form of a spec, from its content with today's names. It changes its argument."""
    for key, value in ADDED_KEYS.items():
        for inner, name in _places(content, key):
            if inner.get(name) == value:
                inner.pop(name, None)
    for now, then in RENAMED_KEYS.items():
        _move(content, now, then)
    for (key, now), then in RENAMED_VALUES.items():
        _replace(content, key, now, then)
    return content


def from_canonical(content: Content) -> Content:
    """The content of a spec with today's names, from any form since release 0.1. It changes its argument."""
    for (key, now), then in RENAMED_VALUES.items():
        _replace(content, key, then, now)
    for now, then in RENAMED_KEYS.items():
        _move(content, then, now)
    for key, value in ADDED_KEYS.items():
        for inner, name in _places(content, key):
            inner.setdefault(name, value)
    return content


def keep_defaults(content: Content, version: int) -> Content:
    """The content of a study's file with the old value of every default that changed after `version`."""
    for change in CHANGED_DEFAULTS:
        if change.version > version:
            for inner, name in _places(content, change.key, make=True):
                inner.setdefault(name, change.before)
    return content


def _places(content: Content, key: str, *, make: bool = False) -> Iterator[tuple[Content, str]]:
    """(mapping, last name) of every place of a dotted key. make: add missing mappings."""
    first, _, rest = key.partition(".")
    if not rest:
        yield content, first
        return
    name, _, kind = first.removesuffix("]").partition("[")
    if make and name != "*":
        content.setdefault(name, {})
    for inner in content.values() if name == "*" else [content.get(name)]:
        if isinstance(inner, dict) and (not kind or inner.get("type") == kind):
            yield from _places(inner, rest, make=make)


def _move(content: Content, source: str, target: str) -> None:
    for inner, name in list(_places(content, source)):
        if name in inner:
            value = inner.pop(name)
            for place, last in _places(content, target, make=True):
                place[last] = value


def _replace(content: Content, key: str, old: str, new: str) -> None:
    for inner, name in _places(content, key):
        if inner.get(name) == old:
            inner[name] = new
