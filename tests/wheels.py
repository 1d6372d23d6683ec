"""The wheel of the project, built as for a release: a source distribution, and a wheel from it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from conftest import ROOT

FOLDERS = ("config", "profiles", "report", "rules", "workflow")
FILES = ("docs/glossary.md",)
SOURCE = ("pyproject.toml", "setup.py", "README.md", "LICENSE", *FOLDERS, *FILES)
UNWANTED = ("rules/__pycache__/common.pyc", "config/.study.yaml.swp")
"""Files that are left in a checkout and must not be in the wheel."""


def _build(kind: str, source: Path, out: Path) -> Path:
    """Return the file that setuptools builds from a source tree. kind: `sdist` or `wheel`."""
    code = f"import sys; from setuptools import build_meta; build_meta.build_{kind}(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", code, str(out)], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = out.iterdir()
    return made


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel file. It needs no network: setuptools is from the environment of the tests."""
    folder = tmp_path_factory.mktemp("build")
    checkout = folder / "checkout"
    checkout.mkdir()
    for name in SOURCE:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("*.egg-info", "__pycache__")
            shutil.copytree(ROOT / name, checkout / name, ignore=ignored)
        else:
            (checkout / name).parent.mkdir(exist_ok=True)
            shutil.copy2(ROOT / name, checkout / name)
    for name in UNWANTED:
        (checkout / name).parent.mkdir(exist_ok=True)
        (checkout / name).touch()
    for kind in ("sdist", "unpacked", "wheel"):
        (folder / kind).mkdir()
    sdist = _build("sdist", checkout, folder / "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    return _build("wheel", unpacked, folder / "wheel")
