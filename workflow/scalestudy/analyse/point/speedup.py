"""The speedup of a point: relative to runs of its baseline in the same repeats, and within its own runs."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

import pandas as pd

from scalestudy.analyse.point.launches import by_block, launches_of
from scalestudy.analyse.point.spoiled import (
    FEWEST,
    apart_from_repeats,
    kept_together,
    quiet_turns,
    spoiled_repeats,
)
from scalestudy.analyse.point.together import NOTHING_APART, apart_columns
from scalestudy.analyse.statistics.blocks import ratio_in_blocks, shared_variance
from scalestudy.analyse.statistics.bootstrap import bootstrap_ratio
from scalestudy.analyse.statistics.intervals import NOTHING, Interval, mean_on_logs, ratio_on_logs
from scalestudy.registry.codes import IntervalMethod
from scalestudy.study.config.study import Study

Times = Mapping[str, Sequence[float]]
"""Step times in seconds of the steady blocks of steps, by run id."""

COMPARED = (
    *("speedup_in_repeats", "speedup_in_launches", "estimator_ratio", "shared_variance"),
    *("speedup_with_spoiled", "speedup_without_spoiled"),
)
NOTHING_SPOILED = {"repeats_spoiled": 0, "repeats_clean": 0, "spoiled_left_out": 0}
NOT_COMPARED: dict[str, Any] = {
    "interval": IntervalMethod.NONE,
    "repeats_compared": 0,
    **NOTHING_APART,
    **NOTHING_SPOILED,
}
for _name in COMPARED:
    NOT_COMPARED |= NOTHING.columns(_name)


def compare_with_base(
    good: pd.DataFrame, base: pd.DataFrame, study: Study, times: Times
) -> tuple[Interval, dict[str, Any]]:
    """Returns (the speedup for the verdict, columns of NOT_COMPARED).

    good, base: rows of runs.csv, at least one run of the point, and of its baseline.

    `measure.speedup_within` selects this speedup. If no run has a speedup of its own, it is the one within
    repeats; unless memory was exhausted, either all runs of a point have one or no run. `estimator_ratio` is the
    speedup within runs divided by the one within repeats, for the repeats that have both; without speedups within
    runs the columns of both are empty. Disturbed repeats are left out while two others are left; their effect is
    in `speedup_with_spoiled` and `speedup_without_spoiled`.
    """
    in_repeats, method = NOTHING, IntervalMethod.NONE
    if study.imported:
        return _of_imported(good, base, study)
    all_good, all_base = good, base
    good, base = kept_together(good, base, study)
    if apart := apart_from_repeats(all_good, all_base, study):
        in_repeats, method = ratio_of_samples(*apart, study), IntervalMethod.WELCH
    elif len(base):
        in_repeats, method = ratio_of_launches(good, base, study, times)
    turned = with_turns(all_good)
    of_launches = launches_of(turned, "speedup_in_launch", study)
    in_launches = mean_on_logs(of_launches, confidence=study.level) if len(of_launches.values) else NOTHING
    mine, theirs = (by_block(frame, "throughput_samples_per_s") for frame in (good, base))
    own, ratios = by_block(turned, "speedup_in_launch"), (mine / theirs).dropna()
    limits: dict[str, Any] = {"planned": study.repeats_for_spread, "confidence": study.level}
    both = ratio_in_blocks(own, ratios, **limits) if len(own) and len(ratios) else NOTHING
    shared = shared_variance(by_block(good, "step_time_s"), by_block(base, "step_time_s"), confidence=study.level)
    judged, repeats = in_repeats, len(ratios)
    if study.measure.speedup_within == "launches" and len(own):
        judged, repeats = in_launches, len(own)
        method = IntervalMethod.NONE if isnan(judged.low) else IntervalMethod.T_WITHIN_LAUNCHES
        spoiled = _of_turns(all_good, study)
    else:
        spoiled = _of_repeats(all_good, all_base, study, times)
    return judged, {
        "interval": method,
        "repeats_compared": repeats,
        **apart_columns(good, base),
        **(in_repeats if len(own) else NOTHING).columns("speedup_in_repeats"),
        **in_launches.columns("speedup_in_launches"),
        **both.columns("estimator_ratio"),
        **shared.columns("shared_variance"),
        **spoiled,
        "spoiled_left_out": spoiled["repeats_spoiled"] if repeats == spoiled["repeats_clean"] else 0,
    }


def _of_imported(good: pd.DataFrame, base: pd.DataFrame, study: Study) -> tuple[Interval, dict[str, Any]]:
    """Returns the same for imported runs. Nobody ran them in repeats: they are two independent samples."""
    found = ratio_of_samples(good, base, study)
    method = IntervalMethod.NONE if isnan(found.low) else IntervalMethod.WELCH
    return found, NOT_COMPARED | {"interval": method, "repeats_compared": min(len(good), len(base))}


def _of_repeats(good: pd.DataFrame, base: pd.DataFrame, study: Study, times: Times) -> dict[str, Any]:
    """Returns the number of disturbed repeats, and the speedup with and without them."""
    both, spoiled = spoiled_repeats(good, base)
    if not spoiled:
        return _spoiled(len(both), 0, NOTHING, NOTHING)
    clean = [one[one["repeat"].isin(both - spoiled)] for one in (good, base)]
    return _spoiled(
        len(both - spoiled),
        len(spoiled),
        ratio_of_launches(good, base, study, times)[0],
        ratio_of_launches(clean[0], clean[1], study, times)[0] if both - spoiled else NOTHING,
    )


def _of_turns(good: pd.DataFrame, study: Study) -> dict[str, Any]:
    """Returns the same for speedups within runs."""
    turned = good.dropna(subset=["speedup_in_launch"])
    quiet = turned[quiet_turns(turned)]
    with_all, without = (
        mean_on_logs(launches_of(one, "speedup_in_launch", study), confidence=study.level) if len(one) else NOTHING
        for one in (turned, quiet)
    )
    if len(quiet) == len(turned):
        with_all = without = NOTHING
    return _spoiled(len(quiet), len(turned) - len(quiet), with_all, without)


def _spoiled(clean: int, spoiled: int, with_spoiled: Interval, without: Interval) -> dict[str, Any]:
    return {
        "repeats_spoiled": spoiled,
        "repeats_clean": clean,
        **with_spoiled.columns("speedup_with_spoiled"),
        **without.columns("speedup_without_spoiled"),
    }


def with_turns(good: pd.DataFrame) -> pd.DataFrame:
    """Returns the runs whose own speedup counts.

    A run in which other processes used the cores in every round, or that was disturbed otherwise, is left out if
    there are enough others for an interval: the speedup of interest is the one on a quiet host.
    """
    turned = good.dropna(subset=["speedup_in_launch"])
    quiet = turned[quiet_turns(turned)]
    return quiet if len(quiet) >= FEWEST else turned


def ratio_of_samples(good: pd.DataFrame, base: pd.DataFrame, study: Study) -> Interval:
    """Returns the ratio of throughputs of two independent samples, with Welch's interval on logarithms.

    The runs of a repeat have a part of their variation in common, which the interval then includes as if it were
    not: it is rather too wide.
    """
    samples = (launches_of(frame, "throughput_samples_per_s", study) for frame in (good, base))
    return ratio_on_logs(*samples, confidence=study.level)


def ratio_of_launches(
    good: pd.DataFrame, base: pd.DataFrame, study: Study, times: Times
) -> tuple[Interval, IntervalMethod]:
    """Returns (ratio of throughputs to those of other runs, within repeats; the method of its interval)."""
    limits: dict[str, Any] = {"planned": study.repeats_for_spread, "confidence": study.level}
    mine, theirs = (by_block(frame, "throughput_samples_per_s") for frame in (good, base))
    ratio = ratio_in_blocks(mine, theirs, **limits)
    run_of, base_of = (dict(zip(frame["repeat"], frame.index, strict=True)) for frame in (good, base))
    known = [repeat for repeat in run_of if {run_of[repeat], base_of.get(repeat)} <= times.keys()]
    drawn = bootstrap_ratio(
        *([times[runs[repeat]] for repeat in known] for runs in (base_of, run_of)), confidence=study.level
    )
    if isnan(drawn.value) or max(known) > study.repeats_for_spread:
        return ratio, IntervalMethod.NONE if isnan(ratio.low) else IntervalMethod.T_WITHIN_REPEATS
    scale = (
        ratio.value / drawn.value
    )  # the same runs; pieces of unequal length have equal weights in the bootstrap
    return Interval(ratio.value, drawn.low * scale, drawn.high * scale), IntervalMethod.HIERARCHICAL_BOOTSTRAP
