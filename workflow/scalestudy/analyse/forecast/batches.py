"""Forecasts at batches that were not measured: from the step of one process by batch, and the overhead of the
ranks.

Tc(B) = a + b B is the step of one process at batch B; X is the overhead of several ranks in a step. To calculate
the batch for a given efficiency, X is assumed to be independent of the batch: METHOD, "Algebra behind
recommendations".

In a forecast X depends on the batch. Synchronisation sends the same bytes at any batch, but a longer backward pass
hides more of the communication. The model of the buckets (costs/buckets.py) calculates how much, on a link that
reproduces the measured exposed communication. The rest of the overhead includes a slowdown: ranks compute more
slowly next to each other and during communication. A slowdown grows with the computation. Its share of the rest is
not measured; the value assumes half.

The overhead has bounds. The upper bound assumes that nothing more is hidden and that all of the rest grows. The
lower bound assumes that none of it grows, and that the additional computation hides communication of its own
length. It cannot hide more than was exposed, or, without probes, than the whole overhead. So a step at a larger
batch is at least as long as the present step, apart from errors of its parts. The limits at a confidence are those
of a triangular distribution between these bounds. Measured at 48 batches, nine of ten overheads were within 0.67
of the way to the bounds; for such a distribution it is 0.68 (docs/benchmarks.md, "Time to accuracy").

There is no forecast whose limits are more than WIDEST times apart, as of scales: it would say nothing.

Beyond the largest batch measured with one process, its step deviates from the line; the limits include this error.
"""

import json
from dataclasses import dataclass
from math import exp, hypot, isnan, log2, sqrt
from typing import Any

import pandas as pd

from scalestudy.analyse.costs.buckets import Bucket, bandwidth_from_exposed
from scalestudy.analyse.costs.buckets import exposed_s as exposed_s_of
from scalestudy.analyse.costs.collectives import RING, Link
from scalestudy.analyse.forecast.columns import Made, NoFitError, Place, forecast_row
from scalestudy.analyse.forecast.discrepancy import WIDEST
from scalestudy.analyse.point.rows import alone_by_batch, mostly_unsteady, ring_latency_s
from scalestudy.analyse.statistics.intervals import Interval, normal_quantile, product
from scalestudy.registry.codes import OverheadModel, Refused
from scalestudy.study.config.report import FARTHEST_BATCH
from scalestudy.study.config.study import Study

LINE_ERROR = 0.10
"""Standard deviation of the logarithm of a step predicted by the line, for each doubling beyond the largest batch
measured with one process. Root mean square over twelve networks on three kinds of data: 0.10 at twice and 0.22 at
four times that batch."""


@dataclass(frozen=True)
class StepModel:
    """Tc(B) = fixed_s + per_sample_s * B, seconds; B samples."""

    fixed_s: float
    per_sample_s: float

    def step_time_s(self, batch: float) -> float:
        """Returns the seconds of a step of one process at this batch."""
        return self.fixed_s + self.per_sample_s * batch

    def efficiency(self, batch: float, overhead_s: float, *, ranks: int, strong: bool) -> float:
        """Efficiency. Weak: Tc(B) / (Tc(B) + X), B per rank. Strong: Tc(B) / (n (Tc(B / n) + X)), global B."""
        alone_s = self.step_time_s(batch)
        if strong:
            return alone_s / (ranks * (self.step_time_s(batch / ranks) + overhead_s))
        return alone_s / (alone_s + overhead_s)

    def batch_for(self, efficiency: float, overhead_s: float, *, ranks: int, strong: bool) -> float:
        """Returns the smallest batch with this efficiency, 0 < E < 1, per rank or global as above.

        Weak scaling: (X E / (1 - E) - a) / b. Strong: ((S - 1) a + S X) / (b (1 - S / n)) with S = E n.
        """
        if strong:
            speedup = efficiency * ranks
            return ((speedup - 1) * self.fixed_s + speedup * overhead_s) / (self.per_sample_s * (1 - efficiency))
        return (overhead_s * efficiency / (1 - efficiency) - self.fixed_s) / self.per_sample_s


def step_model(alone: pd.DataFrame) -> StepModel:
    """Returns the line through the steps of one process at the smallest and largest batch; alone: rows of the
    summary.

    Raises NoFitError if it was measured at fewer than two batches or the step does not grow with the batch.
    """
    points = alone.dropna(subset=["step_time_s"]).sort_values("batch_per_rank")
    batches, times_s = points["batch_per_rank"].astype(float).to_list(), points["step_time_s"].to_list()
    if len(set(batches)) < 2:
        raise NoFitError(Refused.ONE_BATCH)
    slope = (times_s[-1] - times_s[0]) / (batches[-1] - batches[0])
    if slope <= 0:
        raise NoFitError(Refused.STEP_DOES_NOT_GROW, value=batches[0], limit=batches[-1])
    return StepModel(fixed_s=times_s[0] - slope * batches[0], per_sample_s=slope)


def batch_forecasts(study: Study, points: pd.DataFrame, summary: pd.DataFrame) -> list[dict[str, Any]]:
    """Returns rows as in forecasts.csv for every factor in `report.forecast_batches` and every measured point of a
    series.

    points: distributed rows of one workload, variant and kind of scaling.
    """
    rows = []
    for _, point in points.iterrows():
        good = alone_by_batch(summary, point).dropna(subset=["step_time_s"])
        rows += [_row(study, point, good, factor) for factor in study.report.forecast_batches]
    return rows


