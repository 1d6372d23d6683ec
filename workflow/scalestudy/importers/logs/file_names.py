"""What the name of a log says of its run. It may be wrong, so that it is only proposed to the user."""

from __future__ import annotations

import re
from pathlib import Path

_DEVICES = r"(?:n?gpus?|gcds?|npus?|tpus?|hpus?|devices?|ranks?|n?procs?|process(?:es)?|workers?|cards?|chips?)"
_NODES = re.compile(r"(?<![a-z0-9.])\d{1,4} ?(?:nodes?|n)(?![a-z])")
"""The devices beside it may be those of each node, or all of them."""
_FORMS = (
    re.compile(r"(?<![a-z0-9.])(?P<nodes>\d{1,4})x(?P<each>\d{1,4})(?![a-z0-9.])"),
    re.compile(rf"(?<![a-z0-9.])(?P<each>\d{{1,5}}) ?x? ?{_DEVICES}(?![a-z])"),
    re.compile(rf"(?<![a-z])(?:{_DEVICES}|np|ws|world ?size) ?=? ?(?P<each>\d{{1,5}})(?![0-9.])"),
)
"""Numbers of devices in names, whose `-` and `_` are spaces: 2x4, 8gpu, gpus=8."""
FOLDERS = 2
"""Folders above a file that may name its devices."""


def devices_named(path: Path) -> int | None:
    """Return the number of devices that the name of a file, or of a folder above it, says; None without one."""
    for name in (path.name, *path.parts[-2 : -2 - FOLDERS : -1]):
        words = re.sub(r"[-_ ]+", " ", re.sub(r"\.[a-z]+$", "", name.lower()))
        for form in () if _NODES.search(words) else _FORMS:
            if found := form.search(words):
                return (int(found.groupdict().get("nodes") or 1) * int(found["each"])) or None
    return None
