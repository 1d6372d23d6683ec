"""The environment that makes the documents: this Python, the packages that scalestudy needs, and LaTeX."""

from __future__ import annotations

import platform
import re
import subprocess
from collections.abc import Mapping
from importlib import metadata

from scalestudy import __version__
from scalestudy.publish.typeset import missing_tex

PACKAGE, EXTRA = "scalestudy", "study"


def packages() -> dict[str, str]:
    """Return the version of each installed package that the extra `study` needs, directly or not, by name."""
    from packaging.requirements import InvalidRequirement, Requirement

    found = {PACKAGE: __version__}
    left = [(PACKAGE, EXTRA)]
    seen = set(left)
    while left:
        name, extra = left.pop()
        try:
            needed = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        for line in needed:
            try:
                requirement = Requirement(line)
                version = metadata.version(requirement.name)
            except (InvalidRequirement, metadata.PackageNotFoundError):
                continue
            if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
                continue
            found.setdefault(_plain(requirement.name), version)
            for wanted in ("", *requirement.extras):
                if (entry := (requirement.name, wanted)) not in seen:
                    seen.add(entry)
                    left.append(entry)
    return found


def python() -> str:
    return platform.python_version()


def system() -> str:
    return f"{platform.system()} {platform.machine()}"


def latex() -> str:
    """Return the first line of `pdflatex --version`; '' if the documents cannot be typeset here."""
    if missing_tex():
        return ""
    told = subprocess.run(["pdflatex", "--version"], capture_output=True, text=True, check=False).stdout
    return next(iter(told.splitlines()), "")


def other_versions(of: Mapping[str, str]) -> list[str]:
    """Return 'numpy 2.1 here, 2.4 there' for each package that differs from those of a deposit."""
    here = packages()
    lines = []
    for name, version in of.items():
        if here.get(name) != version:
            lines.append(f"{name} {here.get(name, 'not installed')} here, {version} there")
    return lines


def _plain(name: str) -> str:
    """The name of a package in its normal form."""
    return re.sub(r"[-_.]+", "-", name).lower()
