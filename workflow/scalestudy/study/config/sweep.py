"""Sweeps: one entry that stands for several, `sweep: {ddp.bucket_cap_mb: [5, 25, 100]}`.

They are written out before the study is checked, so that everything after this sees plain variants and workloads.
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
"""Of one sweep."""


def expand_sweeps(content: Mapping[str, Any], *, source: str) -> dict[str, Any]:
    """The study with every swept variant and workload written out, one entry for each combination of values.

    An entry's name gets the last word of each key and its value: `ddp-bucket-cap-mb-25`. Raises RefusedStudyError,
    with a line for each entry, where sweeps are no mappings of keys to lists or entries come to the same name.
    """
    expanded, problems = dict(content), []
    for section in SECTIONS:
        entries = content.get(section)
        if not isinstance(entries, Mapping):
            continue  # the model says what is wrong
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
    """Write a value at a key path of an entry; UserError, with `path` before it, where a part holds no keys."""
    *parents, last = keys
    for key in parents:
        entry = entry.setdefault(key, {})
        if not isinstance(entry, dict):
            raise UserError(f"{path}: {'.'.join(keys)}: {key} holds no keys of its own")
    entry[last] = value
