"""The environment of a run names the commit of the code that measured it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scalestudy.record.fingerprint import PACKAGE

ASK = "from scalestudy.record.host.environment import source_commit; print(*source_commit())"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of git with the code of the package in it."""
    for name in ("__init__.py", "project.py", "record", "study"):
        source, target = PACKAGE / name, tmp_path / "workflow/scalestudy" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--quiet", "--message", "a")
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def asked(checkout: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-B", "-c", ASK],
        cwd=checkout,
        env={"PYTHONPATH": str(checkout / "workflow")},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_the_commit_of_a_checkout_is_known_and_whether_it_was_changed(checkout: Path) -> None:
    head = git(checkout, "rev-parse", "HEAD")
    assert asked(checkout) == f"{head} False"
    with (checkout / "workflow/scalestudy/__init__.py").open("a", encoding="utf-8") as file:
        file.write("# a change\n")
    assert asked(checkout) == f"{head} True"


def test_what_is_no_checkout_has_no_commit(checkout: Path) -> None:
    shutil.rmtree(checkout / ".git")
    assert asked(checkout) == "None None"
