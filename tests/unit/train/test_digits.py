"""The digits are those of scikit-learn, whether its file is read or its function is called."""

import numpy as np
from scalestudy.train.data import digits
from scalestudy.train.data.digits import read_digits
from sklearn.datasets import load_digits


def is_as_loaded(images: np.ndarray, classes: np.ndarray) -> bool:
    given = load_digits()
    same = np.array_equal(images, given.images) and np.array_equal(classes, given.target)
    return bool(same and images.dtype == given.images.dtype and classes.dtype == given.target.dtype)


def test_what_is_read_is_what_scikit_learn_loads(monkeypatch):
    monkeypatch.setattr("sklearn.datasets.load_digits", None)  # not asked
    images, classes = read_digits()
    monkeypatch.undo()
    assert is_as_loaded(images, classes)


def test_scikit_learn_is_asked_where_the_file_is_not_at_its_place(monkeypatch):
    monkeypatch.setattr(digits, "FILE", "datasets/data/moved.csv.gz")
    assert is_as_loaded(*read_digits())
