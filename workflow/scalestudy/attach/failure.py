"""Describes an error that ends a script: its message, and where in the script it occurred."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "DefaultCPUAllocator")


def told_of(error: BaseException) -> dict[str, Any]:
    """`error`, `error_at` (the last line of the traceback that belongs to the script) and `out_of_memory`."""
    own = own_frames(error) or list(traceback.extract_tb(error.__traceback__))
    text = f"{type(error).__name__}: {error}"
    where = f"{own[-1].filename}:{own[-1].lineno}" if own else ""
    if isinstance(error, SyntaxError) and error.filename:
        where = f"{error.filename}:{error.lineno}"
    memory = isinstance(error, MemoryError) or any(words in text for words in OUT_OF_MEMORY)
    return {"error": whole(text), "error_at": whole(where), "out_of_memory": memory}


def own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The frames of an error's traceback that belong to the script."""
    return [frame for frame in traceback.extract_tb(error.__traceback__) if not is_library(frame.filename)]


def whole(text: str) -> str:
    """The text as valid UTF-8: file names and messages may contain lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def is_library(path: str) -> bool:
    """Whether a file belongs to Python, an installed package or this package, and not to the script."""
    own = os.path.dirname(os.path.abspath(__file__))
    inside = (sys.prefix, sys.base_prefix, own, "<")
    return "site-packages" in path or path.startswith(inside)
