"""One point with what it is compared with: all that a cause may look at."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from scalestudy.analyse.scaling import compounded_efficiency
from scalestudy.diagnose.findings import Evidence
from scalestudy.study.model import Study


@dataclass(frozen=True)
class Case:
    """A distributed point of the summary, its base case, and the single processes of the same workload."""

    study: Study
    point: pd.Series
    base: pd.Series
    alone: pd.DataFrame
    """All single-process points of the base variant: one row a batch size."""
    forecasts: pd.DataFrame
    """Rows of forecasts.csv for this variant and way of scaling."""

    @property
    def ranks(self) -> int:
        return int(self.point["world_size"])

    @property
    def target_efficiency(self) -> float:
        """The target per doubling, compounded over the doublings up to this many ranks."""
        return compounded_efficiency(self.study.report.target_efficiency, self.ranks)

    def efficiency_evidence(self, threshold: str) -> Evidence:
        """The efficiency in percent with its limits, held against a threshold."""
        value, low, high = (self.point[f"efficiency{limit}"] * 100 for limit in ("", "_low", "_high"))
        return Evidence("efficiency", value, "%", low, high, threshold)


def make_cases(study: Study, summary: pd.DataFrame, forecasts: pd.DataFrame) -> list[Case]:
    """A case for every distributed point of the summary (world size above 1)."""
    cases = []
    for _, point in summary[summary["world_size"] > 1].iterrows():
        single = summary[
            (summary["workload"] == point["workload"])
            & (summary["variant"] == point["base_variant"])
            & (summary["world_size"] == 1)
        ]
        base = single[single["is_base"] & (single["scaling"] == point["scaling"])].iloc[0]
        alone = single.drop_duplicates("batch_per_rank")
        same = [forecasts[name] == point[name] for name in ("workload", "variant", "scaling")]
        mine = forecasts[same[0] & same[1] & same[2]]
        cases.append(Case(study=study, point=point, base=base, alone=alone, forecasts=mine))
    return cases
