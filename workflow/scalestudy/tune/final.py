"""Evaluates the final blocks: the gain of each finalist over the present setting, its accuracy, and the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan

import pandas as pd

from scalestudy.analyse.forecast.goodput import efficiency_interval
from scalestudy.analyse.point.accuracy import compare_accuracy
from scalestudy.analyse.statistics.blocks import differences
from scalestudy.analyse.statistics.intervals import NOTHING, ROUNDING, Interval, from_log, mean
from scalestudy.registry.codes import AccuracyKept
from scalestudy.study.looks import level_of_a_look
from scalestudy.tune.model import Finalist, Launched
from scalestudy.tune.race import LEAST_BLOCKS, MOST_BLOCKS, SURVIVORS, Race
from scalestudy.tune.space import Space
from scalestudy.tune.target import Setting

LOOKS = (3, 6, MOST_BLOCKS)
"""Numbers of final blocks after which the search checks whether everything is decided."""

SAME_STEPS = "it computes the same training steps, rounding aside"


def level(space: Space) -> float:
    """Confidence level of the interval of each gain. The error probability is divided among looks and finalists
    (Bonferroni), so the interval of the finalist with the largest gain has at least the level of the study."""
    return level_of_a_look(space.target.study.report.confidence, len(LOOKS) * SURVIVORS[-1])


def judge(race: Race, noise_scale: Interval) -> tuple[Finalist, ...]:
    """The finalists, the largest gain first. noise_scale: samples; batches are weighted by it."""
    found = [_finalist(race, setting, noise_scale) for setting in _finalists(race.space, race.whole)]
    return tuple(sorted(found, key=lambda one: -one.gain.value if one.gain.value > 0 else 0.0))


def winner(finalists: Sequence[Finalist]) -> Finalist | None:
    """The accepted finalist with the largest gain; None if the present setting is the answer."""
    return next((one for one in finalists if one.accepted), None)


def decides(race_of: Callable[[], Race], noise_scale: Interval) -> Callable[[Sequence[Launched]], bool]:
    """A function that checks whether the final blocks so far decide: at a look, if no finalist that may still be
    better is undecided."""

    def decided(whole: Sequence[Launched]) -> bool:
        race = race_of()
        blocks = len({one.block for one in whole})
        if blocks not in LOOKS:
            return False
        found, target = judge(race, noise_scale), race.space.target.study.measure.half_width
        best = winner(found)
        for one in found:
            narrow = one.gain.low > 0 and one.gain.relative_half_width <= target
            behind = best is not None and one.gain.value <= best.gain.value
            open_gain = one.gain.low <= 1 <= one.gain.high and not narrow
            if not behind and (open_gain or (one.gain.low > 1 and one.accuracy_kept == AccuracyKept.NOT_SHOWN)):
                return False
        return True

    return decided


def _finalists(space: Space, whole: Sequence[Launched]) -> list[Setting]:
    present = space.present
    every = {tuple(sorted(one.setting.items())): one.setting for one in whole if one.setting != present}
    return list(every.values())


def _finalist(race: Race, setting: Setting, noise_scale: Interval) -> Finalist:
    space, study = race.space, race.space.target.study
    mine, present = (
        [one for one in race.whole if one.setting == of and one.outcome == "ok"] for of in (setting, space.present)
    )
    failed = next((one for one in race.whole if one.setting == setting and one.outcome != "ok"), None)
    mine, present = _that_count(mine, present)
    logs = (_by_block(of, race.value) for of in (mine, present))
    within = differences(*logs, planned=race_planned(race), rounding=ROUNDING)
    gain = mean(within, confidence=level(space)).map(from_log) if len(within.values) else NOTHING
    if race.goal == "goodput":
        gain = _with_worth(space, setting, gain, noise_scale)
    difference, kept, lowest = _accuracy(mine, present, study.report.accuracy_margin, study.report.confidence)
    keeps = space.keeps_training(setting)
    accepted, why = True, "it is faster"
    if failed is not None:
        accepted, why = False, f"a run ended as {failed.outcome}: {failed.reason}"
    elif isnan(gain.low):
        accepted, why = False, "its gain has no interval"
    elif gain.low <= 1:
        accepted, why = False, "it is not shown to be better than the present setting"
    elif kept == AccuracyKept.LOWER or difference.value < -study.report.accuracy_margin:
        accepted, why = False, "its accuracy is lower"
    elif kept == AccuracyKept.NONE:
        why = f"it is better; {SAME_STEPS}" if keeps else "it is better"
        why += "; accuracy was not measured"
    elif keeps:
        why = f"it is better; {SAME_STEPS}"
    elif lowest <= -study.report.accuracy_margin:
        accepted, why = False, "it is better, but the comparison of accuracy is inconclusive"
    elif kept == AccuracyKept.EQUIVALENT:
        why = "it is better, and accuracy is kept"
    else:
        why = "it is better, and accuracy is not lower by more than the margin"
    return Finalist(
        setting=dict(setting),
        name=space.name(setting),
        blocks=len(within.values),
        gain=gain,
        keeps_training=keeps,
        accuracy_difference=difference,
        accuracy_kept=kept,
        accepted=accepted,
        why=why,
    )


def _that_count(mine: list[Launched], present: list[Launched]) -> tuple[list[Launched], list[Launched]]:
    """The runs without blocks in which a run of either setting was disturbed, if enough other blocks remain."""
    spoiled = {one.block for one in (*mine, *present) if one.spoiled}
    clean = [[one for one in of if one.block not in spoiled] for of in (mine, present)]
    left = set.intersection(*({one.block for one in of} for of in clean))
    return (clean[0], clean[1]) if len(left) >= LEAST_BLOCKS else (mine, present)


def race_planned(race: Race) -> int:
    """The number of the last block: the spread is computed from all blocks."""
    return max((one.block for one in race.whole), default=0)


def _with_worth(space: Space, setting: Setting, gain: Interval, noise_scale: Interval) -> Interval:
    """The gain with limits that include those of the worth of a sample; its value includes the worth already."""
    batch, reference = space.target.global_batch(setting), space.target.global_batch({})
    if batch == reference or isnan(noise_scale.value):
        return gain
    worth = efficiency_interval(noise_scale, batch, reference, confidence=level(space))
    return Interval(gain.value, gain.low * worth.low / worth.value, gain.high * worth.high / worth.value)


def _accuracy(
    mine: Sequence[Launched], present: Sequence[Launched], margin: float, confidence: float
) -> tuple[Interval, AccuracyKept, float]:
    """(difference with its interval, its meaning, one-sided lower limit). Runs of a block share a seed."""
    both = [_by_block(of, lambda one: one.validation_accuracy) for of in (mine, present)]
    if not all(len(one.dropna()) for one in both):
        return NOTHING, AccuracyKept.NONE, float("nan")
    found, kept = compare_accuracy(*both, margin=margin, confidence=confidence)
    narrow = mean((both[0] - both[1]).dropna(), confidence=2 * confidence - 1)
    return found, kept, narrow.low if not isnan(narrow.low) else float("-inf")


def _by_block(of: Sequence[Launched], value: Callable[[Launched], float]) -> pd.Series:
    """Values by block: each setting is run once in each block."""
    return pd.Series([value(one) for one in of], index=[one.block for one in of], dtype=float)
