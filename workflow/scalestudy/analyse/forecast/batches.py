"""Forecasts at batches that were not measured: from one process by its batch, and the overhead of the ranks.

Tc(B) = a + b B is the step of one process at batch B; X is the overhead a step pays for not being alone. For the
batch that a wanted efficiency takes, X is taken not to depend on it: METHOD, "Algebra behind recommendations".

In a forecast it does. Synchronisation sends as many bytes whatever the batch, but a longer backward pass hides
more of them: the pipeline of buckets (costs/buckets.py), on a link that leaves exposed what was measured, says
how much. The rest of the overhead includes a slowdown: ranks compute more slowly next to each other and during
communication. A slowdown grows with the computation. Its share of the rest is not measured; the value assumes
half.

The overhead has bounds. The upper bound assumes that nothing more is hidden and that all of the rest grows. The
lower bound assumes that none of it grows, and that the longer computation hides as much more as it takes itself.
It cannot hide more than was exposed, or, without probes, than the whole overhead. So no step at a larger batch is
shorter than the present step, but for what its parts are off by. Limits at a confidence are those of a triangular
distribution between these bounds. Measured at 48 batches, nine of ten overheads were within 0.67 of the way to the
bounds, where such a distribution has 0.68 (docs/benchmarks.md, "Time to accuracy").

Beyond the largest batch that one process was measured at, its step is no exact line; the limits hold that too.
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
from scalestudy.analyse.point.rows import alone_by_batch, mostly_unsteady, ring_latency_s
from scalestudy.analyse.statistics.intervals import Interval, normal_quantile, product
from scalestudy.registry.codes import OverheadModel, Refused
from scalestudy.study.config.study import Study

FARTHEST = 4.0
"""Times the largest batch that one process was measured at; beyond, its step need not be the same line."""
LINE_ERROR = 0.10
"""Standard deviation of the logarithm of a step that the line predicts, for each doubling beyond the largest batch
that one process was measured at. Root mean square over twelve networks on three kinds of data: 0.10 at twice and
0.22 at four times that batch."""


@dataclass(frozen=True)
class StepModel:
    """Tc(B) = fixed_s + per_sample_s * B, seconds; B samples."""

    fixed_s: float
    per_sample_s: float

    def step_time_s(self, batch: float) -> float:
        """Seconds of a step of one process at this batch."""
        return self.fixed_s + self.per_sample_s * batch

    def efficiency(self, batch: float, overhead_s: float, *, ranks: int, strong: bool) -> float:
        """Weak scaling: Tc(B) / (Tc(B) + X), B of a rank. Strong: Tc(B) / (n (Tc(B / n) + X)), B of all ranks."""
        alone_s = self.step_time_s(batch)
        if strong:
            return alone_s / (ranks * (self.step_time_s(batch / ranks) + overhead_s))
        return alone_s / (alone_s + overhead_s)

    def batch_for(self, efficiency: float, overhead_s: float, *, ranks: int, strong: bool) -> float:
        """Smallest batch with this efficiency, 0 < E < 1, of a rank or of all ranks as above.

        Weak scaling: (X E / (1 - E) - a) / b. Strong: ((S - 1) a + S X) / (b (1 - S / n)) with S = E n.
        """
        if strong:
            speedup = efficiency * ranks
            return ((speedup - 1) * self.fixed_s + speedup * overhead_s) / (self.per_sample_s * (1 - efficiency))
        return (overhead_s * efficiency / (1 - efficiency) - self.fixed_s) / self.per_sample_s


def step_model(alone: pd.DataFrame) -> StepModel:
    """The line through the steps of one process at the smallest and the largest batch; alone: rows of the summary.

    Raises NoFitError where it was measured at fewer than two batches or the step does not grow with them.
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
    """Rows as in forecasts.csv for every factor in `report.forecast_batches` of every measured point of a series.

    points: distributed rows of one workload, variant and way of scaling.
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
        whole, work = (batch * place.ranks, 1) if point["scaling"] == "strong" else (batch, place.ranks)
        probed = not isnan(point["exposed_span_s"])
        how = OverheadModel.BUCKET_PIPELINE if probed else OverheadModel.AS_MEASURED
        return step_time, step_time.inverse(work * model.step_time_s(whole)), {"overhead_model": how}

    batches = json.dumps(sorted(good["batch_per_rank"].astype(int).tolist()))
    return forecast_row("batch", place, batch * place.ranks, make) | {"from_batches": batches}


def _check(study: Study, point: pd.Series, good: pd.DataFrame, factor: int) -> None:
    """Raises NoFitError where the rows do not tell of this batch."""
    if isnan(point["step_time_s"]):
        raise NoFitError(Refused.POINT_NOT_MEASURED)
    if isnan(point["overhead_s"]):
        raise NoFitError(Refused.OVERHEAD_NOT_MEASURED)
    if mostly_unsteady(point):
        raise NoFitError(Refused.POINT_UNSTEADY)
    largest = factor * int(point["global_batch" if point["scaling"] == "strong" else "batch_per_rank"])
    if len(good) and largest > FARTHEST * good["batch_per_rank"].max():
        raise NoFitError(Refused.BATCH_TOO_LARGE, value=largest, limit=FARTHEST)
    samples = study.workloads[point["workload"]].known_train_samples
    if samples is not None and factor * int(point["global_batch"]) > samples:
        raise NoFitError(Refused.TOO_FEW_SAMPLES, value=samples)


def step_time_at(
    model: StepModel, point: pd.Series, good: pd.DataFrame, batch: int, *, confidence: float
) -> Interval:
    """Seconds of a step of all ranks at this batch of a rank, with limits at a confidence.

    good: rows of one process by its batch.
    """
    alone_s, overhead = model.step_time_s(batch), _overhead(model, point, batch)
    doublings = max(0.0, log2(batch / good["batch_per_rank"].max()))
    off = LINE_ERROR * doublings * normal_quantile(confidence)
    to_the_bounds = 1 - sqrt(1 - confidence)  # each side of a triangular distribution is as likely to be passed
    below_s, above_s = (to_the_bounds * abs(end - overhead.value) for end in (overhead.low, overhead.high))
    value = alone_s + overhead.value
    step_time = Interval(
        value,
        value - hypot(alone_s * (1 - exp(-off)), below_s),
        value + hypot(alone_s * (exp(off) - 1), above_s),
    )
    return product(step_time, _scatter(good))


def _scatter(good: pd.DataFrame) -> Interval:
    """1 with the relative limits of one process's step at its largest batch; none where it was launched once."""
    largest = good.iloc[good["batch_per_rank"].argmax()]
    step_time = Interval.of(largest, "step_time_s")
    return Interval(1.0) if isnan(step_time.low) else step_time.scaled(1 / step_time.value)


