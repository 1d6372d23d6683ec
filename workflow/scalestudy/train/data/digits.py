"""scikit-learn's digits: real images, too small and too few to need a file."""

from __future__ import annotations

import torch

from scalestudy.study.config.datasets import DigitsData
from scalestudy.train.data.split import Split


def load_digits_split(data: DigitsData) -> Split:
    """The digits as (N, 1, 8, 8) floats in [0, 1]; the held-out images are the same in every run."""
    from sklearn.datasets import load_digits  # other data need not wait for it

    digits = load_digits()
    inputs = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    targets = torch.tensor(digits.target, dtype=torch.long)
    order = torch.randperm(len(targets), generator=torch.Generator().manual_seed(0))
    validation, train = order[: data.validation_samples], order[data.validation_samples :]
    return Split(
        train_inputs=inputs[train],
        train_targets=targets[train],
        validation_inputs=inputs[validation],
        validation_targets=targets[validation],
    )