def _row(study: Study, point: pd.Series, good: pd.DataFrame, factor: int) -> dict[str, Any]:
    place, batch = Place.of(point), factor * int(point["batch_per_rank"])

    def make() -> Made:
        _check(study, point, good, factor)
        model = step_model(good)
        step_time = step_time_at(model, point, good, batch, confidence=study.level)
        if step_time.high > WIDEST * step_time.low:
            raise NoFitError(Refused.TOO_WIDE, value=step_time.high / max(step_time.low, 1e-9), limit=WIDEST)
        whole, work = (batch * place.ranks, 1) if point["scaling"] == "strong" else (batch, place.ranks)
        probed = not isnan(point["exposed_span_s"])
        how = OverheadModel.BUCKET_PIPELINE if probed else OverheadModel.AS_MEASURED
        return step_time, step_time.inverse(work * model.step_time_s(whole)), {"overhead_model": how}

    batches = json.dumps(sorted(good["batch_per_rank"].astype(int).tolist()))
    return forecast_row("batch", place, batch * place.ranks, make) | {"from_batches": batches}


def _check(study: Study, point: pd.Series, good: pd.DataFrame, factor: int) -> None:
    """Raises NoFitError if a forecast at this batch is not possible from the rows."""
    if isnan(point["step_time_s"]):
        raise NoFitError(Refused.POINT_NOT_MEASURED)
    if isnan(point["overhead_s"]):
        raise NoFitError(Refused.OVERHEAD_NOT_MEASURED)
    if mostly_unsteady(point):
        raise NoFitError(Refused.POINT_UNSTEADY)
    largest = factor * int(point["global_batch" if point["scaling"] == "strong" else "batch_per_rank"])
    if len(good) and largest > FARTHEST_BATCH * good["batch_per_rank"].max():
        raise NoFitError(Refused.BATCH_TOO_LARGE, value=largest, limit=FARTHEST_BATCH)
    samples = study.workloads[point["workload"]].known_train_samples
    if samples is not None and factor * int(point["global_batch"]) > samples:
        raise NoFitError(Refused.TOO_FEW_SAMPLES, value=samples)


def step_time_at(
    model: StepModel, point: pd.Series, good: pd.DataFrame, batch: int, *, confidence: float
) -> Interval:
    """Returns the seconds of a step of all ranks at this batch per rank, with limits at a confidence.

    good: rows of one process by its batch.
    """
    alone_s, overhead = model.step_time_s(batch), _overhead(model, point, batch)
    doublings = max(0.0, log2(batch / good["batch_per_rank"].max()))
    off = LINE_ERROR * doublings * normal_quantile(confidence)
    to_the_bounds = 1 - sqrt(1 - confidence)  # each side of a triangular distribution has the same probability
    below_s, above_s = (to_the_bounds * abs(end - overhead.value) for end in (overhead.low, overhead.high))
    value = alone_s + overhead.value
    step_time = Interval(
        value,
        value - hypot(alone_s * (1 - exp(-off)), below_s),
        value + hypot(alone_s * (exp(off) - 1), above_s),
    )
    return product(step_time, _scatter(good))


def _scatter(good: pd.DataFrame) -> Interval:
    """Returns 1 with the relative limits of one process's step at its largest batch, if it has limits."""
    largest = good.iloc[good["batch_per_rank"].argmax()]
    step_time = Interval.of(largest, "step_time_s")
    return Interval(1.0) if isnan(step_time.low) else step_time.scaled(1 / step_time.value)


def _overhead(model: StepModel, point: pd.Series, batch: int) -> Interval:
    """Returns the seconds of overhead at this batch per rank, between their bounds."""
    alone_s, now_s = (model.step_time_s(samples) for samples in (batch, point["batch_per_rank"]))
    overhead, exposed_s = Interval.of(point, "overhead_s"), point["exposed_span_s"]
    least = min(overhead.low, overhead.value)
    # A longer computation can hide at most its additional time, and at most the exposed communication.
    hidden_s = max(0.0, alone_s - now_s)
    if isnan(exposed_s):  # not probed: all of the overhead may be exposed
        return Interval(overhead.value, max(0.0, least - hidden_s), overhead.high)
    exposed_s, longer = max(0.0, exposed_s), alone_s / now_s
    low = max(0.0, least - min(hidden_s, exposed_s))
    rest, rest_high = (max(0.0, seconds - exposed_s) for seconds in (overhead.value, overhead.high))
    value = max(low, _exposed_s(point, longer) + rest * (1 + longer) / 2)
    return Interval(value, low, max(value, exposed_s + rest_high * max(1.0, longer)))


def _exposed_s(point: pd.Series, longer: float) -> float:
    """Returns the exposed time if the backward pass takes this many times as long, on a link with the measured
    exposed time.

    The model's buckets are represented by buckets of equal size and time.
    """
    exposed_s, backward_s = float(point["exposed_span_s"]), float(point["backward_compute_time_s"])
    count, size, ranks = point["buckets"], point["gradient_bytes"], point["world_size"]
    if isnan(count) or isnan(size) or isnan(backward_s) or not exposed_s > 0:
        return max(0.0, exposed_s)
    latency_s = ring_latency_s(point) or 0.0

    def buckets(backward: float) -> list[Bucket]:
        return [Bucket(size / count, backward * (k + 1) / count) for k in range(int(count))]

    try:
        bandwidth = bandwidth_from_exposed(
            exposed_s, buckets(backward_s), backward_s, ranks=ranks, latency_s=latency_s
        )
    except ValueError:  # latencies alone take longer: a longer backward pass only hides its own additional time
        return exposed_s
    link, later_s = Link(latency_s, bandwidth), backward_s * longer
    return exposed_s_of(buckets(later_s), later_s, lambda bucket: RING.time_s(bucket, ranks, link))
