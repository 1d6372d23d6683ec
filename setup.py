"""What pyproject.toml cannot say: the files of the workflow travel inside the package.

In a checkout they are in its root. In a wheel they are in scalestudy/_project, in the same relative positions
(workflow/scalestudy/project.py finds both). Build from a clean checkout: files that git does not track travel too.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

FOLDERS = ("config", "profiles", "report", "rules", "workflow")
FILES = ("docs/glossary.md",)  # its terms are explained on the page
NOT_THESE = ("__pycache__", "scalestudy")  # compiled files; the package, which is installed as a package


def project_files() -> list[Path]:
    """The files that travel; paths relative to the root."""
    paths = [path for folder in FOLDERS for path in sorted(Path(folder).rglob("*")) if path.is_file()]
    paths += map(Path, FILES)
    return [path for path in paths if not any(_stays(part) for part in path.parts)]


def _stays(part: str) -> bool:
    return part in NOT_THESE or part.startswith(".") or part.endswith(".egg-info")


class BuildWithProject(build_py):
    """Copies the files of the workflow beside the modules; an editable install uses those of the checkout."""

    def run(self) -> None:
        """Also removes the copies of an earlier build, so that no file of an older version stays."""
        super().run()
        if self.editable_mode:
            return
        shutil.rmtree(self._target(), ignore_errors=True)
        for path in project_files():
            copy = self._target() / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            self.copy_file(str(path), str(copy))

    def get_source_files(self) -> list[str]:
        """What a source distribution holds."""
        return [*super().get_source_files(), *(path.as_posix() for path in project_files())]

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """What the build writes."""
        copies = [] if self.editable_mode else [str(self._target() / path) for path in project_files()]
        return [*super().get_outputs(include_bytecode), *copies]

    def _target(self) -> Path:
        return Path(self.build_lib) / "scalestudy" / "_project"


setup(cmdclass={"build_py": BuildWithProject})
