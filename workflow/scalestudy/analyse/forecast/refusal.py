"""Why there is no forecast: a code with the numbers that it rests on, as forecasts.csv has them."""

from __future__ import annotations

from math import nan
from typing import Any

from scalestudy.registry.codes import Refused


class NoFitError(ValueError):
    """What was measured does not bear a fit. value, limit, scale: what the reason speaks of, as far as it does."""

    def __init__(self, code: Refused, *, value: float = nan, limit: float = nan, scale: str = "") -> None:
        super().__init__(code)
        self.columns: dict[str, Any] = {
            "refused": code,
            "refused_value": value,
            "refused_limit": limit,
            "refused_scale": scale,
        }


NOT_REFUSED = NoFitError(Refused.NONE).columns
"""Of a forecast that there is."""
