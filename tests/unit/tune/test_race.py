"""The search on simulated runs: it keeps its budget, repeats no run, and excludes settings that fail."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.registry.codes import AccuracyKept
from scalestudy.tune.final import judge, winner
from scalestudy.tune.race import LEAST_BLOCKS, Race
from scalestudy.tune.sampler import Sampler
from simulated_tuning import LEVELS, Simulated, race_of, simulated_space, true_log

SPACE = simulated_space()
KEEPING = simulated_space(
    {key: values for key, values in LEVELS.items() if key not in ("batch_size", "precision")}
)
BUDGET_S = 160.0
SAMPLERS: tuple[Sampler, Sampler] = ("model", "random")


def won_of(race: Race, noise: Interval = NOTHING) -> float:
    """True throughput of the answer over that of the best setting."""
    won = winner(judge(race, noise))
    best = max(true_log(one) for one in race.space.settings)
    return exp(true_log(won.setting if won else race.space.present) - best)


@pytest.mark.parametrize("budget_s", [30.0, 160.0, 600.0])
def test_the_budget_holds(budget_s: float) -> None:
    launches = Simulated(seed=1)
    race = race_of(SPACE, launches, budget_s=budget_s)
    assert race.spent_s <= budget_s
    assert race.spent_s == pytest.approx(launches.device_time_s + race.cut_off_s)
    assert len(race.made) > 3


def test_a_budget_that_ends_before_a_launch_makes_none() -> None:
    race = race_of(SPACE, Simulated(seed=1), budget_s=3.0)
    assert race.ended
    assert not race.made


@pytest.mark.parametrize("budget_s", [8.0, 16.0])
def test_a_budget_that_is_too_small_is_no_answer_and_what_would_do_is_said(budget_s: float) -> None:
    race = race_of(SPACE, Simulated(seed=1), budget_s=budget_s)
    assert "device-hours would be enough" in race.ended
    assert winner(judge(race, NOTHING)) is None
    hours = float(race.ended.split("about ")[1].split()[0])
    assert not race_of(SPACE, Simulated(seed=1), budget_s=3 * 3600 * hours).ended


def test_it_finds_nearly_the_best_setting_in_a_fifth_of_a_grid() -> None:
    """The same race with a sampler that draws at random gets less."""
    grid = Simulated(seed=0)
    for one in SPACE.settings:
        grid.make(one, "short", 1, left_s=100.0, rung=0, block=0)
    reached, chance = (
        [
            won_of(
                race_of(SPACE, Simulated(seed=seed), budget_s=grid.device_time_s / 5, seed=seed, sampler=sampler)
            )
            for seed in range(1, 9)
        ]
        for sampler in SAMPLERS
    )
    assert np.median(reached) >= 0.97
    assert np.median(reached) > np.median(chance)


def test_drift_of_the_host_does_not_choose() -> None:
    """Where all settings are alike, none is called better, though the host drifts by 40 %."""
    alike = simulated_space({"input.workers": [0, 1], "ddp.bucket_cap_mb": [5, 25]})

    class Alike(Simulated):
        def make(self, setting, kind, repeat, *, left_s, rung, block):  # type: ignore[no-untyped-def]
            one = super().make(setting, kind, repeat, left_s=left_s, rung=rung, block=block)
            worth = exp(true_log(setting))
            changes = {"throughput_samples_per_s": one.throughput_samples_per_s / worth}
            return one.model_copy(update=changes | {"epoch_time_s": one.epoch_time_s * worth})

    found = [race_of(alike, Alike(seed=seed, drift=0.2), budget_s=400.0, seed=seed) for seed in range(1, 21)]
    assert sum(winner(judge(race, NOTHING)) is not None for race in found) <= 1


def test_a_search_that_was_cut_off_goes_on_and_repeats_nothing() -> None:
    whole = race_of(SPACE, Simulated(seed=3), budget_s=BUDGET_S)
    cut = Simulated(seed=3, dies_after=17)
    with pytest.raises(KeyboardInterrupt):
        race_of(SPACE, cut, budget_s=BUDGET_S)
    assert len(cut.recorded) == 17
    cut.dies_after = 10**9
    again = race_of(SPACE, cut, budget_s=BUDGET_S)
    assert len(set(cut.fresh)) == len(cut.fresh)
    assert [one.run_id for one in again.made] == [one.run_id for one in whole.made]
    assert sum(one.measured_now for one in again.made) == len(whole.made) - 17
    third = race_of(SPACE, cut, budget_s=BUDGET_S)
    assert not any(one.measured_now for one in third.made)


def test_a_larger_budget_goes_on_from_the_launches_of_a_smaller_one() -> None:
    launches = Simulated(seed=3)
    race_of(SPACE, launches, budget_s=BUDGET_S)
    before = len(launches.fresh)
    race = race_of(SPACE, launches, budget_s=2 * BUDGET_S)
    assert sum(not one.measured_now for one in race.made) > before / 2
    assert len(set(launches.fresh)) == len(launches.fresh)
    assert launches.device_time_s <= 2 * BUDGET_S


@pytest.mark.parametrize("how", ["oom", "diverged", "timeout", "failed"])
def test_a_setting_that_fails_is_out_and_the_rest_goes_on(how: str) -> None:
    race = race_of(SPACE, Simulated(seed=2, fails={"batch_size": (32, how)}), budget_s=BUDGET_S)
    failed = [one.setting for one in race.made if one.outcome == how]
    assert failed
    assert all(failed.count(one) == 1 for one in failed), "a setting that failed is not launched again"
    assert len(failed) < len(race.short) / 3, "its neighbours are avoided"
    won = winner(judge(race, NOTHING))
    assert won is None or won.setting["batch_size"] != 32
    assert len({one.block for one in race.whole}) >= LEAST_BLOCKS


def test_where_the_present_setting_fails_there_is_no_answer_and_it_is_said() -> None:
    race = race_of(SPACE, Simulated(seed=2, fails={"batch_size": (16, "oom")}), budget_s=BUDGET_S)
    assert race.ended
    assert len(race.made) == 1


def test_the_final_blocks_have_the_present_setting_and_reverse_their_order() -> None:
    race = race_of(SPACE, Simulated(seed=1), budget_s=BUDGET_S)
    blocks: dict[int, list[int]] = {}
    for one in race.whole:
        blocks.setdefault(one.block, []).append(SPACE.index(one.setting))
    first, second, *_ = blocks.values()
    assert 0 in first
    assert second == first[::-1]
    assert len(first) <= 4


def test_accuracy_is_not_traded() -> None:
    """A batch of 32 is the fastest, and loses two points, twice the margin."""
    launches = Simulated(seed=1, accuracy={32: 0.88})
    race = race_of(SPACE, launches, budget_s=400.0)
    finalists = judge(race, NOTHING)
    lost = [one for one in finalists if one.setting["batch_size"] == 32]
    assert lost
    assert not any(one.accepted for one in lost)
    assert {one.accuracy_kept for one in lost} == {AccuracyKept.LOWER}
    won = winner(finalists)
    assert won is not None, "the best that keeps the training is among the finalists"
    assert won.setting["batch_size"] != 32


def test_another_batch_is_accepted_where_its_accuracy_is_shown_to_be_kept() -> None:
    won = winner(judge(race_of(SPACE, Simulated(seed=1), budget_s=400.0), NOTHING))
    assert won is not None
    assert won.setting["batch_size"] == 32
    assert won.accuracy_kept == AccuracyKept.EQUIVALENT


def test_goodput_weighs_a_batch_by_the_noise_scale() -> None:
    """By a scale of 8 samples a batch of 32 is worth (8 + 16) / (8 + 32) of one of 16: more than it brings."""
    noise = Interval(8.0, 7.0, 9.0)
    race = race_of(SPACE, Simulated(seed=1), budget_s=300.0, goal="goodput", noise=noise)
    large = next(one for one in race.short if one.setting["batch_size"] == 32)
    assert race.value(large) == pytest.approx(np.log(large.throughput_samples_per_s * 24 / 40))
    won = winner(judge(race, noise))
    assert won is None or won.setting["batch_size"] != 32


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_samplers_of_optuna_launch_no_setting_twice_in_the_first_rung(sampler: str) -> None:
    race = race_of(KEEPING, Simulated(seed=1), budget_s=200.0, sampler=sampler)  # type: ignore[arg-type]
    first = [one for one in race.short if one.rung == 0]
    leaders = len(first) - len({frozenset(one.setting.items()) for one in first})
    assert leaders <= 1 + max(one.block for one in first)
    assert race.spent_s <= 200.0


class BesideLoad(Simulated):
    """Where a block's number is in `blocks`, other load slows the run of the present setting to a third."""

    blocks: frozenset[int] = frozenset()
    marks: bool = True

    def make(self, setting, kind, repeat, *, left_s, rung, block):  # type: ignore[no-untyped-def]
        one = super().make(setting, kind, repeat, left_s=left_s, rung=rung, block=block)
        if kind != "whole" or repeat not in self.blocks or setting != SAME.present:
            return one
        slow = {"throughput_samples_per_s": one.throughput_samples_per_s / 3, "epoch_time_s": one.epoch_time_s * 3}
        return one.model_copy(update=slow | ({"spoiled": ("other_load",)} if self.marks else {}))


SAME = simulated_space({"input.workers": [0, 1], "ddp.bucket_cap_mb": [5, 25]})


@pytest.mark.parametrize("marks", [True, False])
def test_final_blocks_beside_other_load_are_left_out_while_three_others_are_left(marks: bool) -> None:
    """Unmarked, the slow runs of the present setting make another one look three times as fast."""
    launches = BesideLoad(seed=4)
    launches.blocks, launches.marks = frozenset({1, 3}), marks
    race = race_of(SAME, launches, budget_s=600.0)
    best = max(judge(race, NOTHING), key=lambda one: one.blocks)
    made = len({one.block for one in race.whole})
    assert made > LEAST_BLOCKS + 2
    assert best.blocks == made - 2 * marks
    true = exp(true_log(best.setting) - true_log(SAME.present))
    assert (best.gain.low < true < best.gain.high) and (best.gain.high < 1.5 * true) == marks


def test_all_final_blocks_count_where_too_few_others_are_left() -> None:
    launches = BesideLoad(seed=4)
    launches.blocks = frozenset(range(3, 100))
    race = race_of(SAME, launches, budget_s=600.0)
    made = len({one.block for one in race.whole})
    assert {one.blocks for one in judge(race, NOTHING)} <= {made, made - 1}
