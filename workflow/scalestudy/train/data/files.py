"""Prepared data, memory-mapped: nothing is read before a batch asks for it."""

from __future__ import annotations

from pathlib import Path

import torch

from scalestudy.errors import UserError
from scalestudy.prepare.store import read_store
from scalestudy.study.config.datasets import FileData
from scalestudy.train.data.split import Split


def load_files(data: FileData, directory: Path | None) -> Split:
    """The prepared arrays as tensors over the mapped files.

    Raises UserError where no directory was given, or where it holds no whole store of these data.
    """
    if directory is None:
        raise UserError(f"data.type: {data.type} comes in files; say with --data where they were prepared")
    manifest, arrays = read_store(directory, data)
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    return Split(
        train_inputs=tensors["train-inputs"],
        train_targets=tensors["train-targets"],
        validation_inputs=tensors["validation-inputs"],
        validation_targets=tensors["validation-targets"],
        checksums={name: file.sha256 for name, file in manifest.arrays.items()},
    )
