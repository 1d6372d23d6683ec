"""Strict reading of tables and texts that an earlier stage wrote: complete, or refused with the file's name."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from scalestudy.errors import UserError
from scalestudy.record.files import MOST_TEXT, read_file
from scalestudy.registry.column import Column

if TYPE_CHECKING:
    import pandas as pd

    from scalestudy.record.observation import FileDigest


def read_table(
    path: Path, columns: Sequence[Column], *, made_by: str, digest: FileDigest | None = None
) -> pd.DataFrame:
    """The frame in a CSV file with at least these columns. Only an empty field counts as missing.

    made_by: the command that writes the file. digest: of the file when it was written. Raises UserError with the
    file, the fault and that command if the file is missing or unreadable, differs from its digest, is truncated,
    lacks a column, or has text instead of a number.
    """
    import pandas as pd

    again = f"run `{made_by}` again"
    csv.field_size_limit(2**31 - 1)  # the list of observations in a script can be long
    content = _content(path, made_by)
    _refuse_other(path, content, digest, again)
    try:
        text = content.decode("utf-8")
        rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        names = next(rows, [])
        widths = [len(row) for row in chain([names], rows) if row]
    except (UnicodeDecodeError, csv.Error):
        raise UserError(f"{path}: is not a CSV table; {again}") from None
    if "\0" in text:  # some releases of pandas ignore it
        raise UserError(f"{path}: is not a CSV table: it contains a NUL; {again}")
    if not widths:
        raise UserError(f"{path}: is empty; {again}")
    missing = [name for column in columns for name in column.names if name not in names]
    if missing:
        raise UserError(f"{path}: has no column {missing[0]}, so another version wrote it; {again}")
    row = next((row for row, width in enumerate(widths) if width != widths[0]), 0)
    if row:
        raise UserError(f"{path}: row {row + 1} has {widths[row]} fields, the header has {widths[0]}; {again}")
    if not text.endswith("\n"):
        raise UserError(f"{path}: is truncated: the last line is incomplete; {again}")
    # Only an empty field is missing: a variant can be called null, and a workload nan.
    names_as_text = {column.name: str for column in columns if column.text}
    frame = pd.read_csv(
        io.StringIO(text), keep_default_na=False, na_values=[""], index_col=False, dtype=names_as_text
    )
    _refuse_words(path, frame, columns, again)
    return frame.copy()  # copied into few blocks; otherwise each of hundreds of columns is a block


def read_made(path: Path, made_by: str) -> str:
    """The text of a file that an earlier stage wrote. Raises UserError with that command if it cannot be read."""
    try:
        return _content(path, made_by).decode("utf-8")
    except UnicodeDecodeError:
        raise UserError(f"{path}: is not UTF-8 text; run `{made_by}` again") from None


def _content(path: Path, made_by: str) -> bytes:
    try:
        return read_file(path, most=MOST_TEXT)
    except FileNotFoundError:
        raise UserError(f"{path}: missing; `{made_by}` writes it") from None
    except UserError as error:
        raise UserError(f"{error}, and run `{made_by}` again") from None


def _refuse_other(path: Path, content: bytes, digest: FileDigest | None, again: str) -> None:
    from scalestudy.record.observation import digest_of

    if content and digest is not None and digest_of(content) != digest:
        size = f"{len(content)} bytes instead of {digest.bytes}"
        how = size if len(content) != digest.bytes else "same size, different content"
        raise UserError(f"{path}: changed since it was written ({how}); {again}")


def _refuse_words(path: Path, frame: pd.DataFrame, columns: Sequence[Column], again: str) -> None:
    """Raise UserError if a column with a unit, limits or a rounding contains text."""
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
                raise UserError(f"{path}: row {words.index[0] + 2}, {name}: {said!r} is not a number; {again}")
