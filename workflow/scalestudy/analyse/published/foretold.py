"""Forecasts from the sizes of a published table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, isnan

from scalestudy.analyse.forecast.columns import USUAL_NODE, NoFitError, Place
from scalestudy.analyse.forecast.extrapolate import Forecast, Measured, forecast
from scalestudy.analyse.forecast.fit import ASSUMED_ERROR
from scalestudy.analyse.published.table import Recomputed, Table

ONE_MACHINE = 2**30
"""Devices of a node where they are threads or cores."""
ROUNDING = 3**-0.5
"""Standard deviation of a rounded number, in half-widths of its rounding."""


@dataclass(frozen=True)
class Known:
    """The sizes of a series that a forecast uses, from small to large, and the others."""

    points: tuple[Measured, ...]
    """Step times of one unit of work per device (weak) or of one unit (strong)."""
    scales: tuple[Recomputed, ...]
    left_out: tuple[int, ...]
    """Devices of rows that fill no whole number of nodes."""
    further: tuple[int, ...]
    """Devices of rows behind another one on the same number of devices."""
    node: int
    """Devices of a node."""
    node_said: bool


@dataclass(frozen=True)
class Foretold:
    """A size that the table does not have: its forecast, or the columns of the reason for a missing one."""

    place: Place
    made: Forecast | None
    refused: dict[str, object]


def known_of(table: Table, *, strong: bool, node: int | None = None) -> Known:
    """Return the sizes of a series. node: devices of a node, if the user says it, instead of the table."""
    said = {scale.row.gpus_per_node or _per_node(scale) for scale in table.scales} - {None}
    each = node or max((one for one in said if one), default=0) or USUAL_NODE
    usable = [scale for scale in table.scales if scale.row not in table.other_bases]
    usable = [scale for scale in usable if scale.throughput.value > 0]
    first = {scale.row.gpus: scale for scale in reversed(usable)}
    further = tuple(scale.row.gpus for scale in usable if first[scale.row.gpus] is not scale)
    usable = [scale for scale in usable if first[scale.row.gpus] is scale]
    whole = [scale for scale in usable if scale.row.gpus <= each or scale.row.gpus % each == 0]
    return Known(
        points=tuple(_measured(scale, each, strong=strong) for scale in whole),
        scales=tuple(whole),
        left_out=tuple(scale.row.gpus for scale in usable if scale not in whole),
        further=further,
        node=each,
        node_said=bool(node or said),
    )


def foretell(known: Known, sizes: Sequence[int], *, strong: bool, confidence: float) -> list[Foretold]:
    """Return the forecast of each size, or why there is none."""
    found = []
    for size in sizes:
        place = place_of(size, known.node)
        try:
            made = forecast(known.points, place, strong=strong, confidence=confidence)
        except NoFitError as error:
            found.append(Foretold(place, None, error.columns))
        else:
            found.append(Foretold(place, made, {}))
    return found


def place_of(gpus: int, node: int) -> Place:
    """Return the place of a number of devices: on one node if it has room, otherwise on whole nodes."""
    return Place(1, gpus) if gpus <= node or gpus % node else Place(gpus // node, node)


def _per_node(scale: Recomputed) -> int | None:
    """Devices over nodes, where the table has both and a row is on several nodes."""
    nodes = scale.row.number("nodes")
    return int(scale.row.gpus / nodes) if nodes and nodes > 1 else None


def _measured(scale: Recomputed, node: int, *, strong: bool) -> Measured:
    rate = scale.throughput
    rounding = (rate.high - rate.low) / 2 / rate.value
    error = ASSUMED_ERROR if isnan(rounding) else hypot(ASSUMED_ERROR, ROUNDING * rounding)
    return Measured(place_of(scale.row.gpus, node), (1 if strong else scale.row.gpus) / rate.value, error)
