"""The house stays a house: imports run downward, and torch lives under train/ alone.

A floor that reaches up, or a torch import in the plan, costs nothing on the day it is written, and much later.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
import scalestudy

PACKAGE = Path(scalestudy.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
IMPORTERS = sorted((PACKAGE / "importers").rglob("*.py"))

FLOORS = {
    "errors": 0,
    "project": 0,
    "study": 0,
    "registry": 0,
    "recorder": 0,
    "prepare": 0,
    "record": 0,
    "measure": 0,
    "train": 1,
    "launch": 1,
    "attach": 1,
    "adapters": 1,
    "importers": 1,
    "chain": 2,
    "demo": 2,
    "analyse": 2,
    "diagnose": 3,
    "verify": 4,
    "publish": 5,
    "accept": 6,
    "compare": 6,
    "deposit": 6,
    "tune": 6,
    "reference": 7,
    "cli": 8,
    "library": 9,
    "__main__": 9,
}
# On the ground floor record knows study (an observation holds a spec), measure knows record (a search is kept as a
# file) and prepare knows both (data of the config, files written whole), never the other way round.
SAME_FLOOR_ALLOWED = {
    ("measure", "record"),
    ("record", "study"),
    ("record", "errors"),
    ("record", "project"),
    ("study", "errors"),
    ("study", "registry"),
    ("prepare", "study"),
    ("prepare", "record"),
    ("prepare", "errors"),
}

FLOORS_OF_IMPORTERS = {
    "unopened": 0,
    "numbers": 0,
    "headers": 1,
    "published": 2,
    "counts": 2,
    "quantities": 3,
    "raw": 4,
    "devices": 5,
    "markup": 6,
    "ratios": 6,
    "cells": 7,
    "shape": 8,
    "columns": 9,
    "hints": 10,
    "rows": 10,
    "tables": 10,
    "reading": 11,
    "logs": 12,
}
FLOORS_OF_LOGS = {
    "commands": 0,
    "declared": 0,
    "file_names": 0,
    "lines": 0,
    "model": 0,
    "quantities": 0,
    "given": 1,
    "parts": 1,
    "stated": 1,
    "trainers": 1,
    "steps": 2,
    "console": 3,
    "observe": 3,
    "study_of": 3,
    "tabular": 4,
    "readers": 5,
    "formats": 6,
}


def imports(path: Path) -> set[str]:
    """Full names of everything a module imports, wherever in the file."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            if room(path) == "attach":  # it is loaded under another name, by its path
                assert node.level < 2, f"{path}: what runs inside a script imports nothing else of ours"
                continue
            assert node.level == 0, f"{path}: relative import; say scalestudy.x, so that floors can be read"
            names |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def room(path: Path) -> str:
    """The package a module belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_imports_from_lower_floors_only(path: Path) -> None:
    here = room(path)
    if here == "__init__":
        return
    for name in imports(path):
        parts = name.split(".")
        if parts[0] != "scalestudy" or len(parts) < 2 or parts[1] not in FLOORS or parts[1] == here:
            continue
        there = parts[1]
        allowed = FLOORS[there] < FLOORS[here] or (here, there) in SAME_FLOOR_ALLOWED
        assert allowed, f"{here} (floor {FLOORS[here]}) imports {there} (floor {FLOORS[there]})"


@pytest.mark.parametrize("path", IMPORTERS, ids=lambda p: str(p.relative_to(PACKAGE)))
@pytest.mark.parametrize(
    ("place", "floors"), [("importers", FLOORS_OF_IMPORTERS), ("importers/logs", FLOORS_OF_LOGS)]
)
def test_folders_of_importers_are_floors_too(place: str, floors: dict[str, int], path: Path) -> None:
    within, names = PACKAGE / place, ["scalestudy", *place.split("/")]
    if not path.is_relative_to(within) or (path.parent == within and path.name == "__init__.py"):
        return
    here = path.relative_to(within).parts[0].removesuffix(".py")
    for name in imports(path):
        parts = name.split(".")
        if parts[: len(names)] == names and len(parts) > len(names) and parts[len(names)] != here:
            assert floors[parts[len(names)]] < floors[here], f"{here} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_torch_is_imported_under_train_alone(path: Path) -> None:
    """And in the rank into which a fault is injected."""
    if room(path) != "train" and path.relative_to(PACKAGE).as_posix() != "demo/rank.py":
        assert not {name for name in imports(path) if name.split(".")[0] == "torch"}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_file_is_short_enough_to_read_in_one_sitting(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


def test_every_room_is_on_a_floor() -> None:
    assert {room(path) for path in MODULES} - {"__init__"} == set(FLOORS)


def test_planning_starts_without_torch() -> None:
    """Importing torch takes seconds; `scalestudy plan` and Snakemake's parsing must not pay for it."""
    code = "import sys, scalestudy.chain.launches, scalestudy.launch.run; print('torch' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


def test_make_test_names_every_folder_of_tests() -> None:
    """In an order of its own, so that a folder could be forgotten."""
    tests = Path(__file__).parents[1]
    folders = {path.relative_to(tests).parts[0] for path in tests.rglob("test_*.py")}
    makefile = (tests.parent / "Makefile").read_text(encoding="utf-8")
    assert not [folder for folder in folders if f"tests/{folder} " not in makefile]
