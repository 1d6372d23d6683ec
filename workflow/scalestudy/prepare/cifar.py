"""Reads CIFAR-10 and CIFAR-100 in the binary version: records of one or two labels and 3 x 32 x 32 bytes."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scalestudy.errors import UserError
from scalestudy.prepare.archive import read_files
from scalestudy.prepare.store import ImageFacts, Samples
from scalestudy.study.config.datasets import CifarData

SHAPE = (3, 32, 32)
_PIXELS = 3 * 32 * 32
_CHUNK = 4096


@dataclass(frozen=True)
class _Distribution:
    root: str
    files: dict[str, list[str]]
    labels: int
    """Number of bytes before the pixels. The last one is the class; CIFAR-100 has a coarse class before it."""


_TEN = {"train": [f"data_batch_{number}.bin" for number in range(1, 6)], "validation": ["test_batch.bin"]}
_HUNDRED = {"train": ["train.bin"], "validation": ["test.bin"]}
_DISTRIBUTIONS = {
    10: _Distribution("cifar-10-batches-bin", _TEN, labels=1),
    100: _Distribution("cifar-100-binary", _HUNDRED, labels=2),
}


def read(source: Path, data: CifarData) -> dict[str, Samples[np.ndarray]]:
    """Return the images as bytes, and their classes, by part."""
    kind = _DISTRIBUTIONS[data.classes]
    content = read_files(source, [name for names in kind.files.values() for name in names], root=kind.root)
    parts = {}
    for part, names in kind.files.items():
        read_in = [_records(content[name], kind.labels, data.classes, f"{source}: {name}") for name in names]
        images, classes = (np.concatenate(arrays) for arrays in zip(*read_in, strict=True))
        parts[part] = Samples(images, classes)
    return parts


def normalise(parts: dict[str, Samples[np.ndarray]]) -> tuple[dict[str, Samples[np.ndarray]], ImageFacts]:
    """Normalise images, scaled to [0, 1], by the mean and standard deviation of each colour in the training part.

    Returns float32 images, and the means and standard deviations.
    """
    counts = np.zeros((3, 256), dtype=np.int64)
    train = parts["train"].inputs
    for start in range(0, len(train), _CHUNK):  # in chunks: bincount needs eight bytes per pixel
        for colour in range(3):
            counts[colour] += np.bincount(train[start : start + _CHUNK, colour].ravel(), minlength=256)
    values = np.arange(256) / 255
    mean = counts @ values / counts.sum(axis=1)
    variance = (counts * (values - mean[:, None]) ** 2).sum(axis=1) / counts.sum(axis=1)
    deviation = np.sqrt(variance)
    deviation[deviation == 0] = 1  # a constant colour carries no information, whatever its scale

    normalised = {}
    for part, samples in parts.items():
        images = samples.inputs.astype(np.float32)
        images /= 255
        images -= mean.astype(np.float32)[:, None, None]
        images /= deviation.astype(np.float32)[:, None, None]
        normalised[part] = Samples(images, samples.targets)
    return normalised, ImageFacts(mean=mean.tolist(), std=deviation.tolist())


def _records(content: bytes, labels: int, classes: int, where: str) -> tuple[np.ndarray, np.ndarray]:
    size = labels + _PIXELS
    if not content or len(content) % size:
        raise UserError(
            f"{where}: {len(content)} bytes is not a multiple of {size} bytes, a record of CIFAR-{classes};"
            " the file is truncated, or belongs to another data set"
        )
    records = np.frombuffer(content, dtype=np.uint8).reshape(-1, size)
    found = records[:, labels - 1].astype(np.int64)
    wrong = np.flatnonzero(found >= classes)
    if len(wrong):
        raise UserError(
            f"{where}: record {wrong[0] + 1} has class {found[wrong[0]]}; the classes of CIFAR-{classes} are"
            f" 0 to {classes - 1}"
        )
    return records[:, labels:].reshape(-1, *SHAPE), found
