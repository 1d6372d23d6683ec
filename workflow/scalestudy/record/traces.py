"""Reading a trace that `train/profile.py` wrote: Chrome's trace format, gzipped JSON."""

import gzip
import io
import json
import zlib
from pathlib import Path
from typing import Any

from scalestudy.errors import UserError
from scalestudy.record.files import MOST_BYTES, read_file


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
    return events
