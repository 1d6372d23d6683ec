"""What a row of forecasts.csv consists of."""

from __future__ import annotations

from typing import Any

from scalestudy.analyse.forecast.growth import laws_for
from scalestudy.analyse.forecast.refusal import NOT_REFUSED
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.registry.codes import OverheadModel

LAWS = tuple(law.name for law in laws_for(strong=True))
NOTHING_LISTED = "[]"
NOT_GIVEN: dict[str, Any] = {
    "from_scales": NOTHING_LISTED,
    "from_batches": NOTHING_LISTED,
    "overhead_model": OverheadModel.NONE,
    **NOT_REFUSED,
}
"""What a row has unless it says otherwise; lists are of JSON."""

COLUMNS = (
    "workload",
    "variant",
    "scaling",
    "forecast_of",
    "nodes",
    "devices_per_node",
    "world_size",
    "batch_per_rank",
    "global_batch",
    *(
        f"{name}{limit}"
        for name in ("step_time_s", "throughput_samples_per_s", "speedup", "efficiency")
        for limit in ("", "_low", "_high")
    ),
    "from_scales",
    "from_batches",
    "overhead_model",
    *(f"law_{name}_weight" for name in LAWS),
    *NOT_REFUSED,
)


def outcome_columns(step_time: Interval, speedup: Interval, *, samples: int, ranks: int) -> dict[str, float]:
    """Step time in seconds and speedup, and what follows from them; samples: of a step, over all ranks."""
    return (
        step_time.columns("step_time_s")
        | step_time.inverse(samples).columns("throughput_samples_per_s")
        | speedup.columns("speedup")
        | speedup.scaled(1 / ranks).columns("efficiency")
    )
