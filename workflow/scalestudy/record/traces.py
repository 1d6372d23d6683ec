"""Reading a trace that `train/profile.py` wrote: Chrome's trace format, gzipped JSON."""

import gzip
import io
import json
import zlib
from pathlib import Path
from typing import Any

from scalestudy.errors import UserError
from scalestudy.record.files import MOST_BYTES, read_file

MESSAGE_SIZES = ("In msg nelems", "Out msg nelems")
"""Arguments of a collective: the numbers of elements."""
LARGEST = 2**63
"""Limit of a time in us, and of a duration."""


def read_trace(path: str | Path) -> list[dict[str, Any]]:
    """Return the events of a trace. Raises UserError, naming the file, if it is missing, truncated or no trace."""
    try:
        with gzip.open(io.BytesIO(read_file(Path(path))), "rb") as packed:
            events_text = packed.read(MOST_BYTES + 1)
        if len(events_text) > MOST_BYTES:
            raise UserError(
                f"{path}: unpacks to more than {MOST_BYTES >> 20} MiB, too large for a trace; move it away"
            )
        content = json.loads(events_text, strict=False)  # kineto may leave control characters in names
    except UserError:
        raise
    except FileNotFoundError:
        raise UserError(f"{path}: missing; the run was not profiled") from None
    except EOFError:
        raise UserError(f"{path}: truncated. Move the file away and profile again") from None
    except (gzip.BadGzipFile, zlib.error, ValueError, RecursionError) as error:
        raise UserError(f"{path}: not a trace ({error}). Move the file away and profile again") from None
    events = content.get("traceEvents") if isinstance(content, dict) else None
    if not isinstance(events, list):
        raise UserError(f"{path}: not a trace (no traceEvents). Move the file away and profile again")
    for number, event in enumerate(events):
        if wrong := _wrong_event(event):
            raise UserError(f"{path}: not a trace (event {number} {wrong}). Move the file away and profile again")
    return events


def _wrong_event(event: Any) -> str:
    """Return what is wrong with an event; '' if nothing is. Only complete events ("ph": "X") are computed with."""
    if not isinstance(event, dict):
        return "is not an object"
    if event.get("ph") != "X" or "dur" not in event:
        return ""
    arguments = event.get("args", {})
    if not (isinstance(event.get("name"), str) and isinstance(event.get("cat", ""), str)):
        return "has a name or category that is not text"
    if not all(isinstance(event.get(name), int | float) and abs(event[name]) < LARGEST for name in ("ts", "dur")):
        return "has no time"
    if not isinstance(arguments, dict):
        return "has arguments that are not an object"
    if any(
        isinstance(one, list | dict) for one in (event.get("pid"), event.get("tid"), arguments.get("correlation"))
    ):
        return "has a process, thread or correlation that is a list or an object"
    if not all(isinstance(arguments.get(name), int | float | None) for name in MESSAGE_SIZES):
        return "has a message size that is not a number"
    return ""
