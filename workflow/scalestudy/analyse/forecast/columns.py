"""The columns of a row of forecasts.csv, and the reasons for a row without numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any

from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.registry.codes import OverheadModel, Refused
from scalestudy.registry.column import Row
from scalestudy.registry.files import FILES

USUAL_NODE = 8
"""Devices of a node where a table or log does not say it."""


@dataclass(frozen=True)
class Place:
    """A scale of the machine: nodes, and devices on each."""

    nodes: int
    devices_per_node: int

    @classmethod
    def of(cls, row: Row) -> Place:
        """Returns the place at which a row of the summary was measured."""
        return cls(int(row["nodes"]), int(row["devices_per_node"]))

    @property
    def ranks(self) -> int:
        return self.nodes * self.devices_per_node

    def __str__(self) -> str:
        return f"{self.nodes}x{self.devices_per_node}"


def twice(place: Place, *, imported: bool) -> Place:
    """Returns the place with twice the devices of each node.

    It is not known how many devices the node of an imported run has. Two whole nodes of the usual size then take
    the place of one that is larger, as in a forecast from a table.
    """
    if imported and place == Place(1, USUAL_NODE):
        return Place(2, USUAL_NODE)
    return Place(place.nodes, 2 * place.devices_per_node)


class NoFitError(ValueError):
    """The measurements do not permit a fit. value, limit, scale: quantities in the reason, if any."""

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
"""Default values of a row; lists are JSON."""

COLUMNS, HELD_OUT_COLUMNS = (
    [name for column in FILES[file].columns for name in column.names]
    for file in ("forecasts.csv", "held_out_forecasts.csv")
)


Made = tuple[Interval, Interval, dict[str, Any]]
"""Returns step time in seconds, speedup, and the other columns of a forecast."""


def forecast_row(of: str, place: Place, samples: int, make: Callable[[], Made]) -> dict[str, Any]:
    """Returns COLUMNS of a forecast without its names; samples: per step, over all ranks.

    make: may raise NoFitError; the row then has the reason instead of numbers.
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
