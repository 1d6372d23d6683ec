"""The pinned versions fit each other: a pinned release finds what it requires among the pins.

A release is checked if it is the one that is installed here, since its requirements are known then.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import distributions, version

import pytest
from conftest import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def pins(name: str) -> dict[str, str]:
    """The versions of a file of constraints/, by canonical name."""
    lines = (ROOT / "constraints" / name).read_text(encoding="utf-8").splitlines()
    parts = (line.partition("==") for line in lines if line and not line.startswith("#"))
    return {canonicalize_name(package): pinned for package, _, pinned in parts}


def conflicts(pinned: dict[str, str]) -> Iterator[str]:
    """What a pinned and installed release requires in another version than the pinned one."""
    for installed in distributions():
        name = canonicalize_name(installed.metadata["Name"])
        if pinned.get(name) != installed.version:
            continue
        for text in installed.requires or ():
            required = Requirement(text)
            if required.marker is not None and not required.marker.evaluate({"extra": ""}):
                continue
            other = pinned.get(canonicalize_name(required.name))
            if other is not None and not required.specifier.contains(other, prereleases=True):
                yield f"{name} {installed.version} requires {required}, and {other} is pinned"


@pytest.mark.parametrize("name", ["base.txt", "lowest.txt"])
def test_the_pins_fit_each_other(name: str) -> None:
    assert not list(conflicts(pins(name)))


def test_a_pin_that_is_too_old_for_another_one_is_found() -> None:
    (found,) = conflicts({"check-jsonschema": version("check-jsonschema"), "click": "7.0"})
    assert found.startswith("check-jsonschema") and found.endswith("and 7.0 is pinned")