def _overhead(model: StepModel, point: pd.Series, batch: int) -> Interval:
    """Seconds that ranks take beyond one process at this batch of a rank, between their bounds."""
    alone_s, now_s = (model.step_time_s(samples) for samples in (batch, point["batch_per_rank"]))
    overhead, exposed_s = Interval.of(point, "overhead_s"), point["exposed_span_s"]
    least = min(overhead.low, overhead.value)
    # A longer computation hides at most the time by which it is longer, and at most what was exposed.
    hidden_s = max(0.0, alone_s - now_s)
    if isnan(exposed_s):  # not probed: all of the overhead may be exposed
        return Interval(overhead.value, max(0.0, least - hidden_s), overhead.high)
    exposed_s, longer = max(0.0, exposed_s), alone_s / now_s
    low = max(0.0, least - min(hidden_s, exposed_s))
    rest, rest_high = (max(0.0, seconds - exposed_s) for seconds in (overhead.value, overhead.high))
    value = max(low, _exposed_s(point, longer) + rest * (1 + longer) / 2)
    return Interval(value, low, max(value, exposed_s + rest_high * max(1.0, longer)))


def _exposed_s(point: pd.Series, longer: float) -> float:
    """What stays exposed where backward takes so many times as long, of a link that exposes what was measured now.

    Buckets alike in size and time stand for those of the model.
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
    except ValueError:  # its latencies alone take longer: a longer backward pass hides what it hides, and no more
        return exposed_s
    link, later_s = Link(latency_s, bandwidth), backward_s * longer
    return exposed_s_of(buckets(later_s), later_s, lambda bucket: RING.time_s(bucket, ranks, link))
