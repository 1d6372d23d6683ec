"""TensorBoard event files, read by the tensorboard package.

The scalars of a file become the columns of a table, by the names of their tags; each has its step and wall time.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from scalestudy.errors import UserError
from scalestudy.importers.logs.model import Given, Log
from scalestudy.importers.logs.table import Columns, logs_of

KIND = "TensorBoard event file"
MARK = b"brain.Event:"
"""In the first record of each file: the version of the format."""
MOST_STEPS = 5_000_000


def recognise(head: bytes) -> str:
    return KIND if MARK in head[:64] else ""


def read(path: Path, given: Given, *, kind: str = KIND) -> list[Log]:
    """Return the run. Raises UserError if the tensorboard package is missing, or no scalar has a time of a
    step."""
    try:
        loader = resolve_name("tensorboard.backend.event_processing.event_file_loader:EventFileLoader")
        as_array = resolve_name("tensorboard.util.tensor_util:make_ndarray")
    except ImportError:
        raise UserError(
            f"{path}: is a TensorBoard event file, which the package tensorboard reads; install it: pip install"
            " tensorboard. Or export the scalars as CSV"
        ) from None

    rows: dict[int, dict[str, Any]] = {}
    names: dict[str, None] = {"step": None, "wall_time": None}
    try:
        for event in loader(str(path)).Load():
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    number = float(value.simple_value)
                elif value.HasField("tensor") and not value.tensor.tensor_shape.dim:
                    number = float(as_array(value.tensor))
                else:
                    continue
                row = rows.setdefault(event.step, {"step": event.step})
                row["wall_time"] = event.wall_time
                row[value.tag] = number
                names.setdefault(value.tag)
            if len(rows) > MOST_STEPS:
                raise UserError(f"{path}: more than {MOST_STEPS} steps, which is too large for a log")
    except UserError:
        raise
    except Exception as error:  # of protobuf and of the records: no class of their own
        raise UserError(f"{path}: damaged after {len(rows)} steps: {type(error).__name__}: {error}") from None
    if len(rows) < 2:
        raise UserError(
            f"{path}: {len(rows)} steps with scalars; the file is truncated, or the training logs none"
        )

    def in_order() -> Iterator[tuple[int, dict[str, Any]]]:
        yield from ((at + 1, row) for at, (_, row) in enumerate(sorted(rows.items())))

    return logs_of(kind, Columns.of(path, names, given), in_order())
