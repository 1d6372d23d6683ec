"""What the user says about files: `--gpus 8` for all of them, `--gpus '*-n8.log=8'` for some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from scalestudy.errors import UserError
from scalestudy.importers.logs.model import Given
from scalestudy.importers.logs.quantities import TIMES

FLAGS = {"devices": "gpus"}
"""Field of Given -> its option, where they differ."""
CHOICES = {
    "per": ("device", "all"),
    "rate": ("samples", "tokens", "steps"),
    "time": tuple(TIMES),
}
TEXTS = ("variant", *CHOICES)
LARGEST = 10**15


def given_for(files: Sequence[Path], options: Mapping[str, Sequence[str]]) -> dict[Path, Given]:
    """Return what is said about each file. options: option without dashes -> its words, `[FILE=]VALUE`.

    The last word that matches a file counts, and one that names files before one that does not. Raises UserError,
    naming the option, for a value that is not valid or a pattern that matches no file.
    """
    found: dict[Path, dict[str, Any]] = {path: {} for path in files}
    for field in (one.name for one in fields(Given) if one.name != "file"):
        flag = FLAGS.get(field, field).replace("_", "-")
        words = sorted(options.get(flag, ()), key=lambda word: "=" in word)
        for word in words:
            pattern, _, text = word.rpartition("=")
            value = _value(flag, field, text)
            matching = [path for path in files if not pattern or pattern in _names(path) or _fits(pattern, path)]
            if not matching:
                raise UserError(
                    f"--{flag} {word}: no file matches {pattern}; the files are {', '.join(map(str, files))}"
                )
            for path in matching:
                found[path][field] = value
    often = Counter(path.name for path in files)
    return {path: Given(**said, file=str(path) if often[path.name] > 1 else "") for path, said in found.items()}


def _names(path: Path) -> Iterator[str]:
    yield from (str(path), path.name)


def _fits(pattern: str, path: Path) -> bool:
    return any(fnmatchcase(name, pattern) for name in _names(path))


def _value(flag: str, field: str, text: str) -> Any:
    if field in CHOICES and text not in CHOICES[field]:
        raise UserError(f"--{flag} {text}: one of {', '.join(CHOICES[field])} is expected")
    if field in TEXTS:
        return text
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= LARGEST):
        raise UserError(f"--{flag} {text}: a whole number from 1 is expected")
    return int(text)
