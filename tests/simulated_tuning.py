"""Runs with a known true goodput, a drift of the host and scatter between runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp, nan, sin
from random import Random
from typing import Any

from scalestudy.analyse.statistics.intervals import NOTHING, Interval
from scalestudy.study.config.load import parse_study
from scalestudy.tune.final import decides
from scalestudy.tune.model import Goal, Kind, Launched
from scalestudy.tune.prior import Models, hopeful, predictions
from scalestudy.tune.race import Race
from scalestudy.tune.sampler import Chooser, Sampler
from scalestudy.tune.space import Space, make_space
from scalestudy.tune.target import Setting, Target

STUDY: dict[str, Any] = {
    "study": "simulated",
    "repeats": 2,
    "scales": ["1x2"],
    "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
    "workloads": {
        "mlp": {
            "model": {"type": "mlp", "hidden_dim": 16, "num_layers": 1},
            "data": {"type": "digits"},
            "optimizer": {"type": "sgd", "learning_rate": 0.05, "learning_rate_scaling": "sqrt"},
            "batch_size": 16,
            "epochs": 2,
        }
    },
    "host": {"device": "cpu"},
}
LEVELS: dict[str, list[Any]] = {
    "batch_size": [8, 16, 32],
    "accumulation_steps": [1, 2, 4],
    "precision": ["fp32", "bf16"],
    "ddp.bucket_cap_mb": [1, 5, 25],
    "input.workers": [0, 1],
    "sharding": ["ddp", "fsdp-full"],
}
EFFECTS: Mapping[str, Mapping[Any, float]] = {
    "batch_size": {8: -0.4, 16: 0.0, 32: 0.3},
    "accumulation_steps": {1: 0.0, 2: -0.15, 4: -0.4},
    "precision": {"fp32": 0.0, "bf16": 0.1},
    "ddp.bucket_cap_mb": {1: -0.1, 5: 0.06, 25: 0.0},
    "input.workers": {0: 0.0, 1: -0.25},
    "sharding": {"ddp": 0.0, "fsdp-full": -1.5},
}
"""Effect of each level on the logarithm of the throughput. Effects add up, except for a term per setting."""


def simulated_space(levels: Mapping[str, list[Any]] = LEVELS, **study: Any) -> Space:
    """Return the space of the simulated study, with only these keys."""
    target = Target.of(parse_study({**STUDY, **study}, source="test"), "mlp", "ddp", "1x2")
    return make_space(target, levels=levels, hold=set(LEVELS) - set(levels))


def true_log(setting: Setting) -> float:
    """Return the logarithm of the true throughput relative to the plain setting."""
    own = Random(repr(sorted(setting.items()))).gauss(0, 0.02)
    return sum(EFFECTS[key].get(value, 0.0) for key, value in setting.items()) + own


@dataclass
class Simulated:
    """Runs of at least two device-seconds."""

    seed: int
    drift: float = 0.1
    """Amplitude of a slow wave of the host, in the logarithm."""
    noise: float = 0.03
    """Standard deviation between runs, in the logarithm."""
    fails: Mapping[str, tuple[Any, str]] = field(default_factory=dict)
    """Key -> (value, outcome): every run with this value has this outcome."""
    accuracy: Mapping[int, float] = field(default_factory=dict)
    """Batch -> validation accuracy; 0.9 for other batches."""
    dies_after: int = 10**9
    """Number of runs after which the process is killed."""
    recorded: dict[tuple[Any, ...], Launched] = field(default_factory=dict)
    """Runs, as in the folder of a search."""
    fresh: list[tuple[Any, ...]] = field(default_factory=list)
    """Number of runs that were made rather than found."""

    def key(self, setting: Setting, kind: Kind, repeat: int) -> tuple[Any, ...]:
        return (tuple(sorted(setting.items())), kind, repeat)

    def is_made(self, setting: Setting, kind: Kind, repeat: int) -> bool:
        return self.key(setting, kind, repeat) in self.recorded

    @property
    def device_time_s(self) -> float:
        return sum(one.device_time_s for one in self.recorded.values())

    def make(self, setting: Setting, kind: Kind, repeat: int, *, left_s: float, rung: int, block: int) -> Launched:
        key = self.key(setting, kind, repeat)
        if key in self.recorded:
            return self.recorded[key].model_copy(update={"measured_now": False})
        if len(self.fresh) >= self.dies_after:
            raise KeyboardInterrupt
        self.fresh.append(key)
        random = Random(f"{self.seed} {key}")
        number = len(self.recorded)
        log = true_log(setting) + self.drift * sin(number / 7) + random.gauss(0, self.noise)
        outcome = next((how for name, (value, how) in self.fails.items() if setting.get(name) == value), "ok")
        per_s = 1000 * exp(log) if outcome == "ok" else nan
        taken_s = 2 * (0.5 + (0 if outcome != "ok" else 500 / per_s) + (1.0 if kind == "whole" else 0))
        cut_off = taken_s > 2 * left_s
        one = Launched(
            setting=dict(setting),
            kind=kind,
            repeat=repeat,
            rung=rung,
            block=block,
            run_id=f"run-{number}",
            outcome="timeout" if cut_off else outcome,
            reason="" if outcome == "ok" else "simulated",
            throughput_samples_per_s=per_s,
            epoch_time_s=1437 / per_s if kind == "whole" else nan,
            validation_accuracy=self._accuracy(setting, random) if kind == "whole" else nan,
            noise_scale_samples=NOTHING,
            device_time_s=min(taken_s, 2 * left_s),
            measured_now=True,
            cut_off=cut_off,
        )
        if not cut_off:
            self.recorded[key] = one
        return one

    def _accuracy(self, setting: Setting, random: Random) -> float:
        return self.accuracy.get(setting.get("batch_size", 16), 0.9) + random.gauss(0, 0.001)


def race_of(
    space: Space,
    launches: Simulated,
    *,
    budget_s: float,
    seed: int = 1,
    goal: Goal = "epoch_time",
    sampler: Sampler = "model",
    noise: Interval = NOTHING,
) -> Race:
    """Run a search and return it."""
    models = Models(space.target, None, None)
    weighs = noise.value if goal == "goodput" else nan
    predicted = predictions(space, models, weighs)
    chooser = Chooser(space, predicted, hopeful(space, models, predicted), sampler=sampler, seed=seed)
    race = Race(space, launches, goal, chooser, weighs, budget_s, seed, recorded_s=launches.device_time_s)
    race.decided = decides(lambda: race, noise)
    race.run()
    return race
