"""A fingerprint of what code *does*: comments, docstrings and layout do not count.

Snakemake runs a job again when a parameter changes: analysis and documents carry the fingerprint of their code.
Training does not. What its code measures has a version (record/protocol.py), and every record has the fingerprint
of the code that measured it.
"""

import functools
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from scalestudy.record.behaviour import behaviour, keep

PACKAGE = Path(__file__).resolve().parents[1]

MEASURING = ("train", "record", "measure", "launch", "demo/rank.py")
"""What measures; whatever all of these import takes part in it too."""


def fingerprint(*packages: str) -> str:
    """Twelve hexadecimal digits over the behaviour of these packages, or files, of scalestudy."""
    found = {name: behaviour(PACKAGE / name).digest for package in packages for name in _files(package)}
    keep()
    return _digest(found)


def measuring_fingerprint() -> str:
    """Twelve hexadecimal digits over the behaviour of all code that takes part in a measurement."""
    return _digest(measuring_code())


def measuring_code() -> dict[str, str]:
    """File of the package -> hash of its behaviour, for every file that takes part in a measurement."""
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
    """Files of scalestudy that are imported with these names; its version is no behaviour."""
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
