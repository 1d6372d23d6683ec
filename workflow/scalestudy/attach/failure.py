"""What is told of an error that ends a script: its words, and where in the script it was."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "DefaultCPUAllocator")


def told_of(error: BaseException) -> dict[str, Any]:
    """`error`, `error_at` (the last line of the script's own in the traceback) and `out_of_memory`."""
    own = own_frames(error) or list(traceback.extract_tb(error.__traceback__))
    text = f"{type(error).__name__}: {error}"
    where = f"{own[-1].filename}:{own[-1].lineno}" if own else ""
    if isinstance(error, SyntaxError) and error.filename:
        where = f"{error.filename}:{error.lineno}"
    memory = isinstance(error, MemoryError) or any(words in text for words in OUT_OF_MEMORY)
    return {"error": whole(text), "error_at": whole(where), "out_of_memory": memory}


def own_frames(error: BaseException) -> list[traceback.FrameSummary]:
    """The lines of an error's traceback that are the script's own."""
    return [frame for frame in traceback.extract_tb(error.__traceback__) if not is_library(frame.filename)]


def whole(text: str) -> str:
    """Text that every reader of UTF-8 takes: names of files and messages may have half characters."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def is_library(path: str) -> bool:
    """Whether a file is of Python, of an installed package, or ours, and not of the script."""
    own = os.path.dirname(os.path.abspath(__file__))
    inside = (sys.prefix, sys.base_prefix, own, "<")
    return "site-packages" in path or path.startswith(inside)
