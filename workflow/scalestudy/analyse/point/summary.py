"""One row per point: the runs of a variant at a scale, compared with their baseline."""

from collections.abc import Callable, Iterable
from math import isnan, nan
from typing import Any, TypeAlias

import pandas as pd

from scalestudy.analyse.point.accuracy import compare_accuracy, every_run
from scalestudy.analyse.point.derived import with_derived
from scalestudy.analyse.point.energy import energy_row
from scalestudy.analyse.point.launches import (
    among,
    by_block,
    by_repeat,
    first_of,
    good_launches,
    launches_of,
    plain_text,
)
from scalestudy.analyse.point.noise import noise_row
from scalestudy.analyse.point.protocols import comparable_with, of_one_protocol
from scalestudy.analyse.point.scaling import karp_flatt, per_doubling_efficiency
from scalestudy.analyse.point.script import probed_row, script_row
from scalestudy.analyse.point.speedup import NOT_COMPARED, Times, compare_with_base, ratio_of_launches
from scalestudy.analyse.point.spoiled import is_spoiled, kept, kept_together, spoiled_row
from scalestudy.analyse.point.verdict import verdict_of
from scalestudy.analyse.run.imported import limits_together
from scalestudy.analyse.run.memory import NO_GROWTH
from scalestudy.analyse.run.steady import throttled
from scalestudy.analyse.run.steps import PERCENTILES
from scalestudy.analyse.statistics.blocks import difference_in_blocks, ratio_in_blocks
from scalestudy.analyse.statistics.intervals import NOTHING, Interval, difference, mean, mean_on_logs
from scalestudy.analyse.statistics.medians import median
from scalestudy.record.observation import PART_COLUMNS, Memory
from scalestudy.registry.codes import (
    LAUNCH_ENDS,
    UNSTEADY,
    AccuracyKept,
    Steadiness,
    Stopped,
    Turns,
    Verdict,
)
from scalestudy.study.config.study import Study
from scalestudy.study.plan import Plan, Point

SEEN = ("level_change", "level_changed_after_steps", "fast_mode_s", "slow_mode_s", "slow_mode_share")
NO_STEPS: dict[str, Any] = {"steadiness": Steadiness.NONE} | dict.fromkeys(SEEN, nan)
STEADY = NO_STEPS | {"steadiness": Steadiness.STEADY}
NO_RANKS = "[]"
# Columns that a row takes from its point, and from the first of its runs.
OF_THE_POINT = ("nodes", "devices_per_node", "world_size", "batch_per_rank", "global_batch")
OF_THE_SPEC = ("micro_batch", "accumulation_steps", "compile", "activation_checkpointing", "settings")
OF_THE_MODEL = ("unused_parameter_bytes", "buffer_bytes", "synchronised_norms")

Launches: TypeAlias = tuple[Plan, pd.DataFrame, pd.DataFrame, Times]
"""The inputs of a row: the plan, its runs by their ids, the good runs, and their step times."""


def one_by_one(
    work: Callable[[Launches, Point], dict[str, Any]], same: Launches, points: Iterable[Point]
) -> list[dict[str, Any]]:
    """Yields work(same, point) for each point."""
    return [work(same, point) for point in points]


Spread: TypeAlias = Callable[
    [Callable[[Launches, Point], dict[str, Any]], Launches, Iterable[Point]], list[dict[str, Any]]
]
"""A function that calculates the rows: `one_by_one`, or on several cores."""


