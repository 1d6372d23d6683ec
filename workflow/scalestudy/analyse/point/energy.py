"""What the runs of a point say of energy, and of what held the clocks of their GPUs back."""

from typing import Any

import pandas as pd

from scalestudy.analyse.point.launches import launches_of
from scalestudy.analyse.run.energy import REASONS
from scalestudy.analyse.statistics.intervals import NOTHING, mean_on_logs
from scalestudy.study.config.study import Study

HOT_SHARE = 0.5
"""Of the readings of a run: from here heat held its clock back for most of the time."""
ENERGIES = ("energy_per_sample_j", "cpu_energy_per_sample_j")


def energy_row(good: pd.DataFrame, study: Study) -> dict[str, Any]:
    """Columns of a row of the summary: geometric means with their intervals over runs that tell, medians of
    shares over runs, and the number of hot runs.

    good: rows of runs.csv. One of an earlier release may lack these columns; it is then nan, and no run is hot.
    """
    columns: dict[str, Any] = {}
    for name in ENERGIES:
        known = good[good[name].notna()] if name in good else good.iloc[:0]
        found = mean_on_logs(launches_of(known, name, study), confidence=study.level) if len(known) else NOTHING
        columns |= found.columns(name)
    shares = good.reindex(columns=list(REASONS)).astype(float)
    columns |= {name: shares[name].median() for name in REASONS}
    return columns | {"launches_hot": int((shares["thermal_slowdown_share"] >= HOT_SHARE).sum())}
