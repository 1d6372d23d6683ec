"""Predictions of the step-time models for a setting before its first run, from the results of a finished study.

The predicted quantity is the logarithm of the goal relative to the present setting. Without measurements, only a
plausible order remains: more micro-batches or more bytes do not make the same batch faster.
"""

from __future__ import annotations

from math import isnan, log
from typing import Any

import numpy as np
import pandas as pd

from scalestudy.analyse.costs.buckets import Bucket, bandwidth_from_exposed
from scalestudy.analyse.costs.buckets import exposed_s as exposed_s_of
from scalestudy.analyse.costs.collectives import RING, Link
from scalestudy.analyse.forecast.batches import StepModel, step_model, step_time_at
from scalestudy.analyse.forecast.columns import NoFitError
from scalestudy.analyse.forecast.goodput import statistical_efficiency
from scalestudy.analyse.point.rows import alone_by_batch, ring_latency_s
from scalestudy.study.config.tune import SHARDING
from scalestudy.tune.space import Space
from scalestudy.tune.target import WORKERS, Setting, Target

MIB = 2**20
MICRO_BATCH = 0.05
"""Assumed cost of doubling the micro-batches, as a logarithm, if no step of one process was measured."""
MORE_BYTES = {"ddp": 0.0, "fsdp-gradients": 0.05, "fsdp-full": 0.1, "fsdp-hybrid": 0.1}
"""Assumed cost of a strategy (logarithm): full sharding sends 1.5 times the bytes of DDP, in smaller messages."""
HOPELESS = log(2)
"""A setting predicted this far or farther below the best prediction is not run (logarithm)."""


class Models:
    """The models of the measured point of the present setting, if there is one."""

    def __init__(self, target: Target, point: pd.Series | None, alone: pd.DataFrame | None) -> None:
        self.target, self.point, self.alone = target, point, alone
        self.steps: StepModel | None = None
        if alone is not None:
            try:
                self.steps = step_model(alone)
            except NoFitError:
                self.steps = None

    @classmethod
    def of(cls, target: Target, summary: pd.DataFrame | None) -> Models:
        """The models from a finished study's table; without a table or without the point, nothing is measured."""
        if summary is None:
            return cls(target, None, None)
        nodes, ranks = target.nodes, target.ranks
        at = (summary["workload"] == target.workload) & (summary["variant"] == target.variant)
        at &= (summary["world_size"] == ranks) & (summary["nodes"] == nodes) & summary["step_time_s"].notna()
        rows = summary[at & (summary["batch_per_rank"] == target.batch_per_rank({}))]
        if rows.empty:
            return cls(target, None, None)
        point = rows.iloc[0]
        return cls(target, point, alone_by_batch(summary, point).dropna(subset=["step_time_s"]))

    @property
    def measured(self) -> bool:
        """Whether the models rest on a measured point."""
        return self.point is not None

    def step_time_s(self, setting: Setting) -> float:
        """Predicted seconds per step of all ranks; only up to a constant factor if nothing was measured."""
        batch = self.target.batch_per_rank(setting)
        present_s = 1.0 if self.point is None else float(self.point["step_time_s"])
        time_s = present_s * self._batch_factor(batch)
        micro_batches = int(setting.get("accumulation_steps", 1))
        now = self.target.study.variants[self.target.variant].accumulation_steps
        if self.steps is not None and self.steps.fixed_s > 0:
            time_s += (micro_batches - now) * self.steps.fixed_s
        else:
            time_s *= (micro_batches / now) ** MICRO_BATCH
        if self.point is not None:
            time_s += self._bucket_change_s(setting) + self._input_change_s(setting)
        strategy = str(setting.get(SHARDING, "ddp"))
        return max(time_s, 0.05 * present_s) * float(np.exp(MORE_BYTES.get(strategy, 0.0)))

    def _batch_factor(self, batch: int) -> float:
        """Step time at a batch per rank over that at the present batch."""
        now = self.target.batch_per_rank({})
        if batch == now:
            return 1.0
        if self.steps is not None and self.point is not None and not isnan(self.point["overhead_s"]):
            assert self.alone is not None
            level = self.target.study.level
            at, before = (
                step_time_at(self.steps, self.point, self.alone, one, confidence=level).value
                for one in (batch, now)
            )
            return float(at / before) if before > 0 and at > 0 else (batch / now) ** 0.5
        return float((batch / now) ** 0.5)  # between a step of only overhead and a step of only arithmetic

    def _bucket_change_s(self, setting: Setting) -> float:
        """Exposed seconds with another bucket size minus those now; 0 if communication was not probed."""
        point, cap = self.point, setting.get("ddp.bucket_cap_mb")
        assert point is not None
        now = self.target.study.variants[self.target.variant].ddp.bucket_cap_mb
        exposed_s, backward_s = float(point["exposed_span_s"]), float(point["backward_compute_time_s"])
        count, size = float(point["buckets"]), float(point["gradient_bytes"])
        if cap is None or cap == now or isnan(count) or isnan(size) or not exposed_s > 0 or not backward_s > 0:
            return 0.0
        latency_s = ring_latency_s(point) or 0.0

        def buckets(number: int) -> list[Bucket]:
            return [Bucket(size / number, backward_s * (k + 1) / number) for k in range(number)]

        try:
            bandwidth = bandwidth_from_exposed(
                exposed_s, buckets(int(count)), backward_s, ranks=self.target.ranks, latency_s=latency_s
            )
        except ValueError:  # latencies alone take longer than the exposed communication
            return 0.0
        link = Link(latency_s, bandwidth)
        number = max(1, round(size / (float(cap) * MIB)))
        then_s = exposed_s_of(
            buckets(number), backward_s, lambda bucket: RING.time_s(bucket, self.target.ranks, link)
        )
        return float(then_s - exposed_s)

    def _input_change_s(self, setting: Setting) -> float:
        """Change of the seconds of waiting for data, if worker processes read ahead."""
        assert self.point is not None
        now = self.target.study.variants[self.target.variant].input.workers
        workers = int(setting.get(WORKERS, now))
        waits_s = float(self.point["data_time_s"])
        return -waits_s if workers and not now and not isnan(waits_s) else 0.0


