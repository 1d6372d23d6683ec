"""Columns of the summary that follow from other columns of the same row."""

import json

import pandas as pd

from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.analyse.statistics.resolution import is_resolved, repeats_to_resolve
from scalestudy.record.observation import PART_COLUMNS
from scalestudy.registry.estimates import ESTIMATES
from scalestudy.registry.points import PARTS

SAMPLES = 1e6
"""Samples whose cost is given in device-hours."""


def with_derived(summary: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """Returns the summary with shares of a step's parts, arithmetic rate, cost, and unresolved parts.

    nan if a row lacks their inputs. confidence: level of the intervals.

    Shares are relative to the sum of all parts: parts are means over ranks, but the step time is the slowest
    rank's.
    """
    parts_s = summary[list(PART_COLUMNS)].sum(axis=1, min_count=1)  # some parts of a script are not visible
    rate = summary["throughput_samples_per_s"]
    derived = {"parts_time_s": parts_s}
    derived |= {f"{part}_share": summary[f"{part}_s"] / parts_s for part in PARTS}
    derived["wrapper_share"] = summary["wrapper_time_s"] / summary["step_time_s"]
    derived["lateness_share"] = summary["lateness_s"] / summary["step_time_s"]
    derived["flop_per_s_per_rank"] = summary["flops_per_sample"] * rate / summary["world_size"]
    # Fewer samples per second mean higher cost: the limits change places.
    for end, of_rate in (("", ""), ("_low", "_high"), ("_high", "_low")):
        seconds = summary["world_size"] * SAMPLES / summary[f"throughput_samples_per_s{of_rate}"]
        derived[f"device_hours_per_million_samples{end}"] = seconds / 3600
    unresolved = [_unresolved(row, confidence) for _, row in summary.iterrows()]
    return summary.assign(**derived, unresolved=unresolved)


def _unresolved(row: pd.Series, confidence: float) -> str:
    """Returns a JSON object: each column of ESTIMATES that is not resolved -> repeats that would resolve it."""
    found = {}
    for name in ESTIMATES:
        part, whole = Interval.of(row, name), row["step_time_s"]
        if not is_resolved(part, whole):
            repeats = int(row["repeats_compared"] if name == "overhead_s" else row["launches_probed"])
            found[name] = repeats_to_resolve(part, whole, repeats=repeats, confidence=confidence)
    return json.dumps(found)
