"""IMDB film reviews: the `aclImdb` tree, one review a file; folders say part and class."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from scalestudy.prepare.archive import as_text, read_files
from scalestudy.prepare.samples import Samples

ROOT = "aclImdb"
_FOLDERS = {"train": "train", "validation": "test"}
_CLASSES = ("neg", "pos")


def read(source: Path) -> dict[str, Samples[list[str]]]:
    """Texts and classes (0 negative, 1 positive). The reviews without a class, `train/unsup`, are left out."""
    wanted = [f"{folder}/{label}/*.txt" for folder in _FOLDERS.values() for label in _CLASSES]
    files = read_files(source, wanted, root=ROOT)
    return {part: _part(source, files, folder) for part, folder in _FOLDERS.items()}


def _part(source: Path, files: dict[str, bytes], folder: str) -> Samples[list[str]]:
    names = [name for name in files if name.startswith(f"{folder}/")]
    # The reviews come as they stood on the page, with its line breaks.
    texts = [as_text(files[name], f"{source}: {name}").replace("<br />", " ") for name in names]
    classes = [_CLASSES.index(name.split("/")[1]) for name in names]
    return Samples(texts, np.array(classes, dtype=np.int64))
