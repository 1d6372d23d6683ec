"""What an earlier stage wrote, a table or text, read as strictly as a document: whole, or refused by its name."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from scalestudy.errors import UserError
from scalestudy.record.files import read_file
from scalestudy.registry.column import Column

if TYPE_CHECKING:
    import pandas as pd

    from scalestudy.record.observation import FileDigest


def read_table(
    path: Path, columns: Sequence[Column], *, made_by: str, digest: FileDigest | None = None
) -> pd.DataFrame:
    """The frame in a CSV file that has at least these columns; only an empty field is missing in it.

    made_by: the command that writes the file. digest: what the file looked like when it was written. Raises
    UserError with the file, what is wrong and that command, where the file is missing or unreadable, differs from
    its digest, is cut short, lacks a column, or has text where a number belongs.
    """
    import pandas as pd

    again = f"run `{made_by}` again"
    csv.field_size_limit(2**31 - 1)  # of a field; a list of what was seen in a script may be long
    content = _content(path, made_by)
    _refuse_other(path, content, digest, again)
    try:
        text = content.decode("utf-8")
        rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        names = next(rows, [])
        widths = [len(row) for row in chain([names], rows) if row]
    except (UnicodeDecodeError, csv.Error):
        raise UserError(f"{path}: is no CSV table; {again}") from None
    if "\0" in text:  # some releases of pandas read on
        raise UserError(f"{path}: is no CSV table: it has a NUL; {again}")
    if not widths:
        raise UserError(f"{path}: empty; {again}")
    missing = [name for column in columns for name in column.names if name not in names]
    if missing:
        raise UserError(f"{path}: no column {missing[0]}; another version made it: {again}")
    row = next((row for row, width in enumerate(widths) if width != widths[0]), 0)
    if row:
        raise UserError(f"{path}: row {row + 1} has {widths[row]} fields, and its header {widths[0]}; {again}")
    if not text.endswith("\n"):
        raise UserError(f"{path}: cut short: its last line has no end; {again}")
    # Nothing but an empty field is missing: a variant may be called null, and a workload nan.
    frame = pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""], index_col=False)
    _refuse_words(path, frame, columns, again)
    return frame.copy()  # in few blocks: read column by column, each of hundreds would be a block of its own


def read_made(path: Path, made_by: str) -> str:
    """The text of a file that an earlier stage wrote; UserError, with that command, where it cannot be read."""
    try:
        return _content(path, made_by).decode("utf-8")
    except UnicodeDecodeError:
        raise UserError(f"{path}: is no text; run `{made_by}` again") from None


def _content(path: Path, made_by: str) -> bytes:
    try:
        return read_file(path)
    except FileNotFoundError:
        raise UserError(f"{path}: missing; `{made_by}` writes it") from None
    except UserError as error:
        raise UserError(f"{error}, and run `{made_by}` again") from None


def _refuse_other(path: Path, content: bytes, digest: FileDigest | None, again: str) -> None:
    from scalestudy.record.observation import digest_of

    if content and digest is not None and digest_of(content) != digest:
        size = f"{len(content)} bytes, {digest.bytes} were written"
        how = size if len(content) != digest.bytes else "the same size, another content"
        raise UserError(f"{path}: changed since it was written ({how}); {again}")


def _refuse_words(path: Path, frame: pd.DataFrame, columns: Sequence[Column], again: str) -> None:
    """Columns that have a unit, limits or a rounding hold numbers."""
    import pandas as pd

    for column in columns:
        if not (column.unit or column.printed or column.limits != "none"):
            continue
        for name in column.names:
            if pd.api.types.is_numeric_dtype(frame[name]):
                continue
            words = frame[name][frame[name].notna() & pd.to_numeric(frame[name], errors="coerce").isna()]
            if len(words):
                said = str(words.iloc[0])[:40]
                raise UserError(f"{path}: row {words.index[0] + 2}, {name}: {said!r} is no number; {again}")
