"""Data in the formats of CIFAR-10 and AG News that networks can learn, generated from a seed.

Their own files cannot be had everywhere, and random classes teach nothing. A class is a distribution of words, or
a coarse picture under noise, so that accuracy rises over several epochs and ends below 100 %.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

WORDS, CLASSES = 1200, 4


def write_news(folder: Path, *, train: int = 4000, test: int = 800) -> None:
    """train.csv and test.csv as AG News has them: class from 1, title, description."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(11)
    common = 1 / (np.arange(WORDS) + 3.0)
    common /= common.sum()
    own = random.dirichlet(np.full(WORDS, 0.03), size=CLASSES)
    for name, count in (("train.csv", train), ("test.csv", test)):
        if (folder / name).exists():
            continue
        with (folder / name).open("w", encoding="utf-8", newline="") as lines:
            writer = csv.writer(lines, quoting=csv.QUOTE_ALL)
            for _ in range(count):
                kind = int(random.integers(CLASSES))
                words = random.choice(WORDS, size=28, p=0.9 * common + 0.1 * own[kind])
                said = [f"w{word}" for word in words]
                writer.writerow([kind + 1, " ".join(said[:6]), " ".join(said[6:])])


def write_cifar(folder: Path, *, train: int = 5000, test: int = 1000) -> None:
    """data_batch_1.bin to data_batch_5.bin and test_batch.bin: a byte of class, and 3 x 32 x 32 of colour."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(12)
    coarse = random.normal(size=(10, 3, 4, 4))
    pictures = coarse.repeat(8, axis=2).repeat(8, axis=3)
    parts = {f"data_batch_{number}.bin": train // 5 for number in range(1, 6)} | {"test_batch.bin": test}
    for name, count in parts.items():
        if (folder / name).exists():
            continue
        kinds = random.integers(10, size=count)
        noise = random.normal(scale=4.0, size=(count, 3, 8, 8)).repeat(4, axis=2).repeat(4, axis=3)
        pixels = np.clip(128 + 24 * (pictures[kinds] + noise), 0, 255).astype(np.uint8)
        records = np.concatenate([kinds[:, None].astype(np.uint8), pixels.reshape(count, -1)], axis=1)
        (folder / name).write_bytes(records.tobytes())
