"""Loss of efficiency of a point: factors whose product is the efficiency, each a share of the time that remains.

After the multiplicative model of the POP Centre of Excellence (https://pop-coe.eu/node/69), in terms of the
measurements of a study: its steps, one process at equal batch per rank, and the probes of synchronisation.

    efficiency
      batch            a rank's share alone, at its own batch, compared with the whole batch at once
      parallel         one process at equal batch per rank, compared with a step of all ranks
        contention     without synchronisation: contention between ranks on the host, and the wrapper
        synchronisation
          interference computation slowed by the communication that it overlaps with
          balance      waiting for the slowest rank
          transfer     communication without overlap, and time that no method explains

Every level is complete: the factors below a node multiply to it, whatever was measured.
"""

from dataclasses import dataclass
from math import isnan, nan, sqrt

import pandas as pd

from scalestudy.analyse.point.rows import distributed
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.analyse.statistics.resolution import is_resolved, lost, repeats_to_resolve


@dataclass(frozen=True)
class Factor:
    """A node of the tree: a share of the time that remains, at most about 1."""

    name: str
    level: int
    share: Interval


def efficiency_tree(point: pd.Series) -> list[Factor]:
    """Returns the factors of a row of the summary, from the root down, as far as they were measured.

    Intervals are those of the times lost at a node; the root has the row's own.
    """
    efficiency = Interval.of(point, "efficiency")
    if isnan(efficiency.value):
        return []
    tree = [Factor("efficiency", 0, efficiency)]
    step, alone = Interval.of(point, "step_time_s"), Interval.of(point, "step_time_alone_s")
    if isnan(alone.value):
        return tree
    # Weak scaling: the baseline has a rank's batch, so that nothing is lost to it and the rest is the efficiency.
    weak = point["scaling"] == "weak"
    parallel = efficiency if weak else _ratio(alone, step)
    batch = Interval(1.0) if weak else _ratio(efficiency, parallel)
    tree += [Factor("batch", 1, batch), Factor("parallel", 1, parallel)]
    sync = Interval.of(point, "differential_s")
    if isnan(sync.value):
        return tree
    without = step.value - sync.value
    kept = _without(sync, step.value)
    tree += [Factor("contention", 2, _ratio(parallel, kept)), Factor("synchronisation", 2, kept)]
    interference, wait = Interval.of(point, "interference_s"), Interval.of(point, "wait_time_s")
    if isnan(interference.value) or isnan(wait.value):
        return tree
    slowed = without + interference.value
    waited = slowed + wait.value
    left = _rest(sync, interference, wait)
    return [
        *tree,
        Factor("interference", 3, _without(interference, slowed)),
        Factor("balance", 3, _without(wait, waited)),
        Factor("transfer", 3, _without(left, step.value)),
    ]


KEYS = ["workload", "variant", "scaling", "nodes", "world_size", "batch_per_rank"]
COLUMNS = [*KEYS, "factor", "level", "share", "share_low", "share_high", "resolved", "repeats_to_resolve"]


def factors_frame(summary: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """Returns the trees of all distributed rows of the summary, one row per factor; columns are COLUMNS.

    confidence: level of the intervals.
    """
    rows = [
        {
            **{**point[KEYS], "factor": factor.name, "level": factor.level, **factor.share.columns("share")},
            **_resolution(point, factor, confidence),
        }
        for _, point in distributed(summary).iterrows()
        for factor in efficiency_tree(point)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _resolution(point: pd.Series, factor: Factor, confidence: float) -> dict[str, bool | float | None]:
    """Returns `resolved` and `repeats_to_resolve` of a factor. The efficiency itself is judged by the verdict."""
    whole = factor.name == "efficiency" or (factor.name == "parallel" and point["scaling"] == "weak")
    loss = lost(factor.share)
    if whole or is_resolved(loss):
        return {"resolved": True, "repeats_to_resolve": nan}
    repeats = int(point["repeats_compared"] if factor.level < 2 else point["launches_probed"])
    needed = repeats_to_resolve(loss, repeats=repeats, confidence=confidence)
    return {"resolved": False, "repeats_to_resolve": nan if needed is None else needed}


def _without(part: Interval, whole: float) -> Interval:
    """Returns 1 - part / whole, the share that remains. Its limits follow from the limits of the lost time."""
    return Interval(1 - part.value / whole, _positive(1 - part.high / whole), 1 - part.low / whole)


def _rest(sync: Interval, *told: Interval) -> Interval:
    """Returns the part of the synchronisation that is not explained; half-widths add in quadrature."""
    value = sync.value - sum(part.value for part in told)
    half = sqrt(sum(((part.high - part.low) / 2) ** 2 for part in (sync, *told)))
    return Interval(value, value - half, value + half)


def _ratio(above: Interval, below: Interval) -> Interval:
    """Returns the quotient of independent quantities; relative half-widths add in quadrature."""
    value = above.value / below.value
    half = value * sqrt(sum(((part.high - part.low) / 2 / part.value) ** 2 for part in (above, below)))
    return Interval(value, _positive(value - half), value + half)


def _positive(limit: float) -> float:
    """Limits an interval to 0 and above, since a share is not negative; nan stays."""
    return limit if isnan(limit) else max(0.0, limit)