def summary_frame(
    plan: Plan, runs: pd.DataFrame, times: Times | None = None, *, spread: Spread = one_by_one
) -> pd.DataFrame:
    """Returns a row per point of the plan, also if no run succeeded: numbers are then nan, and launches_oom ...
    have counts.

    spread: like `one_by_one`, to calculate rows on several cores.

    times: step times within each run. With them, and if a point and its baseline have enough repeats in common,
    the interval of the speedup is a hierarchical bootstrap over repeats and these times; `interval` has the
    method.

    The runs of a repeat are a block: they follow each other in time, and ratios and differences between points are
    taken within it. `repeats_compared` is the number of repeats with both a point and its baseline.

    Over runs the geometric mean of step times is taken, and so of throughputs: throughput is exactly global batch
    over step time, and speedup is the ratio of two throughputs in the table if every repeat has both sides.
    Columns X, X_low, X_high are a value and its limits at the study's confidence; accuracy has the mean and, with
    several runs, their range.

    `protocol` is the newest measurement protocol of a point's runs. Runs that are not comparable with it in step
    time are left out and counted in `launches_left_out`; a ratio to a point that is not comparable is nan.
    """
    runs = plain_text(runs[runs["outcome"] != "unneeded"].set_index("run_id"))
    ok = good_launches(runs)
    return with_derived(
        pd.DataFrame(spread(_row, (plan, runs, ok, times or {}), plan.points)), confidence=plan.study.level
    )


