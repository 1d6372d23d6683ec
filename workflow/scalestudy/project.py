"""Where the files of the workflow are (rules, templates, profiles, studies), in a checkout or an installed wheel.

Both hold the same folders in the same relative positions. `setup.py` copies them into the wheel.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_COPIED = _PACKAGE / "_project"


def root() -> Path:
    """The folder that holds workflow/, rules/, report/, profiles/ and config/."""
    return _COPIED if installed() else _PACKAGE.parents[1]


def installed() -> bool:
    """Whether the package was installed from a wheel, and does not run from a checkout."""
    return _COPIED.is_dir()
