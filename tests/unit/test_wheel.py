"""What is in the wheel: the package, the files of the workflow, and no dependency but those of extras."""

from __future__ import annotations

import subprocess
from email import message_from_bytes
from email.message import Message
from importlib.metadata import packages_distributions
from pathlib import Path
from zipfile import ZipFile

import pytest
from conftest import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from scalestudy.__main__ import MODULES
from wheels import FILES, FOLDERS, UNWANTED


@pytest.fixture(scope="module")
def files(wheel: Path) -> dict[str, bytes]:
    """Path in the wheel -> content."""
    with ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def metadata(files: dict[str, bytes]) -> Message:
    (name,) = (name for name in files if name.endswith(".dist-info/METADATA"))
    return message_from_bytes(files[name])


def requirements(metadata: Message, extra: str) -> set[str]:
    """Packages that an extra brings; '' for the package by itself."""
    found = [Requirement(text) for text in metadata.get_all("Requires-Dist", [])]
    return {
        canonicalize_name(requirement.name)
        for requirement in found
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra})
    }


def in_wheel(path: str) -> str:
    """Where a file of the checkout is in the wheel."""
    package = path.removeprefix("workflow/")
    return package if package.startswith("scalestudy/") else f"scalestudy/_project/{path}"


def test_every_file_that_git_tracks_is_in_the_wheel(files: dict[str, bytes]) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout of git")
    listed = subprocess.run(
        ["git", "ls-files", *FOLDERS, *FILES], cwd=ROOT, capture_output=True, text=True, check=True
    )
    tracked = [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]
    assert len(tracked) > 300
    lacking = [name for name in tracked if files.get(in_wheel(name)) != (ROOT / name).read_bytes()]
    assert not lacking


def test_nothing_else_is_in_the_wheel(files: dict[str, bytes]) -> None:
    assert not {in_wheel(name) for name in UNWANTED} & set(files)
    places = {name.split("/")[0].split("-")[0] for name in files}
    plugin = "snakemake_logger_plugin_scalestudy"
    assert places == {"scalestudy", plugin}, "one package, its plug-in and metadata; no docs, no tests"
    copied = {name.split("/")[2] for name in files if name.startswith("scalestudy/_project/")}
    assert copied == {*FOLDERS, "docs"}
    assert [name for name in files if name.startswith("scalestudy/_project/docs/")] == [
        "scalestudy/_project/docs/glossary.md"
    ]
    assert not [name for name in files if name.endswith((".pyc", ".swp"))]


def test_the_package_by_itself_needs_nothing(metadata: Message) -> None:
    assert requirements(metadata, "") == set()
    assert metadata["Requires-Python"] == ">=3.9"


def test_nothing_names_torch(metadata: Message) -> None:
    """Installing never changes the user's build of it."""
    extras = metadata.get_all("Provides-Extra", [])
    assert {"study", "slurm"} <= set(extras)
    assert not {"torch"} & set().union(*(requirements(metadata, extra) for extra in extras))


def test_the_command_looks_for_all_that_the_extra_brings(metadata: Message) -> None:
    distributions = packages_distributions()
    looked_for = {canonicalize_name(distributions[module][0]) for module in MODULES}
    assert looked_for == requirements(metadata, "study")
