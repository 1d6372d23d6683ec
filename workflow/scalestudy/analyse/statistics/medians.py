"""The median of what is known."""

from __future__ import annotations

from math import nan

import pandas as pd


def median(values: pd.Series) -> float:
    """Return the median of the values that are not nan; nan without any, for which pandas 2 and NumPy warn."""
    known = values.dropna()
    return float(known.median()) if len(known) else nan
