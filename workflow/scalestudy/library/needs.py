"""What the library needs beside the standard library, and the error if it is missing."""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec

OLDEST = (3, 11)
MODULES = ("jinja2", "numpy", "pandas", "pyarrow", "pydantic", "yaml", "scipy")
"""Import names of the packages in the extra `analysis` of pyproject.toml."""


class MissingPackageError(ImportError):
    """The environment lacks a package, or its Python is too old. The message is the line that installs it."""


def require_packages(function: str) -> None:
    """Raise MissingPackageError, with what to install, if `function` cannot run in this environment."""
    if sys.version_info[:2] < OLDEST:
        here, oldest = ("{}.{}".format(*version) for version in (sys.version_info, OLDEST))
        raise MissingPackageError(f"scalestudy.{function} needs Python {oldest} or newer; this is Python {here}")
    missing = [name for name in MODULES if find_spec(name) is None]
    if missing:
        install = f"{shlex.quote(sys.executable)} -m pip install 'scalestudy[analysis]'"
        raise MissingPackageError(f"scalestudy.{function} needs {', '.join(missing)}. Install them: {install}")
