"""The median of a column that may have no number."""

from __future__ import annotations

import warnings
from math import isnan, nan

import pandas as pd
from scalestudy.analyse.statistics.medians import median


def test_the_median_of_what_is_known() -> None:
    assert median(pd.Series([3.0, nan, 1.0, 2.0])) == 2.0


def test_nothing_known_is_nan_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isnan(median(pd.Series([nan, nan])))
        assert isnan(median(pd.Series([], dtype=float)))
