"""Energy of the runs of a point, and the reasons for which the clocks of their GPUs were limited."""

from typing import Any

import pandas as pd

from scalestudy.analyse.point.launches import launches_of
from scalestudy.analyse.run.energy import REASONS
from scalestudy.analyse.statistics.intervals import NOTHING, mean_on_logs
from scalestudy.analyse.statistics.medians import median
from scalestudy.study.config.study import Study

HOT_SHARE = 0.5
"""Share of the readings from which a run counts as hot: heat limited its clock for most of the time."""
ENERGIES = ("energy_per_sample_j", "cpu_energy_per_sample_j")


def energy_row(good: pd.DataFrame, study: Study) -> dict[str, Any]:
    """Returns columns of a row of the summary: geometric means with their intervals over runs with a value,
    medians of shares over runs, and the number of hot runs.

    good: rows of runs.csv. Records of earlier releases may lack these columns; values are then nan, and no run is
    hot.
    """
    columns: dict[str, Any] = {}
    for name in ENERGIES:
        known = good[good[name].notna()] if name in good else good.iloc[:0]
        found = mean_on_logs(launches_of(known, name, study), confidence=study.level) if len(known) else NOTHING
        columns |= found.columns(name)
    shares = good.reindex(columns=list(REASONS)).astype(float)
    columns |= {name: median(shares[name]) for name in REASONS}
    return columns | {"launches_hot": int((shares["thermal_slowdown_share"] >= HOT_SHARE).sum())}
