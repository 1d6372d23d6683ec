"""Which files Python can run: those that end in .py, and the commands that packages install."""

from __future__ import annotations

import re
from pathlib import Path

_HEAD = re.compile(rb"#! ?\S*(?:/|env +)python[\d.]*\b|#! ?/bin/sh\n\W*exec\W+\S*/python[\d.]*\b")
"""First line of an installed command. pip starts Python through /bin/sh if its path is long."""


def is_python_file(name: str) -> bool:
    """Whether a name is that of a file of Python code."""
    return name.endswith((".py", ".pyc"))


def is_python_script(path: str) -> bool:
    """Whether a command can begin with this file: it ends in .py, or its first line names Python."""
    if is_python_file(path):
        return True
    try:
        with Path(path).open("rb") as file:
            return _HEAD.match(file.read(1024)) is not None
    except OSError:
        return False
