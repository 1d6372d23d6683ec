"""Reads a plain text file as sequences of bytes, whose targets are the next bytes."""

from pathlib import Path

import numpy as np

from scalestudy.errors import UserError
from scalestudy.prepare.archive import is_archive, read_single_file
from scalestudy.prepare.store import Samples
from scalestudy.study.config.datasets import TextFileData


def read(source: Path, data: TextFileData) -> dict[str, Samples[np.ndarray]]:
    """Return sequences of bytes by part. The end of the file is held out for validation."""
    if source.is_dir():
        raise UserError(f"{source}: is a folder; text-file needs a single file")
    if is_archive(source):
        content = np.frombuffer(read_single_file(source), dtype=np.uint8)
    elif source.stat().st_size:
        content = np.memmap(source, dtype=np.uint8, mode="r")
    else:
        content = np.empty(0, dtype=np.uint8)
    split = _train_bytes(len(content), data)
    parts = {"train": content[:split], "validation": content[split:]}
    if not _is_enough(len(content), data):
        raise UserError(
            f"{source}: {len(content)} bytes are too few: at least {_bytes_needed(data)} are needed for a sequence"
            f" of {data.sequence_length} bytes and its next byte in both parts, with"
            f" {data.validation_fraction:g} of the file held out; use a longer file or a shorter sequence_length"
        )
    return {part: _sequences(text, data.sequence_length) for part, text in parts.items()}


def _sequences(text: np.ndarray, length: int) -> Samples[np.ndarray]:
    """Return all complete sequences of a text. The target of each byte is the next byte."""
    count = (len(text) - 1) // length
    inputs = text[: count * length].reshape(count, length)
    return Samples(inputs, text[1 : count * length + 1].reshape(count, length))


def _train_bytes(size: int, data: TextFileData) -> int:
    return size - round(size * data.validation_fraction)


def _is_enough(size: int, data: TextFileData) -> bool:
    train = _train_bytes(size, data)
    return min(train, size - train) > data.sequence_length


def _bytes_needed(data: TextFileData) -> int:
    """Return the smallest sufficient size, found by trial, since it depends on rounding."""
    smaller = min(data.validation_fraction, 1 - data.validation_fraction)
    size = int(data.sequence_length / smaller)
    while not _is_enough(size, data):
        size += 1
    return size
