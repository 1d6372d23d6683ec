"""AG News: two CSV files of class, title and description."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from scalestudy.errors import UserError
from scalestudy.prepare.archive import as_text, read_files
from scalestudy.prepare.samples import Samples

ROOT = "ag_news_csv"
FILES = {"train": "train.csv", "test": "test.csv"}
_PARTS = {"train": "train", "validation": "test"}
_CLASSES = ("1", "2", "3", "4")


def read(source: Path) -> dict[str, Samples[list[str]]]:
    """Title and description as one text; classes from 0."""
    files = read_files(source, list(FILES.values()), root=ROOT)
    names = {part: FILES[of] for part, of in _PARTS.items()}
    return {part: _part(files[name], f"{source}: {name}") for part, name in names.items()}


def _part(content: bytes, where: str) -> Samples[list[str]]:
    texts, classes = [], []
    # newline="": what stands within quotes is left as it is.
    rows = csv.reader(io.StringIO(as_text(content, where), newline=""), strict=True)
    line = 1
    try:
        for row in rows:
            if row:
                _refuse_malformed(row, f"{where}, line {line}")
                # A backslash stands where the original had a line break.
                texts.append(f"{row[1]} {row[2]}".replace("\\", " "))
                classes.append(_CLASSES.index(row[0]))
            line = rows.line_num + 1
    except csv.Error as error:
        raise UserError(f"{where}, line {line}: no row of a CSV file: {error}") from None
    return Samples(texts, np.array(classes, dtype=np.int64))


def _refuse_malformed(row: list[str], where: str) -> None:
    if len(row) != 3:
        raise UserError(
            f"{where}: a row is class, title, description; this one has {len(row)} columns: {_short(row)}"
        )
    if row[0] not in _CLASSES:
        raise UserError(f"{where}: the class is 1, 2, 3 or 4, not {row[0][:40]!r}")


def _short(row: list[str]) -> str:
    text = ",".join(row)
    return text if len(text) <= 80 else f"{text[:80]}..."
