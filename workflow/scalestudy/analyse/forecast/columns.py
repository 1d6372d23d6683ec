"""What a row of forecasts.csv consists of."""

from __future__ import annotations

from scalestudy.analyse.statistics.intervals import Interval

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
    "measured",
    "laws",
    "refused",
)


def outcome_columns(step_time: Interval, speedup: Interval, *, samples: int, ranks: int) -> dict[str, float]:
    """Step time in seconds and speedup, and what follows from them; samples: of a step, over all ranks."""
    return (
        step_time.columns("step_time_s")
        | step_time.inverse(samples).columns("throughput_samples_per_s")
        | speedup.columns("speedup")
        | speedup.scaled(1 / ranks).columns("efficiency")
    )
