"""Data in memory, whatever they come from: a `Split`, read by index.

What comes in files was prepared before (prepare/) and is memory-mapped: the ranks of a host share its pages.
"""

from __future__ import annotations

from pathlib import Path

import torch

from scalestudy.study.config.datasets import Data, DigitsData, FileData
from scalestudy.study.config.models import Model
from scalestudy.train.data.digits import load_digits_split
from scalestudy.train.data.files import load_files
from scalestudy.train.data.split import Split
from scalestudy.train.data.synthetic import make_split


def load_split(data: Data, model: Model, *, directory: Path | None, device: torch.device) -> Split:
    """The data of a workload. directory: where prepared data stand; needed for data that come in files.

    Raises UserError where they are not there or not whole.
    """
    if isinstance(data, DigitsData):
        return load_digits_split(data)
    if isinstance(data, FileData):
        return load_files(data, directory)
    return make_split(data, model, device=device if data.on_device else torch.device("cpu"))
