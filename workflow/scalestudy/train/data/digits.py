"""scikit-learn's digits, read from the file in its package: importing scikit-learn takes a second or more.

Every cold rank, and every parent process that forks ranks, would spend this second. If the file is not found,
the data are loaded through scikit-learn.
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

FILE = "datasets/data/digits.csv.gz"
"""Path in scikit-learn's package; checked with version 1.9."""


def read_digits() -> tuple[np.ndarray, np.ndarray]:
    """Return (images (1797, 8, 8), float64 from 0 to 16; classes (1797,), int64), as `load_digits` does."""
    spec = find_spec("sklearn")
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        if (Path(folder) / FILE).is_file():
            rows = np.loadtxt(Path(folder) / FILE, delimiter=",")
            return rows[:, :-1].reshape(-1, 8, 8), rows[:, -1].astype(np.int64)
    from sklearn.datasets import load_digits

    digits = load_digits()
    return digits.images, digits.target
