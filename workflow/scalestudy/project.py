"""Finds the files of the workflow (rules, templates, profiles, studies), in a checkout or an installed wheel.

Both have the same folders in the same relative positions. `setup.py` copies them into the wheel.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_COPIED = _PACKAGE / "_project"


def root() -> Path:
    """Return the folder with workflow/, rules/, report/, profiles/, config/ and docs/glossary.md."""
    return _COPIED if installed() else _PACKAGE.parents[1]


def installed() -> bool:
    """Return whether the package was installed from a wheel and does not run from a checkout."""
    return _COPIED.is_dir()
