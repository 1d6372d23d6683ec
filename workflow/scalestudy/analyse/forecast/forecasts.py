"""Forecasts of a study: speedup at scales and batches that were not measured, for every measured series.

A missing forecast has a reason. As a back-test, measured scales are also predicted, only from the smaller ones.
"""

import json
from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

import pandas as pd
from scipy.special import ndtri

from scalestudy.analyse.forecast.batches import batch_forecasts
from scalestudy.analyse.forecast.columns import (
    COLUMNS,
    HELD_OUT_COLUMNS,
    Made,
    NoFitError,
    Place,
    forecast_row,
    twice,
)
from scalestudy.analyse.forecast.extrapolate import Measured, forecast
from scalestudy.analyse.forecast.fit import Weighed
from scalestudy.analyse.point.protocols import all_comparable
from scalestudy.analyse.point.rows import SERIES, base_of, distributed, mostly_unsteady
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.registry.codes import OverheadModel, Refused
from scalestudy.study.config.scales import nodes_and_devices
from scalestudy.study.config.study import Study


def forecasts_frame(study: Study, summary: pd.DataFrame) -> pd.DataFrame:
    """Returns a row for every variant, kind of scaling, and scale or batch of interest; columns are COLUMNS.

    `forecast_of`: `scale`, or `batch` at a scale that was measured (analyse/forecast/batches.py).

    Scales: `report.forecast_scales`; by default twice the largest measured number of devices of a node, and twice
    the largest number of nodes; `twice` has the exception for imported runs.
    `from_scales`, `from_batches`: the measurements used, as JSON lists.
    `overhead_model`, with the weights of the laws. `refused`: the reason for a missing number, otherwise `none`.
    """
    rows = []
    for names, series in series_of(summary):
        points = series[~series["is_base"]]
        made = [forecast_of_scale(study, series, place, names["scaling"]) for place in _places(study, points)]
        made += batch_forecasts(study, points, summary)
        rows += [names | row for row in made]
    return pd.DataFrame(rows, columns=COLUMNS)


def held_out_frame(study: Study, summary: pd.DataFrame) -> pd.DataFrame:
    """Returns a row for every distributed point with a number; columns are HELD_OUT_COLUMNS.

    The forecast is calculated like any other, from the points of the series with fewer ranks; `refused` has the
    reason for a missing one. measured_*: the measured values of the point itself, in seconds and as a ratio, with
    limits.
    """
    rows = []
    for names, series in series_of(summary):
        for _, point in series[series["step_time_s"].notna() & ~series["is_base"]].iterrows():
            place = Place.of(point)
            smaller = series[series["is_base"] | (series["world_size"] < place.ranks)]
            found = names | forecast_of_scale(study, smaller, place, names["scaling"])
            for name in ("step_time_s", "speedup"):
                found |= Interval.of(point, name).columns(f"measured_{name}")
            rows.append(found)
    return pd.DataFrame(rows, columns=HELD_OUT_COLUMNS)


def series_of(summary: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Yields (columns of SERIES, its baseline and then its distributed points), if there are any."""
    for key, points in distributed(summary).groupby(SERIES, sort=False):
        yield dict(zip(SERIES, map(str, key), strict=True)), pd.concat([base_of(summary, points.iloc[0]), points])


def _places_of(points: pd.DataFrame) -> list[Place]:
    return [Place.of(row) for _, row in points.iterrows()]


def _places(study: Study, points: pd.DataFrame) -> list[Place]:
    """Returns the places of interest that were not measured."""
    known = _places_of(points)
    if study.report.forecast_scales is not None:
        wanted = [Place(*nodes_and_devices(scale)) for scale in study.report.forecast_scales]
    else:
        wanted = []
        inside = [place.devices_per_node for place in known if place.nodes == 1]
        if inside:
            wanted.append(twice(Place(1, max(inside)), imported=study.imported))
        nodes = max(place.nodes for place in known)
        if nodes > 1:
            widest = max(place.devices_per_node for place in known if place.nodes == nodes)
            wanted.append(Place(2 * nodes, widest))
    return [place for place in wanted if place not in known]


def forecast_of_scale(study: Study, series: pd.DataFrame, place: Place, scaling: str) -> dict[str, Any]:
    """Returns COLUMNS of a forecast without its names; series: from `series_of`."""
    strong, confidence = scaling == "strong", study.report.confidence
    base = series.iloc[0]
    whole = int(base["global_batch"]) if strong else int(base["batch_per_rank"]) * place.ranks
    good = series[series["step_time_s"].notna()]

    def make() -> Made:
        _check(good, place, whole)
        made = forecast(_measured(good, study.level), place, strong=strong, confidence=confidence)
        return made.step_time_s, made.speedup, _weights(made.laws)

    scales = json.dumps([str(measured) for measured in _places_of(good)])
    return forecast_row("scale", place, whole, make) | {"from_scales": scales}


def _weights(laws: Sequence[Weighed]) -> dict[str, Any]:
    """Returns the weight of every law; equal weights if no law has predicted a size."""
    alike = len(laws) > 1 and all(isnan(item.held_out_error) for item in laws)
    weights = {f"law_{item.fit.law.name}_weight": item.weight for item in laws}
    return {"overhead_model": OverheadModel.LAWS_ALIKE if alike else OverheadModel.LAWS} | weights


def _check(good: pd.DataFrame, place: Place, whole: int) -> None:
    """Raises NoFitError if a forecast at this place is not possible from the rows."""
    if not len(good) or not good["is_base"].any():
        raise NoFitError(Refused.BASE_NOT_MEASURED)
    if good.loc[good["is_base"], "world_size"].iloc[0] > 1:
        raise NoFitError(Refused.BASE_OF_SEVERAL)
    if whole % place.ranks:
        raise NoFitError(Refused.BATCH_NOT_DIVISIBLE)
    if not all_comparable(good):
        raise NoFitError(Refused.OTHER_PROTOCOLS)
    unsteady = good.loc[[mostly_unsteady(row) for _, row in good.iterrows()]]
    if len(unsteady):
        raise NoFitError(Refused.SCALE_UNSTEADY, scale=str(Place.of(unsteady.iloc[0])))


def _measured(good: pd.DataFrame, confidence: float) -> Sequence[Measured]:
    """Returns step times with standard errors on the log scale, from their intervals (wide with few runs)."""
    normal = float(ndtri(0.5 + confidence / 2))
    return [
        Measured(Place.of(row), row["step_time_s"], Interval.of(row, "step_time_s").relative_half_width / normal)
        for _, row in good.iterrows()
    ]
