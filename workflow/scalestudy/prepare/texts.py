"""Reads labelled texts: the two CSV files of AG News, and IMDB's folders with one file per review."""

import csv
import io
from pathlib import Path

import numpy as np

from scalestudy.errors import UserError
from scalestudy.prepare.archive import as_text, read_files
from scalestudy.prepare.store import Samples

AG_NEWS_FILES = {"train": "train.csv", "test": "test.csv"}
_AG_NEWS_CLASSES = ("1", "2", "3", "4")
_IMDB_CLASSES = ("neg", "pos")
_FOLDERS = {"train": "train", "validation": "test"}
"""Part -> its name in both distributions."""


def read_imdb(source: Path) -> dict[str, Samples[list[str]]]:
    """Return texts and classes (0 negative, 1 positive), without the unlabelled reviews in `train/unsup`."""
    wanted = [f"{folder}/{label}/*.txt" for folder in _FOLDERS.values() for label in _IMDB_CLASSES]
    files = read_files(source, wanted, root="aclImdb")
    return {part: _reviews(source, files, folder) for part, folder in _FOLDERS.items()}


def _reviews(source: Path, files: dict[str, bytes], folder: str) -> Samples[list[str]]:
    names = [name for name in files if name.startswith(f"{folder}/")]
    # The reviews contain the line breaks of the original web page.
    texts = [as_text(files[name], f"{source}: {name}").replace("<br />", " ") for name in names]
    classes = [_IMDB_CLASSES.index(name.split("/")[1]) for name in names]
    return Samples(texts, np.array(classes, dtype=np.int64))


def read_ag_news(source: Path) -> dict[str, Samples[list[str]]]:
    """Return texts, each of title and description, and classes from 0."""
    files = read_files(source, list(AG_NEWS_FILES.values()), root="ag_news_csv")
    names = {part: AG_NEWS_FILES[folder] for part, folder in _FOLDERS.items()}
    return {part: _rows(files[name], f"{source}: {name}") for part, name in names.items()}


def _rows(content: bytes, where: str) -> Samples[list[str]]:
    texts, classes = [], []
    # newline="": line breaks within quotes are kept.
    rows = csv.reader(io.StringIO(as_text(content, where), newline=""), strict=True)
    line = 1
    try:
        for row in rows:
            if row:
                _refuse_malformed(row, f"{where}, line {line}")
                # A backslash replaces a line break of the original.
                texts.append(f"{row[1]} {row[2]}".replace("\\", " "))
                classes.append(_AG_NEWS_CLASSES.index(row[0]))
            line = rows.line_num + 1
    except csv.Error as error:
        raise UserError(f"{where}, line {line}: not a row of a CSV file: {error}") from None
    return Samples(texts, np.array(classes, dtype=np.int64))


def _refuse_malformed(row: list[str], where: str) -> None:
    if len(row) != 3:
        text = ",".join(row)
        text = text if len(text) <= 80 else f"{text[:80]}..."
        raise UserError(f"{where}: a row must be class, title, description; it has {len(row)} columns: {text}")
    if row[0] not in _AG_NEWS_CLASSES:
        raise UserError(f"{where}: the class must be 1, 2, 3 or 4, not {row[0][:40]!r}")
