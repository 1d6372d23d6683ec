"""Writing a file whole or not at all: a reader never meets half of it."""

import json
import os
from errno import EEXIST
from pathlib import Path
from typing import Any


def write_text(path: str | Path, text: str) -> None:
    """Write under a temporary name beside the target, then rename."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, content: bytes) -> None:
    """As `write_text`, for bytes. Raises OSError where a folder, a pipe or a device is in its place."""
    path = Path(path)
    if path.exists() and not path.is_file():  # a rename would put a file in the place of a device
        raise OSError(EEXIST, "is a folder, a pipe or a device, so no file can be written there", str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(content)
    temporary.replace(path)


def write_json(path: str | Path, content: Any) -> None:
    """JSON in the order of the content: the plan's order is the order of its launches."""
    write_text(path, json.dumps(content, indent=1, allow_nan=False) + "\n")
