"""A fingerprint of what code *does*; comments, docstrings and layout do not count.

Snakemake runs a job again when a parameter changes. The jobs of the analysis and the documents have the
fingerprint of their code as a parameter. Training does not: what it measures has a version (record/protocol.py),
and every record has the fingerprint of the code that measured it.
"""

import functools
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from scalestudy.record.behaviour import behaviour, keep

PACKAGE = Path(__file__).resolve().parents[1]

MEASURING = ("train", "record", "measure", "launch", "demo/rank.py")
"""The measuring code. All modules that these import belong to it too."""


def fingerprint(*packages: str) -> str:
    """Return twelve hexadecimal digits over the behaviour of these packages, or files, of scalestudy."""
    found = {name: behaviour(PACKAGE / name).digest for package in packages for name in _files(package)}
    keep()
    return _digest(found)


def measuring_fingerprint() -> str:
    """Return twelve hexadecimal digits over the behaviour of all code that takes part in a measurement."""
    return _digest(measuring_code())


def measuring_code() -> dict[str, str]:
    """Return file of the package -> hash of its behaviour, for every file that takes part in a measurement."""
    found: dict[str, str] = {}
    waiting = [name for package in MEASURING for name in _files(package)]
    while waiting:
        name = waiting.pop()
        if name not in found:
            of_file = behaviour(PACKAGE / name)
            found[name] = of_file.digest
            waiting += _files_of(of_file.imports)
    keep()
    return dict(sorted(found.items()))


def _files(package: str) -> list[str]:
    found = [PACKAGE / package] if package.endswith(".py") else (PACKAGE / package).rglob("*.py")
    return sorted(path.relative_to(PACKAGE).as_posix() for path in found)


def _files_of(imports: Iterable[str]) -> Iterator[str]:
    """Yield the files of scalestudy that these imports load, except its `__init__.py`, which has the version."""
    for name in imports:
        _, *parts = name.split(".")
        for count in range(1, len(parts) + 1):
            stem = "/".join(parts[:count])
            yield from {f"{stem}.py", f"{stem}/__init__.py"} & _every_file()


@functools.cache
def _every_file() -> frozenset[str]:
    return frozenset(_files(""))


def _digest(digests: dict[str, str]) -> str:
    digest = hashlib.sha256()
    for name, of_file in digests.items():
        digest.update(name.encode())
        digest.update(of_file.encode())
    return digest.hexdigest()[:12]
