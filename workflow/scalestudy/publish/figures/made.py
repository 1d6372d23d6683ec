"""A figure that was drawn, as those have it that show it: by the files beside it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from scalestudy.errors import UserError


def shows_something(points: Path) -> bool:
    """Whether any point is drawn in a figure, by the CSV beside it; what failed is marked, and is no point.

    Raises UserError naming the CSV where it is missing.
    """
    try:
        return bool(pd.read_csv(points, usecols=["y"])["y"].notna().any())
    except FileNotFoundError:
        raise UserError(f"{points}: missing; `scalestudy stage plot` writes it") from None
