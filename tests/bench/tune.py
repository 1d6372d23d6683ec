"""Does `scalestudy tune` find the best of a grid, for a quarter of its device time, and more surely than chance?

    python -m bench.tune --folder FOLDER [--passes 3] [--seeds 10] [--live 10] [--minutes 60] [--blocks 10]

1. Grid: all settings of a small network on two ranks, launched once in each pass, each pass in a random order.
2. Replay: a search of each seed, and random search, on the recorded runs of the grid. The r-th launch of a
   setting is that of one pass. A final launch is charged WHOLE times the device time. The budget is a quarter of
   the device time of one pass. Random search runs settings once, in random order, until the budget ends, and
   takes the best. Launches that were neighbours in a search were none in the grid, so that drift does not cancel.
3. Live: the search and random search with runs of their own, as many as the minutes allow.
4. All winners, and the best of the grid's means, are launched again in common blocks. What each search reached is
   the goodput of its winner over that of the grid's winner, within blocks.

It continues from the records in FOLDER. The gradient noise scale is measured once, for all of them, and charged to
none. The study's accuracy margin is 5 points, so that the final blocks do not rule out a batch of which the grid
does not know the accuracy.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scalestudy.analyse.statistics.blocks import difference_in_blocks
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.cli.search.tune_launches import LiveLaunches
from scalestudy.study.config.load import parse_study
from scalestudy.tune.final import decides, judge, winner
from scalestudy.tune.model import Kind, Launched
from scalestudy.tune.prior import Models, log_worth, predictions
from scalestudy.tune.race import Race
from scalestudy.tune.sampler import Chooser, Sampler
from scalestudy.tune.space import Space, make_space
from scalestudy.tune.target import Setting, Target

from bench.harness import MALLOC

STUDY: dict[str, Any] = {
    "study": "tuned",
    "seed": 2026,
    "repeats": 3,
    "scales": ["1x2"],
    "time_limit_min": 1,
    "variants": {"single": {"strategy": "single"}, "ddp": {"strategy": "ddp"}},
    "workloads": {
        "mlp": {
            "model": {"type": "mlp", "hidden_dim": 256, "num_layers": 3},
            "data": {"type": "digits"},
            "optimizer": {"type": "sgd", "learning_rate": 0.05, "momentum": 0.9},
            "batch_size": 16,
            "epochs": 4,
            "scaling": ["strong"],
        }
    },
    "host": {"device": "cpu", "start": "fork", "cores_per_rank": 1, "environment": MALLOC},
    "measure": {"probe_rounds": 2},
    "report": {"accuracy_margin": 0.05},
}
LEVELS: dict[str, list[Any]] = {
    "batch_size": [8, 16, 32],
    "accumulation_steps": [1, 2],
    "precision": ["fp32", "bf16"],
    "ddp.bucket_cap_mb": [0.25, 1, 25],
    "input.workers": [0, 1],
    "sharding": ["ddp", "fsdp-full"],
}
SHARE = 0.25
WHOLE = 1.2
NO_LIMIT_S = 600.0


@dataclass
class Grid:
    """Recorded runs of every setting. at[setting index][pass]."""

    space: Space
    noise: Interval
    launches: list[list[Launched]]

    @property
    def passes(self) -> int:
        return len(self.launches[0])

    def value(self, one: Launched) -> float:
        """Logarithm of the goodput."""
        return log(one.throughput_samples_per_s) + log_worth(self.space.target, one.setting, self.noise.value)

    @property
    def means(self) -> np.ndarray:
        """Mean logarithm of the goodput of each setting over passes."""
        return np.array([np.mean([self.value(one) for one in row]) for row in self.launches])

    def pass_s(self, number: int) -> float:
        """Device-seconds of a pass."""
        return sum(row[number].device_time_s for row in self.launches)


@dataclass
class Replay:
    """Launches of the grid in the place of new ones. order: which pass the r-th launch of a setting is from."""

    grid: Grid
    order: Sequence[int]

    def is_made(self, setting: Setting, kind: Kind, repeat: int) -> bool:
        return False

    def make(self, setting: Setting, kind: Kind, repeat: int, *, left_s: float, rung: int, block: int) -> Launched:
        row = self.grid.launches[self.grid.space.index(setting)]
        one = row[self.order[(repeat - 1) % len(self.order)]]
        taken_s, most_s = (
            one.device_time_s * (WHOLE if kind == "whole" else 1),
            left_s * self.grid.space.target.ranks,
        )
        changes = {"kind": kind, "repeat": repeat, "rung": rung, "block": block, "measured_now": True}
        return one.model_copy(
            update=changes | {"device_time_s": min(taken_s, most_s), "cut_off": taken_s > most_s}
        )


def record_grid(space: Space, folder: Path, passes: int) -> Grid:
    """Launch the grid, or read what of it is recorded."""
    live = LiveLaunches(space, "tuned", folder / "grid", folder / "data")
    look = live.make(space.present, "look", 1, left_s=NO_LIMIT_S, rung=-1, block=-1)
    found: list[list[Launched]] = [[] for _ in space.settings]
    for number in range(1, passes + 1):
        for at in random.Random(number).sample(range(len(space.settings)), len(space.settings)):
            one = live.make(space.settings[at], "short", number, left_s=NO_LIMIT_S, rung=0, block=number)
            assert one.outcome == "ok", one.reason
            found[at].append(one)
    return Grid(space, look.noise_scale_samples, found)


def search(grid: Grid, launches: Any, sampler: Sampler, seed: int, budget_s: float) -> tuple[int, Race]:
    """(index of the winner, the race). Without an answer the winner is the present setting."""
    space = grid.space
    predicted = predictions(space, Models(space.target, None, None), grid.noise.value)
    chooser = Chooser(space, predicted, [True] * len(predicted), sampler=sampler, seed=seed)
    race = Race(space, launches, "goodput", chooser, grid.noise.value, budget_s, seed)
    race.decided = decides(lambda: race, grid.noise)
    race.run()
    won = winner(judge(race, grid.noise))
    return (space.index(won.setting) if won else 0), race


def random_search(grid: Grid, launches: Any, seed: int, budget_s: float) -> tuple[int, float]:
    """(index of the best of settings that are launched once each, in random order, device-seconds spent)."""
    draw, space = random.Random(seed), grid.space
    spent_s, best = 0.0, (-np.inf, 0)
    for at in draw.sample(range(len(space.settings)), len(space.settings)):
        one = launches.make(space.settings[at], "short", 1, left_s=NO_LIMIT_S, rung=0, block=0)
        if spent_s + one.device_time_s > budget_s:
            break
        spent_s += one.device_time_s
        best = max(best, (grid.value(one), at))
    return best[1], spent_s


def in_blocks(grid: Grid, winners: Sequence[int], blocks: int, folder: Path) -> pd.DataFrame:
    """Logarithm of the goodput of these settings, a row a block, launched again; every second block in reverse."""
    place = folder / f"again-{'-'.join(map(str, winners))}"  # runs of other winners were not next to these in time
    live = LiveLaunches(grid.space, "tuned", place, folder / "data")
    order = random.Random(7).sample(list(winners), len(winners))
    rows = []
    for block in range(1, blocks + 1):
        made = {}
        for at in order if block % 2 else order[::-1]:
            one = live.make(grid.space.settings[at], "short", block, left_s=NO_LIMIT_S, rung=0, block=block)
            made[at] = grid.value(one) if one.throughput_samples_per_s > 0 else nan
        rows.append(pd.Series(made, name=block))
    return pd.DataFrame(rows)


def summary(name: str, winners: Sequence[int], again: pd.DataFrame, best: int) -> str:
    """A line of the table: what the winners of the seeds reach of the grid's winner, launched again."""
    reached = sorted(exp(float((again[at] - again[best]).mean())) for at in winners)
    kept = sum(one >= 0.97 for one in reached)
    cells = [
        name,
        str(len(reached)),
        f"{np.median(reached):.1%}",
        f"{reached[0]:.1%}",
        f"{kept} of {len(reached)}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where launches are recorded")
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--live", type=int, default=0, help="searches with launches of their own")
    parser.add_argument("--minutes", type=float, default=60, help="begin no further live search after so long")
    parser.add_argument("--blocks", type=int, default=10)
    arguments = parser.parse_args()
    target = Target.of(parse_study(STUDY, source="bench"), "mlp", "ddp", "1x2")
    grid = record_grid(make_space(target, levels=LEVELS), arguments.folder, arguments.passes)
    settings, seeds = grid.space.settings, range(1, arguments.seeds + 1)
    budget_s = SHARE * min(grid.pass_s(number) for number in range(grid.passes))
    print(
        f"{len(settings)} settings, noise scale {grid.noise.value:.4g} samples,"
        f" budget {budget_s:.0f} device-seconds"
    )
    for number in range(grid.passes):
        print(f"pass {number + 1}: {grid.pass_s(number):.0f} device-seconds")

    found: dict[str, list[int]] = {}
    for sampler in ("model", "tpe", "random"):
        name = {"model": "tune", "tpe": "tune, TPE", "random": "tune, random sampler"}[sampler]
        orders = {seed: random.Random(seed).sample(range(grid.passes), grid.passes) for seed in seeds}
        races = [search(grid, Replay(grid, orders[seed]), sampler, seed, budget_s) for seed in seeds]  # type: ignore[arg-type]
        found[f"{name}, replayed"] = [at for at, _ in races]
        print(f"{name}: spent {max(race.spent_s for _, race in races) / budget_s:.1%} of the budget at the most")
    replays = (Replay(grid, orders[seed]) for seed in seeds)
    found["random search, replayed"] = [
        random_search(grid, replay, seed, budget_s)[0] for seed, replay in zip(seeds, replays, strict=True)
    ]
    end = time.monotonic() + 60 * arguments.minutes
    for name in ("tune, live", "random search, live"):
        lived = []
        for seed in seeds[: arguments.live]:
            if time.monotonic() > end:
                break
            place = arguments.folder / f"{'live' if name == 'tune, live' else 'random'}-{seed}"
            live = LiveLaunches(grid.space, "tuned", place, arguments.folder / "data")
            if name == "tune, live":
                at, race = search(grid, live, "model", seed, budget_s)
                spent_s = race.spent_s
            else:
                at, spent_s = random_search(grid, live, seed, budget_s)
            lived.append(at)
            print(f"{name} {seed}: {spent_s:.0f} device-seconds: {grid.space.name(settings[at])}", flush=True)
        if lived:
            found[name] = lived

    best = int(np.argmax(grid.means))
    again = in_blocks(
        grid, sorted({best, *(at for of in found.values() for at in of)}), arguments.blocks, arguments.folder
    )
    print(f"best of the grid's means: {grid.space.name(settings[best])}")
    for at in again.mean().sort_values(ascending=False).index:
        ratio = difference_in_blocks(again[at], again[best], planned=len(again), confidence=0.95).map(exp)
        print(f"  {ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}] {grid.space.name(settings[at])}")
    print("| search | seeds | median of the grid's goodput | lowest | at least 97 % |")
    print("| --- | --- | --- | --- | --- |")
    for name, winners in found.items():
        print(summary(name, winners, again, best))


if __name__ == "__main__":
    main()