def log_worth(target: Target, setting: Setting, noise_scale: float) -> float:
    """Logarithm of the worth of a sample at the batch of a setting, relative to the present batch; 0 if the noise
    scale (samples) is not known."""
    if isnan(noise_scale):
        return 0.0
    return log(statistical_efficiency(noise_scale, target.global_batch(setting), target.global_batch({})))


def predictions(space: Space, models: Models, noise_scale: float) -> np.ndarray:
    """Logarithm of the goal of every setting relative to the present one, shape (settings,)."""
    target = space.target
    now_s, batch = models.step_time_s(space.present), target.global_batch({})

    def predicted(setting: Setting) -> float:
        more = target.global_batch(setting) / batch
        return log(more * now_s / models.step_time_s(setting)) + log_worth(target, setting, noise_scale)

    return np.array([predicted(setting) for setting in space.settings])


def hopeful(space: Space, models: Models, predicted: np.ndarray) -> list[bool]:
    """Whether each setting is worth a run: not if measured models predict it far below the best prediction."""
    if not models.measured:
        return [True] * len(predicted)
    best = predicted.max()
    return [
        one == space.present or bool(value > best - HOPELESS)
        for one, value in zip(space.settings, predicted, strict=True)
    ]


def noise_scale_in(summary: pd.DataFrame | None, target: Target) -> dict[str, Any] | None:
    """value, low and high of the workload's gradient noise scale from a finished study; None without one."""
    workload = target.study.workloads[target.workload]
    if summary is None or not workload.epochs:
        return None
    name = "gradient_noise_scale_samples"
    rows = summary[(summary["workload"] == target.workload) & summary[name].notna()]
    if rows.empty:
        return None
    own = rows[(rows["variant"] == target.variant) & (rows["world_size"] == target.ranks)]
    row = (own if len(own) else rows).iloc[0]
    return {"value": float(row[name]), "low": float(row[f"{name}_low"]), "high": float(row[f"{name}_high"])}


def largest_batch_in(summary: pd.DataFrame | None, target: Target) -> int:
    """The largest batch of the workload that a finished study measured, samples per rank; 0 without one."""
    if summary is None:
        return 0
    rows = summary[(summary["workload"] == target.workload) & summary["step_time_s"].notna()]
    return int(rows["batch_per_rank"].max()) if len(rows) else 0
