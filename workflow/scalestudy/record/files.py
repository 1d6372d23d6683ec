"""Writing a file whole or not at all: a reader never meets half of it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def write_text(path: str | Path, text: str) -> None:
    """Write under a temporary name beside the target, then rename."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, content: bytes) -> None:
    """As `write_text`, for bytes."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(content)
    temporary.replace(path)


def write_json(path: str | Path, content: Any) -> None:
    """JSON that is the same, byte for byte, for the same content."""
    write_text(path, json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n")