def _row(launches: Launches, point: Point) -> dict[str, Any]:
    plan, runs, ok, times = launches
    study, report, confidence = plan.study, plan.study.report, plan.study.level
    mine, measured = among(runs, point.runs), among(ok, point.runs)
    every = of_one_protocol(measured)
    good = kept(every, study)
    base_runs = of_one_protocol(among(ok, point.base))
    base = comparable_with(good, base_runs)
    accurate = comparable_with(every, base_runs, "validation_accuracy")
    first = (good if len(good) else mine).iloc[0]
    step_time = mean_on_logs(launches_of(good, "step_time_s", study), confidence=confidence)
    is_base = set(point.runs) == set(point.base)
    base_ranks = int(among(runs, point.base)["world_size"].iloc[0])
    speedup, compared = NOTHING, NOT_COMPARED | {"spoiled_left_out": len(every) - len(good)}
    if is_base and len(good) and point.scaling != "reference":
        speedup = Interval(float(base_ranks))
    elif point.scaling != "reference" and len(good):
        speedup, compared = compare_with_base(every, base, study, times)
        speedup = speedup.scaled(base_ranks)  # a baseline of n ranks counts as n
    overhead, alone = _overhead(point, every, ok, study)
    accuracy_difference, accuracy_kept = compare_accuracy(
        by_repeat(every, "validation_accuracy"),
        by_repeat(accurate, "validation_accuracy"),
        margin=report.accuracy_margin,
        confidence=confidence,
    )
    reached, reached_speedup = _time_to_accuracy(every, base, study)
    other = plan.first_beside(point)
    mine_beside, beside = _beside(every, ok, other, study)
    relative = ratio_of_launches(mine_beside, beside, study, times)[0] if len(beside) else NOTHING
    return {
        **{name: getattr(point, name) for name in ("workload", "variant", "scaling")},
        **{name: first[name] for name in ("strategy", "precision")},
        **{name: getattr(point, name) for name in OF_THE_POINT},
        **{name: first[name] for name in OF_THE_SPEC},
        "is_base": is_base and point.scaling != "reference",
        "base_variant": runs.loc[point.base[0], "variant"],
        "base_world_size": base_ranks,
        "limits": limits_together(mine.get("limits", ())),
        "launches": len(mine),
        **_ends(mine, every, too_short=int((mine["outcome"] == "ok").sum()) - len(measured)),
        "launches_left_out": len(measured) - len(every),
        **spoiled_row(every, base_runs),
        **_with_spoiled(every, study).columns("step_time_with_spoiled_s"),
        "protocol": int((good if len(good) else mine)["protocol"].max()),
        **step_time.columns("step_time_s"),
        "step_time_cv": median(good["step_time_cv"]),
        "launch_cv": good["step_time_s"].std() / good["step_time_s"].mean(),
        "half_width": step_time.relative_half_width,
        "half_width_target": study.measure.half_width,
        "stopped_because": _stopped_because(mine, step_time, speedup, study),
        **first_of(good, good["steadiness"].isin(UNSTEADY), STEADY if len(good) else NO_STEPS),
        "launches_unsteady": int(good["steadiness"].isin(UNSTEADY).sum()),
        "launches_throttled": int(throttled(good["level_change"], good["clock_change"]).sum()),
        **energy_row(good, study),
        "enqueue_share": good["enqueue_share"].mean(),
        "launches_without_turns": int((every["turns"] == Turns.NO_MEMORY).sum()),
        "launches_contended": int((every["turns"] == Turns.CONTENDED).sum()),
        "launches_of_two_modes": int((good["steadiness"] == Steadiness.TWO_MODES).sum()),
        **{name: median(good[name]) for name in PERCENTILES},
        **step_time.inverse(point.global_batch).columns("throughput_samples_per_s"),
        **speedup.columns("speedup"),
        **compared,
        **speedup.scaled(1 / point.world_size).columns("efficiency"),
        **speedup.scaled(1 / base_ranks)
        .map(lambda ratio: per_doubling_efficiency(ratio, point.world_size / base_ranks))
        .columns("per_doubling_efficiency"),
        "karp_flatt": karp_flatt(speedup.value, point.world_size)
        if point.scaling == "strong" and base_ranks == 1
        else nan,
        "beside_variant": other.variant if other else "",
        **relative.columns("relative_throughput"),
        **overhead.columns("overhead_s"),
        "overhead_share": overhead.value / step_time.value,
        **alone.columns("step_time_alone_s"),
        **_parts(good, study),
        "rank_skew_s": good["rank_skew_s"].mean(),
        "launches_probed": int(good["differential_s"].notna().sum()),
        **probed_row(good, ranks=point.world_size, confidence=confidence),
        **script_row(good, study),
        **{name: good[name].max() for name in Memory.model_fields},
        **first_of(good, good["memory_grows"], NO_GROWTH),
        "launches_growing": int(good["memory_grows"].sum()),
        "validation_accuracy": every["validation_accuracy"].mean(),
        "validation_accuracy_min": every["validation_accuracy"].min() if len(every) > 1 else nan,
        "validation_accuracy_max": every["validation_accuracy"].max() if len(every) > 1 else nan,
        **accuracy_difference.columns("accuracy_difference"),
        "accuracy_kept": AccuracyKept.NONE
        if is_base or point.scaling == "reference" or len(accurate) < len(base_runs)
        else accuracy_kept,
        **reached.columns("time_to_accuracy_s"),
        **reached_speedup.columns("time_to_accuracy_speedup"),
        "accuracy_of_every_run": every_run(every["validation_accuracy"], accurate["validation_accuracy"])
        if len(accurate) and not is_base
        else "",
        "launches_at_accuracy": int(every["time_to_accuracy_s"].notna().sum()),
        **noise_row(good, confidence=confidence),
        **{name: first[name] for name in ("parameters", "gradient_bytes")},
        "buckets": median(good["buckets"]),
        **{name: first[name] for name in OF_THE_MODEL},
        **{name: median(good[name]) for name in ("heaviest_rank", "samples_excess")},
        **first_of(good, good["numa_ranks"] != NO_RANKS, {"numa_ranks": NO_RANKS}),
        **first_of(good, good["far_ranks"] != NO_RANKS, {"far_ranks": NO_RANKS}),
        "numa_excess_s": median(good["numa_excess_s"]),
        **{name: first[name] for name in ("bytes_sent_per_step", "flops_per_sample", "device")},
        **{name: " ".join(sorted({str(value) for value in good[name].dropna()})) for name in ("hosts", "torch")},
        **{name: good[name].max() for name in ("threads_per_rank", "threads_per_core")},
    }


