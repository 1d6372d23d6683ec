"""What figures are drawn from."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Frames:
    """The tables of a study, as `scalestudy stage aggregate` wrote them."""

    summary: pd.DataFrame
    epochs: pd.DataFrame
    forecasts: pd.DataFrame
    collectives: pd.DataFrame
    quantiles: pd.DataFrame
    held_out: pd.DataFrame

    def measured(self, workload: str) -> pd.DataFrame:
        """Rows of the summary that a figure of a workload shows; references are left to the CSV."""
        return self.summary[(self.summary["workload"] == workload) & (self.summary["scaling"] != "reference")]
