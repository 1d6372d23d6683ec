"""Reading a trace that `train/profile.py` left: Chrome's trace format, JSON packed with gzip."""

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

from scalestudy.errors import UserError


def read_trace(path: str | Path) -> list[dict[str, Any]]:
    """The events of a trace. Raises UserError naming the file where it is missing, cut short, or no trace."""
    try:
        with gzip.open(path, "rb") as packed:
            content = json.loads(packed.read(), strict=False)  # kineto may leave control characters in names
    except FileNotFoundError:
        raise UserError(f"{path}: missing; the run was not profiled") from None
    except EOFError:
        raise UserError(f"{path}: cut short. Move the file away and profile again") from None
    except (gzip.BadGzipFile, zlib.error, ValueError) as error:
        raise UserError(f"{path}: not a trace ({error}). Move the file away and profile again") from None
    events = content.get("traceEvents") if isinstance(content, dict) else None
    if not isinstance(events, list):
        raise UserError(f"{path}: not a trace (no traceEvents). Move the file away and profile again")
    return events
