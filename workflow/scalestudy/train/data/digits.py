"""scikit-learn's digits, read from the file that it brings: importing scikit-learn takes a second and more.

That second is every cold rank's, and every parent's that forks ranks. Where the file is not at its place,
scikit-learn is asked for the data.
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

FILE = "datasets/data/digits.csv.gz"
"""In scikit-learn's package; checked with 1.9."""


def read_digits() -> tuple[np.ndarray, np.ndarray]:
    """(images (1797, 8, 8) of float64 from 0 to 16, classes (1797,) of int64), as `load_digits` gives them."""
    spec = find_spec("sklearn")
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        if (Path(folder) / FILE).is_file():
            rows = np.loadtxt(Path(folder) / FILE, delimiter=",")
            return rows[:, :-1].reshape(-1, 8, 8), rows[:, -1].astype(np.int64)
    from sklearn.datasets import load_digits

    digits = load_digits()
    return digits.images, digits.target
