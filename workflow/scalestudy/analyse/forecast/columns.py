"""What a row of forecasts.csv consists of, and why there may be no numbers in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any

from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.registry.codes import OverheadModel, Refused
from scalestudy.registry.column import Row
from scalestudy.registry.files import FILES


@dataclass(frozen=True)
class Place:
    """A scale as machines know it: nodes, and devices on each."""

    nodes: int
    devices_per_node: int

    @classmethod
    def of(cls, row: Row) -> Place:
        """Where a row of the summary was measured."""
        return cls(int(row["nodes"]), int(row["devices_per_node"]))

    @property
    def ranks(self) -> int:
        return self.nodes * self.devices_per_node

    def __str__(self) -> str:
        return f"{self.nodes}x{self.devices_per_node}"


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


Made = tuple[Interval, Interval, dict[str, Any]]
"""Step time in seconds, speedup, and the other columns of a forecast."""


def forecast_row(of: str, place: Place, samples: int, make: Callable[[], Made]) -> dict[str, Any]:
    """What COLUMNS has of a forecast, its names aside; samples: of a step, over all ranks.

    make: may raise NoFitError; then the row says why it has no numbers.
    """
    try:
        step_time, speedup, others = make()
    except NoFitError as error:
        step_time, speedup, others = NOTHING, NOTHING, error.columns
    return NOT_GIVEN | {
        "forecast_of": of,
        **vars(place),
        "world_size": place.ranks,
        "batch_per_rank": samples // place.ranks,
        "global_batch": samples,
        **step_time.columns("step_time_s"),
        **step_time.inverse(samples).columns("throughput_samples_per_s"),
        **speedup.columns("speedup"),
        **speedup.scaled(1 / place.ranks).columns("efficiency"),
        **others,
    }
