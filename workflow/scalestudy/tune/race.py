"""The search: rungs of short runs that halve the number of settings, then whole runs of a few in common blocks.

A rung adds runs, not steps: on a shared host, a longer run is as uncertain as a short one, because runs scatter
more than the steps within a run. All runs of a block are close in time. The first rung runs new settings one by
one, each chosen from the results of all runs before it, and in each block also the leader again. Each further rung
runs the remaining settings again, close together, and halves them: successive halving. The last few and the
present setting are then trained as in the study, in blocks whose order is reversed in every other block.

Source: Jamieson and Talwalkar (2016), Non-stochastic Best Arm Identification and Hyperparameter Optimization
(successive halving).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import exp, isnan, log
from random import Random
from typing import Protocol

import numpy as np

from scalestudy.tune.model import Goal, Kind, Launched
from scalestudy.tune.prior import log_worth
from scalestudy.tune.sampler import Chooser
from scalestudy.tune.space import Space
from scalestudy.tune.surrogate import Posterior
from scalestudy.tune.target import Setting

NEW_OF_A_BLOCK = 5
"""New settings per block of the first rung, in addition to the leader."""
SURVIVORS = (6, 3)
"""Numbers of settings in the rungs after the first. Those of the last rung go to the final blocks."""
LAUNCHES_OF_RUNG = 2
"""Runs of each setting in such a rung."""
MOST_BLOCKS = 12
"""Largest number of final blocks; they end earlier if everything is decided."""
LEAST_BLOCKS = 3
"""Number of final blocks for which a part of the budget is reserved."""
MOST_KEPT = 0.6
"""Largest share of the budget that is reserved for the final blocks."""
MARGIN = 1.5
"""A run is started only if the remaining budget is this many times the mean of its kind."""
ENDING_S = 2.0
"""Seconds that processes may take to end after a run is stopped."""
FAILED_BELOW = 0.5
"""A setting with a failed run counts as this much worse than the worst run (logarithm)."""


class Launches(Protocol):
    """Makes runs, or takes recorded ones."""

    def is_made(self, setting: Setting, kind: Kind, repeat: int) -> bool:
        """Whether the run was recorded before."""

    def make(self, setting: Setting, kind: Kind, repeat: int, *, left_s: float, rung: int, block: int) -> Launched:
        """The run, repeated once if it was disturbed. left_s: seconds after which it is stopped."""


class BudgetEndedError(Exception):
    """The next run may take more than the remaining budget."""


def no_end(blocks: Sequence[Launched]) -> bool:
    """Never: final blocks go on to MOST_BLOCKS."""
    return False


@dataclass
class Race:
    """A search over a space. All times are device-seconds."""

    space: Space
    launches: Launches
    goal: Goal
    chooser: Chooser
    noise_scale: float
    """Samples; nan if batches are not weighted."""
    budget_s: float
    seed: int
    recorded_s: float = 0.0
    """Total of all runs that were recorded before this search began."""
    decided: Callable[[Sequence[Launched]], bool] = no_end
    """Whether the final blocks so far decide. Called after LEAST_BLOCKS blocks and after each further one."""
    told: Callable[[Launched], None] = lambda one: None
    made: list[Launched] = field(default_factory=list)
    cut_off_s: float = 0.0
    """Time of a run that was stopped at the end of the budget."""
    ended: str = ""
    """Why the search stopped early; '' if it did not."""

    def __post_init__(self) -> None:
        self._random = Random(self.seed)
        self._block = 0
        self._fresh_s = sum(one.device_time_s for one in self.made if one.measured_now)
        self._failed: set[int] = set()

    def run(self) -> None:
        """Make runs until the last setting is decided, or the budget ends."""
        try:
            self._first_rung()
            finalists = self._further_rungs()
        except BudgetEndedError:
            finalists = self._leaders(SURVIVORS[-1])
        with suppress(BudgetEndedError):
            self._final_blocks(finalists)
        if not self.ended and self._is_cut_short(finalists):
            enough_h = 1.2 * (self.spent_s + LEAST_BLOCKS * (SURVIVORS[-1] + 1) * self._expected_s("whole")) / 3600
            enough = f"about {enough_h:.2g} device-hours would be enough" if self.short else "give more"
            self.ended = f"the budget ended before the final blocks were complete; {enough}"

    def _is_cut_short(self, finalists: Sequence[int]) -> bool:
        """Whether the budget ended before anything was compared with the present setting."""
        if not any(finalists):
            return len({self._at(one) for one in self.short}) < 2
        blocks = [one.block for one in self.whole if self._at(one) == 0]
        return len(blocks) < LEAST_BLOCKS and not set(finalists) - {0} <= self._failed

    @property
    def short(self) -> list[Launched]:
        """The runs of the rungs."""
        return [one for one in self.made if one.kind == "short"]

    @property
    def whole(self) -> list[Launched]:
        """The runs of the final blocks."""
        return [one for one in self.made if one.kind == "whole"]

    @property
    def spent_s(self) -> float:
        """Device-seconds of the runs of this search."""
        return sum(one.device_time_s for one in self.made) + self.cut_off_s

    def value(self, one: Launched) -> float:
        """Logarithm of the goal: samples per second times the worth of a sample; nan if not measured."""
        per_s = one.throughput_samples_per_s
        if one.kind == "whole" and one.epoch_time_s > 0:
            per_s = 1 / one.epoch_time_s  # includes the time of an epoch outside its steps
        worth = log_worth(self.space.target, one.setting, self.noise_scale) if self.goal == "goodput" else 0.0
        return log(per_s) + worth if per_s > 0 else float("nan")

    def per_s(self, one: Launched) -> float:
        """Samples per second of the steps of a run, weighted by the goal."""
        worth = log_worth(self.space.target, one.setting, self.noise_scale) if self.goal == "goodput" else 0.0
        return one.throughput_samples_per_s * exp(worth)

    def _first_rung(self) -> None:
        present = 0
        self.chooser.take(present)
        self._launch(present, "short", rung=0)
        if present in self._failed:
            return
        self.chooser.tell(present, self.value(self.made[-1]))
        keep_s = self._kept_s()
        most_s = keep_s + self._rungs_s()
        while self.budget_s - self.spent_s > most_s:
            leader = self._leaders(1)[0]
            at_place = self._random.randrange(NEW_OF_A_BLOCK + 1)
            for place in range(NEW_OF_A_BLOCK + 1):
                if place == at_place and self._block:
                    self._launch(leader, "short", rung=0)
                    continue
                self._observe()
                if (at := self.chooser.next()) is None:
                    return
                self._launch(at, "short", rung=0)
                self.chooser.tell(at, None if at in self._failed else self.value(self.made[-1]))
                if self.budget_s - self.spent_s <= most_s:
                    break
            self._block += 1
        self._observe()

    def _further_rungs(self) -> list[int]:
        keep_s = self._kept_s()
        for rung, many in enumerate(SURVIVORS, 1):
            here = self._leaders(many)
            for _ in range(LAUNCHES_OF_RUNG if len(here) > 1 else 0):
                self._block += 1
                for at in self._random.sample(here, len(here)):
                    if at not in self._failed:
                        self._launch(at, "short", rung=rung, keep_s=keep_s)
            self._observe()
        return self._leaders(SURVIVORS[-1])

    def _final_blocks(self, finalists: Sequence[int]) -> None:
        """Run the final blocks: the present setting and the finalists, in every other block in reverse order."""
        if 0 in self._failed:
            lost = next(one for one in self.made if one.outcome != "ok" or isnan(self.value(one)))
            self.ended = f"the present setting ended as {lost.outcome}: {lost.reason or 'it has no steady steps'}"
            return
        here = [0, *(at for at in finalists if at)]
        if len(here) < 2:
            return
        order = self._random.sample(here, len(here))
        for block in range(MOST_BLOCKS):
            self._block += 1
            for at in order if block % 2 == 0 else order[::-1]:
                if at not in self._failed:
                    self._launch(at, "whole", rung=-1)
            if block + 1 >= LEAST_BLOCKS and self.decided(self.whole):
                return

    def _launch(self, at: int, kind: Kind, *, rung: int, keep_s: float = 0.0) -> None:
        """Make one run of a setting; the setting is excluded if the run fails. Raises BudgetEndedError."""
        setting = self.space.settings[at]
        repeat = 1 + sum(one.kind == kind and one.setting == setting for one in self.made)
        ranks = self.space.target.ranks
        left_s = self.budget_s - self.recorded_s - self._fresh_s - ENDING_S * ranks
        if not self.launches.is_made(setting, kind, repeat):
            if left_s <= MARGIN * self._expected_s(kind):
                raise BudgetEndedError
            if self.budget_s - self.spent_s <= keep_s:
                raise BudgetEndedError
        one = self.launches.make(setting, kind, repeat, left_s=left_s / ranks, rung=rung, block=self._block)
        self._fresh_s += one.device_time_s if one.measured_now else 0.0
        if one.cut_off:
            self.cut_off_s += one.device_time_s
            self.told(one)
            raise BudgetEndedError
        self.made.append(one)
        if one.outcome != "ok" or isnan(self.value(one)):
            self._failed.add(at)
        self.told(one)

    def _expected_s(self, kind: Kind) -> float:
        """Expected device-seconds of a run of a kind: the mean of its runs so far, or an estimate of training."""
        same = [one.device_time_s for one in self.made if one.kind == kind]
        if same:
            return float(np.mean(same))
        return self._whole_s() if kind == "whole" else 0.0

    def _whole_s(self) -> float:
        """Expected device-seconds of a whole run of the present setting."""
        target = self.space.target
        first = next((one for one in self.made if one.kind == "short" and one.throughput_samples_per_s > 0), None)
        if first is None:
            return 0.0
        workload = target.study.workloads[target.workload]
        samples = workload.known_train_samples or 0
        train_s = workload.epochs * samples / first.throughput_samples_per_s
        return first.device_time_s + train_s * target.ranks

    def _kept_s(self) -> float:
        """Device-seconds of the budget that are reserved for the final blocks."""
        return min(LEAST_BLOCKS * (SURVIVORS[-1] + 1) * self._whole_s(), MOST_KEPT * self.budget_s)

    def _rungs_s(self) -> float:
        """Device-seconds for the rungs after the first; at most a third of the budget that is not reserved."""
        mean_s = self._expected_s("short")
        wanted = LAUNCHES_OF_RUNG * sum(SURVIVORS) * mean_s
        return min(wanted, (self.budget_s - self._kept_s()) / 3)

    def _observe(self) -> None:
        known = [one for one in self.short if not isnan(self.value(one)) and one.outcome == "ok"]
        if not known:
            return
        values = [self.value(one) for one in known]
        worst = min(values) - FAILED_BELOW
        lost = [one for one in self.short if one not in known]
        self.chooser.observe(
            [self._at(one) for one in [*known, *lost]],
            [one.block for one in [*known, *lost]],
            [*values, *(worst for _ in lost)],
        )

    def _at(self, one: Launched) -> int:
        return self.space.index(one.setting)

    def _leaders(self, many: int) -> list[int]:
        """Indices of the best settings whose runs completed, the best first.

        If several are returned, they include the best setting that keeps the training, because another batch or
        arithmetic may turn out to cost accuracy.
        """
        self._observe()
        tried = sorted({self._at(one) for one in self.short} - self._failed)
        posterior = self.chooser.posterior
        if posterior is None or not tried:
            return tried[:many]
        ranked = sorted(tried, key=lambda at: -posterior.mean[at])
        found = ranked[:many]
        settings = self.space.settings
        if (
            many > 1
            and len(ranked) > many
            and not any(self.space.keeps_training(settings[at]) for at in found if at)
        ):
            keeping = [at for at in ranked[many:] if at and self.space.keeps_training(settings[at])]
            found = [*found[:-1], *keeping[:1]] if keeping else found
        return found

    @property
    def posterior(self) -> Posterior | None:
        """The posterior of the settings, given all short runs."""
        return self.chooser.posterior
