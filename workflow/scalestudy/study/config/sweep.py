"""Sweeps: one entry that represents several, `sweep: {ddp.bucket_cap_mb: [5, 25, 100]}`.

They are expanded before the study is checked, so that all later code works with plain variants and workloads.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from math import prod
from typing import Any

from scalestudy.errors import RefusedStudyError, UserError

SECTIONS = ("variants", "workloads")
MOST_COMBINATIONS = 1000
"""Limit for one sweep."""


def expand_sweeps(content: Mapping[str, Any], *, source: str) -> dict[str, Any]:
    """The study with every swept variant and workload expanded, one entry for each combination of values.

    The last word of each key and its value are appended to an entry's name: `ddp-bucket-cap-mb-25`. Raises
    RefusedStudyError, with a line for each entry, if a sweep is not a mapping of keys to lists or if two entries
    get the same name.
    """
    expanded, problems = dict(content), []
    for section in SECTIONS:
        entries = content.get(section)
        if not isinstance(entries, Mapping):
            continue  # the model reports the error
        written: dict[str, Any] = {}
        for name, entry in entries.items():
            try:
                for new_name, new_entry in _expand(name, entry, f"{section}.{name}.sweep"):
                    if new_name in written:
                        raise UserError(f"{section}.{new_name}: two entries have this name, one by a sweep")
                    written[new_name] = new_entry
            except UserError as error:
                problems.append(str(error))
        expanded[section] = written
    if problems:
        raise RefusedStudyError(source, problems)
    return expanded


def _expand(name: str, entry: Any, path: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(entry, Mapping) or "sweep" not in entry:
        yield name, entry
        return
    sweep = entry["sweep"]
    given = sweep.values() if isinstance(sweep, Mapping) else ()
    if not given or not all(isinstance(values, list | tuple) and values for values in given):
        raise UserError(
            f"{path}: a mapping of keys to lists of values is expected, such as {{ddp.bucket_cap_mb: [5, 25]}}"
        )
    if (combinations := prod(map(len, given))) > MOST_COMBINATIONS:
        raise UserError(
            f"{path}: gives {combinations} entries, and {MOST_COMBINATIONS} are allowed; sweep fewer"
            " keys, or fewer values of them"
        )
    for key, values in sweep.items():
        twice = [value for at, value in enumerate(values) if value in values[:at]]
        if twice:
            raise UserError(f"{path}.{key}: {twice[0]} is listed twice; leave out one of them")
    plain = {key: value for key, value in entry.items() if key != "sweep"}
    for values in itertools.product(*sweep.values()):
        new, words = deepcopy(plain), [str(name)]
        for key, value in zip(sweep, values, strict=True):
            write_at(new, str(key).split("."), value, path)
            words.append(f"{str(key).split('.')[-1]}-{_said(value)}")
        yield re.sub(r"[^a-z0-9]+", "-", "-".join(words).lower()).strip("-"), new


def _said(value: Any) -> str:
    """A value as it is part of a name: a negative number differs from its absolute value there."""
    negative = isinstance(value, int | float) and value < 0
    return f"minus-{-value}" if negative else str(value)


def write_at(entry: dict[str, Any], keys: list[str], value: Any, path: str) -> None:
    """Write a value at a key path of an entry. Raises UserError, with `path` before it, if a part has no keys."""
    *parents, last = keys
    for key in parents:
        entry = entry.setdefault(key, {})
        if not isinstance(entry, dict):
            raise UserError(f"{path}: {'.'.join(keys)}: {key} has no keys of its own")
    entry[last] = value
