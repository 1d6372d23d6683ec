"""Forecasts of scales that were measured, from the smaller ones alone: how far the others can be believed."""

from __future__ import annotations

import pandas as pd

from scalestudy.analyse.forecast.columns import COLUMNS
from scalestudy.analyse.forecast.extrapolate import Place
from scalestudy.analyse.forecast.forecasts import forecast_of_scale, series_of
from scalestudy.study.config.study import Study

MEASURED = ("step_time_s", "speedup")
HELD_OUT_COLUMNS = (
    *COLUMNS,
    *(f"measured_{name}{limit}" for name in MEASURED for limit in ("", "_low", "_high")),
)


def held_out_frame(study: Study, summary: pd.DataFrame) -> pd.DataFrame:
    """A row for every distributed point with a number; columns are HELD_OUT_COLUMNS.

    The forecast is made as any other, from the points of the series with fewer ranks; `refused` says why there is
    none. measured_*: what the point itself was measured to be, in seconds and as a ratio, with its limits.
    """
    rows = []
    for (workload, variant, scaling), series in series_of(summary):
        for _, point in series[series["step_time_s"].notna() & ~series["is_base"]].iterrows():
            place = Place(int(point["nodes"]), int(point["devices_per_node"]))
            smaller = series[series["is_base"] | (series["world_size"] < place.ranks)]
            found = forecast_of_scale(study, smaller, place, scaling)
            found |= {"workload": workload, "variant": variant, "scaling": scaling}
            for name in MEASURED:
                found |= {f"measured_{name}{limit}": point[f"{name}{limit}"] for limit in ("", "_low", "_high")}
            rows.append(found)
    return pd.DataFrame(rows, columns=list(HELD_OUT_COLUMNS))
