"""What a row of forecasts.csv consists of, and why there may be no numbers in it."""

from __future__ import annotations

from math import nan
from typing import Any

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.registry.codes import OverheadModel, Refused
from scalestudy.registry.files import FILES


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


NOTHING_LISTED = "[]"
NOT_GIVEN: dict[str, Any] = {
    "from_scales": NOTHING_LISTED,
    "from_batches": NOTHING_LISTED,
    "overhead_model": OverheadModel.NONE,
    **NoFitError(Refused.NONE).columns,
}
"""What a row has unless it says otherwise; lists are of JSON."""

COLUMNS, HELD_OUT_COLUMNS = (
    [name for column in FILES[file].columns for name in column.names]
    for file in ("forecasts.csv", "held_out_forecasts.csv")
)


def outcome_columns(step_time: Interval, speedup: Interval, *, samples: int, ranks: int) -> dict[str, float]:
    """Step time in seconds and speedup, and what follows from them; samples: of a step, over all ranks."""
    return (
        step_time.columns("step_time_s")
        | step_time.inverse(samples).columns("throughput_samples_per_s")
        | speedup.columns("speedup")
        | speedup.scaled(1 / ranks).columns("efficiency")
    )
