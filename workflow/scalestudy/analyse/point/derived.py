"""Columns of the summary that follow from others of the same row."""

from __future__ import annotations

import pandas as pd

from scalestudy.record.observation import PART_COLUMNS
from scalestudy.registry.points import PARTS

SAMPLES = 1e6


def with_derived(summary: pd.DataFrame) -> pd.DataFrame:
    """The summary with shares of a step's parts, arithmetic rate and cost; nan where a row has not what it takes.

    Shares are of the sum of all parts: parts are means over ranks, the step time is that of the slowest rank.
    """
    parts_s = summary[list(PART_COLUMNS)].sum(axis=1, skipna=False)
    rate = summary["throughput_samples_per_s"]
    derived = {"parts_time_s": parts_s}
    derived |= {f"{part}_share": summary[f"{part}_s"] / parts_s for part in PARTS}
    derived["lateness_share"] = summary["lateness_s"] / summary["step_time_s"]
    derived["flop_per_s_per_rank"] = summary["flops_per_sample"] * rate / summary["world_size"]
    # The fewer samples a second, the dearer: the limits change places.
    for end, of_rate in (("", ""), ("_low", "_high"), ("_high", "_low")):
        seconds = summary["world_size"] * SAMPLES / summary[f"throughput_samples_per_s{of_rate}"]
        derived[f"device_hours_per_million_samples{end}"] = seconds / 3600
    return summary.assign(**derived)