def _beside(
    every: pd.DataFrame, ok: pd.DataFrame, other: Point | None, study: Study
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Returns runs of a point and of the first variant at the same place; empty without another variant."""
    beside = comparable_with(every, among(ok, other.runs)) if other and len(every) else every.iloc[:0]
    return kept_together(every, beside, study)


def _with_spoiled(every: pd.DataFrame, study: Study) -> Interval:
    """Returns the step time of all runs, if some are disturbed."""
    if not is_spoiled(every).any():
        return NOTHING
    return mean_on_logs(launches_of(every, "step_time_s", study), confidence=study.level)


def _overhead(point: Point, every: pd.DataFrame, ok: pd.DataFrame, study: Study) -> tuple[Interval, Interval]:
    """Returns (T_multi - T_single at equal batch per rank, T_single): the overhead of several ranks in a step.

    It includes communication, skew between ranks, and contention between ranks on the host.
    """
    confidence = study.level
    good, alone = kept_together(every, comparable_with(every, among(ok, point.equal_batch)), study)
    step_time_alone = mean_on_logs(launches_of(alone, "step_time_s", study), confidence=confidence)
    if point.world_size == 1:
        return NOTHING, step_time_alone
    if study.imported:  # independent samples
        samples = (launches_of(frame, "step_time_s", study) for frame in (good, alone))
        return difference(*samples, confidence=confidence), step_time_alone
    both = (by_block(frame, "step_time_s") for frame in (good, alone))
    return difference_in_blocks(*both, planned=study.repeats_for_spread, confidence=confidence), step_time_alone


def _time_to_accuracy(good: pd.DataFrame, base: pd.DataFrame, study: Study) -> tuple[Interval, Interval]:
    """Returns (training time to the target accuracy, its speedup relative to the baseline).

    Empty if any run did not reach it: a mean over the others would be biased.
    """
    confidence, column = study.level, "time_to_accuracy_s"
    if not len(good) or good[column].isna().any():
        return NOTHING, NOTHING
    time = mean_on_logs(launches_of(good, column, study), confidence=confidence)
    if not len(base) or base[column].isna().any() or set(good.index) == set(base.index):
        return time, NOTHING
    both = (by_block(frame, column) for frame in (base, good))
    return time, ratio_in_blocks(*both, planned=study.repeats_for_spread, confidence=confidence)


def _stopped_because(mine: pd.DataFrame, step_time: Interval, speedup: Interval, study: Study) -> Stopped:
    """Returns why there are no more runs; speedup: without limits for a row without a comparison."""
    target = study.measure.half_width
    if isnan(step_time.relative_half_width):
        return Stopped.ONE_LAUNCH if (mine["outcome"] == "ok").any() else Stopped.NONE
    if study.imported:
        return Stopped.NONE
    if mine["repeat"].max() < study.repeats:
        return Stopped.HOURS_ENDED
    if not study.until_decided:
        return Stopped.TARGET_REACHED if step_time.relative_half_width <= target else Stopped.BUDGET_ENDED
    if isnan(speedup.low):
        return Stopped.SERVES
    verdict = verdict_of(speedup, ranks=int(mine["world_size"].iloc[0]), report=study.report)
    if verdict != Verdict.UNDECIDED:
        return Stopped.DECIDED
    if speedup.relative_half_width <= target:
        return Stopped.SPEEDUP_KNOWN
    return Stopped.LAUNCHES_ENDED if mine["repeat"].max() == study.most_repeats else Stopped.HOURS_ENDED


def _parts(good: pd.DataFrame, study: Study) -> dict[str, float]:
    """Returns parts of the step: arithmetic means with their intervals, since a part may take no time."""
    columns: dict[str, float] = {}
    for part in (*PART_COLUMNS, "backward_compute_time_s"):
        columns |= mean(launches_of(good, part, study), confidence=study.level).columns(part)
    return columns


def _ends(mine: pd.DataFrame, good: pd.DataFrame, *, too_short: int) -> dict[str, int]:
    """Returns the number of runs by outcome; every run is included."""
    counts = mine["outcome"].value_counts().to_dict()
    counts |= {"ok": len(good), "too_short": too_short}
    return {f"launches_{end}": int(counts.get(end, 0)) for end in LAUNCH_ENDS}
