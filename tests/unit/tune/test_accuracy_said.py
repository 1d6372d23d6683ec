"""Accuracy of a setting in a search: called kept only if runs of that setting show it."""

from __future__ import annotations

from math import nan
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scalestudy.analyse.statistics.intervals import NOTHING
from scalestudy.registry.codes import AccuracyKept
from scalestudy.tune.final import _finalist
from scalestudy.tune.model import Finalist
from scalestudy.tune.race import Race
from scalestudy.tune.target import Setting
from scalestudy.tune.words import _finalist_lines
from simulated_tuning import Simulated, simulated_space

SPACE = simulated_space()
BATCH = {**SPACE.present, "batch_size": 32}
WORKERS = {**SPACE.present, "input.workers": 1}
ONCE = [0.9]
SAME = [0.900, 0.901, 0.899]


def finalist_of(setting: Setting, present: list[float], mine: list[float]) -> Finalist:
    """A finalist that is twice as fast, with these accuracies in its blocks; the margin is a point."""
    launches = []
    for of, accuracies, faster in ((SPACE.present, present, 1.0), (setting, mine, 2.0)):
        for block, accuracy in enumerate(accuracies, start=1):
            made = Simulated(seed=1).make(of, "whole", block, left_s=100.0, rung=3, block=block)
            per_s = 1000 * faster * (1 + block / 1000 * faster)
            launches.append(
                made.model_copy(update={"throughput_samples_per_s": per_s, "validation_accuracy": accuracy})
            )

    def value(one: Any) -> float:
        from math import log

        return log(one.throughput_samples_per_s)

    race = SimpleNamespace(space=SPACE, whole=launches, value=value, goal="epoch_time")
    return _finalist(cast(Race, race), setting, NOTHING)


def text_of(one: Finalist) -> str:
    found = SimpleNamespace(answer=None, goal="epoch_time", noise_scale_samples=NOTHING)
    return " ".join(" ".join(_finalist_lines(one, cast(Any, found))).split())


@pytest.mark.parametrize(
    ("setting", "present", "mine", "accepted", "said"),
    [
        (BATCH, SAME, [0.901, 0.900, 0.900], True, "accuracy is kept"),
        (BATCH, SAME, [0.92, 0.94, 0.93], True, "accuracy is not lower by more than the margin"),
        (BATCH, SAME, [0.88, 0.92, 0.90], False, "the comparison of accuracy is inconclusive"),
        (BATCH, [nan] * 3, [nan] * 3, True, "accuracy was not measured"),
        (WORKERS, [nan] * 3, [nan] * 3, True, "accuracy was not measured"),
        (WORKERS, SAME, [nan] * 3, True, "accuracy was not measured"),
        (BATCH, SAME, [0.88, 0.87, 0.88], False, "its accuracy is lower"),
    ],
)
def test_accuracy_is_said_to_be_kept_only_where_both_settings_show_it(
    setting: Setting, present: list[float], mine: list[float], accepted: bool, said: str
) -> None:
    one = finalist_of(setting, present, mine)
    assert one.accepted is accepted
    assert said in one.why
    kept = one.accuracy_kept == AccuracyKept.EQUIVALENT
    assert ("accuracy is kept" in one.why) == kept
    assert ("points compared with the present setting, kept" in text_of(one)) == kept


def test_a_setting_that_computes_the_same_steps_says_what_was_measured_of_its_accuracy() -> None:
    """Three runs that scatter show nothing, and none show nothing either."""
    scattered = text_of(finalist_of(WORKERS, SAME, [0.88, 0.92, 0.90]))
    assert "it computes the same training steps" in scattered
    assert "inconclusive" in scattered and "kept" not in scattered
    unmeasured = text_of(finalist_of(WORKERS, [nan] * 3, [nan] * 3))
    assert "accuracy: not measured at this setting" in unmeasured and "kept" not in unmeasured
