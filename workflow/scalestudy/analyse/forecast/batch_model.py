"""Step time against batch, and what batch a wanted efficiency takes.

Tc(B) = a + b B is the step of one process at batch B; X is the overhead a step pays for not being alone, taken not
to depend on the batch. Source: METHOD, "Algebra behind recommendations".
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from scalestudy.analyse.forecast.refusal import NoFitError
from scalestudy.registry.codes import Refused


@dataclass(frozen=True)
class StepModel:
    """Tc(B) = fixed_s + per_sample_s * B, seconds; B samples."""

    fixed_s: float
    per_sample_s: float

    def step_time_s(self, batch: float) -> float:
        """Seconds of a step of one process at this batch."""
        return self.fixed_s + self.per_sample_s * batch


def fit_step_model(batches: list[float], step_times_s: list[float]) -> StepModel:
    """The line through the steps at the smallest and the largest batch.

    Raises NoFitError where there are fewer than two batches or the step does not grow with it.
    """
    points = sorted(zip(batches, step_times_s, strict=True))
    if len({batch for batch, _ in points}) < 2:
        raise NoFitError(Refused.ONE_BATCH)
    (low, fast), (high, slow) = points[0], points[-1]
    slope = (slow - fast) / (high - low)
    if slope <= 0:
        raise NoFitError(Refused.STEP_DOES_NOT_GROW, value=low, limit=high)
    return StepModel(fixed_s=fast - slope * low, per_sample_s=slope)


def step_model(alone: pd.DataFrame) -> StepModel:
    """From rows of one process at several batches, those that were measured; raises NoFitError as above."""
    good = alone.dropna(subset=["step_time_s"])
    return fit_step_model(good["batch_per_rank"].astype(float).to_list(), good["step_time_s"].to_list())


def weak_efficiency(model: StepModel, *, batch_per_rank: float, overhead_s: float) -> float:
    """E = Tc(B) / (Tc(B) + X)."""
    alone = model.step_time_s(batch_per_rank)
    return alone / (alone + overhead_s)


def strong_efficiency(model: StepModel, *, global_batch: float, ranks: int, overhead_s: float) -> float:
    """E = Tc(B) / (n (Tc(B / n) + X))."""
    together = model.step_time_s(global_batch / ranks) + overhead_s
    return model.step_time_s(global_batch) / (ranks * together)


def weak_batch_for(model: StepModel, *, efficiency: float, overhead_s: float) -> float:
    """Smallest batch per rank with this weak-scaling efficiency: (X E / (1 - E) - a) / b; 0 < E < 1."""
    return (overhead_s * efficiency / (1 - efficiency) - model.fixed_s) / model.per_sample_s


def strong_batch_for(model: StepModel, *, efficiency: float, ranks: int, overhead_s: float) -> float:
    """Smallest global batch with speedup S = E n < n: ((S - 1) a + S X) / (b (1 - S / n))."""
    speedup = efficiency * ranks
    return ((speedup - 1) * model.fixed_s + speedup * overhead_s) / (model.per_sample_s * (1 - efficiency))
