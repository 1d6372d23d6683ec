"""The steps of a finished run as the metrics and parameters that experiment trackers show."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from typing import Any

import numpy as np

from scalestudy.analyse.run.steps import training_steps
from scalestudy.record.tables import Observation
from scalestudy.study.spec import ImportedSpec

PARAMETERS = (
    *("workload", "variant", "strategy", "precision", "nodes", "devices_per_node", "world_size"),
    *("batch_per_rank", "accumulation_steps", "repeat", "seed"),
)
SUMMARY = {
    "mean_step_time_s": "step_time_s",
    "mean_throughput": "throughput_samples_per_s",
    "validation_accuracy": "validation_accuracy",
    "peak_allocated_gib": "peak_allocated_gib",
    "energy_per_sample_j": "energy_per_sample_j",
}
"""Metric of a whole run -> column of runs.csv. No metric of steps has these names."""


@dataclass(frozen=True)
class Steps:
    """A run. Its metrics have a value for each training step; trackers store the step and a time with it."""

    run_id: str
    outcome: str
    parameters: dict[str, Any]
    steps: np.ndarray
    metrics: dict[str, np.ndarray]
    """step_time_s: maximum over ranks. throughput_samples_per_s: of all ranks. loss: mean over ranks."""
    started_s: float
    """When the run was started, in seconds since 1970; 0 if this is not known."""
    clock_s: np.ndarray
    """End of each step: the start of the run plus all step times up to it. Records have no time of a step."""


def steps_of(observation: Observation) -> Steps:
    """Return the training steps of a run, warm-up included; without any if it was not measured."""
    record = observation.record
    spec = record.spec
    rows = training_steps(observation) if len(observation.steps) else observation.steps
    grouped = rows.groupby("step", sort=True)
    slowest_s = grouped["step_time_s"].max()
    times_s = slowest_s.to_numpy(dtype=float)
    metrics = {
        "step_time_s": times_s,
        "throughput_samples_per_s": grouped["samples"].sum().to_numpy(dtype=float) / times_s,
        "loss": grouped["loss"].mean().to_numpy(dtype=float),
    }
    started_s = _seconds(record.started_at)
    names = [name for name in PARAMETERS if not (isinstance(spec, ImportedSpec) and name == "seed")]
    return Steps(
        run_id=record.run_id,
        outcome=record.outcome,
        parameters={name: value for name in names if (value := getattr(spec, name, None)) is not None}
        | {"global_batch_size": spec.global_batch},
        steps=slowest_s.index.to_numpy(dtype=np.int64),
        metrics={name: values for name, values in metrics.items() if np.isfinite(values).any()},
        started_s=started_s,
        clock_s=started_s + np.cumsum(times_s),
    )


def _seconds(time: str) -> float:
    """Seconds since 1970 of a time in ISO format; 0 for another text, such as that of an imported run."""
    with contextlib.suppress(ValueError, OverflowError):
        return max(0.0, datetime.fromisoformat(time).timestamp())
    return 0.0


def summary_of(row: dict[str, Any]) -> dict[str, float]:
    """Return the metrics of a whole run from its row of runs.csv."""
    found = {name: float(row[column]) for name, column in SUMMARY.items() if row.get(column) is not None}
    return {name: value for name, value in found.items() if isfinite(value)}
