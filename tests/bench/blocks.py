"""How often intervals of a speedup include the quiet host's ratio, and how wide they are, on disturbed hosts.

    python -m bench.blocks [--replications 20000]

Each replication is a study of a baseline and one distributed point, its runs in the order of a real plan:
each second repeat in reverse. Three intervals are compared: Student's t on differences within repeats, which the
summary prints; Welch's of independent samples, which it printed until 0.2; and an oracle that knows what the host
did to each run, takes it away, and uses the independent samples.

A second table is of studies whose runs are made until the verdict is decided (study/looks.py): whether the
interval at the end includes the true value, how often the verdict is wrong, and how many repeats it took.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from math import log

import numpy as np
import pandas as pd
from scalestudy.analyse.statistics.blocks import ratio_in_blocks
from scalestudy.analyse.statistics.intervals import ratio_on_logs
from scalestudy.registry.words.percent import percent
from scalestudy.study.config.report import Report
from scalestudy.study.looks import level_of_a_look, looks
from scipy.special import stdtrit

CONFIDENCE = 0.95
REPEATS = (3, 5, 8, 12)
OWN = (0.01, 0.01)
"""Spread of the logarithms of a side's runs on a quiet host: baseline, distributed point."""

EFFICIENCIES = (0.5, 0.7, 0.74, 0.75, 0.76, 0.8, 0.95)
HALF_WIDTH = 0.01

Random = np.random.Generator
Host = Callable[[Random, int, int], np.ndarray]
"""(random numbers, replications, runs) -> what the host adds to the logarithm of each run, in order of
time."""


def quiet(_: Random, studies: int, launches: int) -> np.ndarray:
    return np.zeros((studies, launches))


def drift(random: Random, studies: int, launches: int) -> np.ndarray:
    """A steady slow-down or speed-up over the whole study of up to 2 % a run."""
    return random.uniform(-0.02, 0.02, (studies, 1)) * np.arange(launches)


def walk(random: Random, studies: int, launches: int) -> np.ndarray:
    """A random walk with steps of 2 %."""
    return random.normal(0, 0.02, (studies, launches)).cumsum(axis=1)


def shared(random: Random, studies: int, launches: int) -> np.ndarray:
    """A slow-down with a spread of 5 % that is the same for both runs of a repeat."""
    return random.normal(0, 0.05, (studies, launches // 2)).repeat(2, axis=1)


def bursts(random: Random, studies: int, launches: int) -> np.ndarray:
    """Other work of 10 %, which begins with any run in one case of ten and lasts two runs on average."""
    busy = np.zeros((studies, launches), dtype=bool)
    going = np.zeros(studies, dtype=bool)
    for launch in range(launches):
        going = np.where(going, random.random(studies) < 0.5, random.random(studies) < 0.1)
        busy[:, launch] = going
    return 0.10 * busy


def outliers(random: Random, studies: int, launches: int) -> np.ndarray:
    """One run of ten is slower, by 20 % on average, whichever side it is of."""
    hit = random.random((studies, launches)) < 0.1
    return hit * random.exponential(0.2, (studies, launches))


@dataclass(frozen=True)
class Case:
    name: str
    host: Host
    own: tuple[float, float] = OWN
    failed: float = 0.0
    """Probability that a run fails."""


CASES = (
    Case("quiet", quiet),
    Case("steady drift", drift),
    Case("random walk", walk),
    Case("shared by a repeat", shared),
    Case("bursts", bursts),
    Case("outliers, 10 % of runs", outliers),
    Case("unequal variances, quiet", quiet, own=(0.003, 0.03)),
    Case("unequal variances, shared", shared, own=(0.003, 0.03)),
    Case("15 % of runs fail, shared", shared, failed=0.15),
)


def simulate(case: Case, repeats: int, studies: int, random: Random) -> tuple[np.ndarray, np.ndarray]:
    """(logarithms of runs, what the host added to them), both of shape (2 sides, studies, repeats).

    The true ratio is 1. nan: the run failed.
    """
    added = case.host(random, studies, 2 * repeats).reshape(studies, repeats, 2)
    added[:, 1::2] = added[:, 1::2, ::-1]  # each second repeat in reverse
    own = random.normal(0, 1, (studies, repeats, 2)) * case.own
    values = np.where(random.random(own.shape) < case.failed, np.nan, own + added)
    return np.moveaxis(values, 2, 0), np.moveaxis(added, 2, 0)


def within(sides: np.ndarray, level: float = CONFIDENCE) -> tuple[np.ndarray, np.ndarray]:
    """(difference, half-width) of each study, within repeats."""
    differences = sides[1] - sides[0]
    count = np.isfinite(differences).sum(axis=1)
    spread = np.nanstd(differences, axis=1, ddof=1)
    return np.nanmean(differences, axis=1), stdtrit(count - 1, 0.5 + level / 2) * spread / np.sqrt(count)


def independent(sides: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(difference, half-width) of each study, Welch's."""
    counts = np.isfinite(sides).sum(axis=2)
    squares = np.nanvar(sides, axis=2, ddof=1) / counts
    freedom = squares.sum(axis=0) ** 2 / (squares**2 / (counts - 1)).sum(axis=0)
    means = np.nanmean(sides, axis=2)
    return means[1] - means[0], stdtrit(freedom, 0.5 + CONFIDENCE / 2) * np.sqrt(squares.sum(axis=0))


@dataclass(frozen=True)
class Ends:
    """How studies ended that were looked at until decided; arrays of one value a study."""

    value: np.ndarray
    half: np.ndarray
    repeats: np.ndarray
    settled: np.ndarray


def until_decided(sides: np.ndarray, efficiency: float) -> Ends:
    """Studies of two ranks at this efficiency, of the default looks, target and margin, to +-1 %."""
    schedule, studies = looks(REPEATS[0], REPEATS[-1]), sides.shape[1]
    level = level_of_a_look(CONFIDENCE, len(schedule))
    middle, target = log(2 * efficiency), log(2 * Report().target_efficiency)
    margins = [target + log(1 + sign * Report().target_margin) for sign in (-1, 1)]
    ends = Ends(*(np.full(studies, np.nan) for _ in range(3)), np.zeros(studies, dtype=bool))
    for look in schedule:
        value, half = within(sides[:, :, :look], level)
        value = value + middle
        low, high = value - half, value + half
        near = (low >= margins[0]) & (high <= margins[1])
        settled = (high < 0) | (low >= target) | (high < target) | near | (half <= HALF_WIDTH)
        now = ~ends.settled & (settled | (look == schedule[-1]))
        for mine, found in ((ends.value, value - middle), (ends.half, half), (ends.repeats, look)):
            mine[now] = np.broadcast_to(found, studies)[now]
        ends.settled[~ends.settled & settled] = True
    return ends


def table_until_decided(studies: int, random: Random) -> list[str]:
    """Lines of Markdown: outcomes of the studies of each case and efficiency."""
    lines = [
        "| host | true efficiency | coverage | settled | wrong verdict | repeats, mean |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    target = Report().target_efficiency
    for case in CASES:
        for efficiency in EFFICIENCIES:
            sides, _ = simulate(case, REPEATS[-1], studies, random)
            sides = sides[:, np.isfinite(sides[1] - sides[0])[:, : REPEATS[0]].sum(axis=1) >= 2]
            ends = until_decided(sides, efficiency)
            limits = [log(efficiency / target) + ends.value + sign * ends.half for sign in (-1, 1)]
            said = np.where(limits[0] >= 0, 1, np.where(limits[1] < 0, -1, 0))
            wrong = (said != 0) & (said != (1 if efficiency >= target else -1))
            cells = [
                case.name,
                percent(efficiency),
                percent(np.mean(np.abs(ends.value) <= ends.half), 1),
            ]
            cells += [
                percent(ends.settled.mean()),
                percent(wrong.mean(), 1),
                f"{ends.repeats.mean():.1f}",
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def check(random: Random) -> None:
    """The package's own functions say the same as these, which do all studies at once."""
    sides, _ = simulate(CASES[3], 5, 20, random)
    index = range(1, 6)
    for number in range(20):
        base, mine = (pd.Series(np.exp(side[number]), index=index) for side in sides)
        ours = ratio_in_blocks(mine, base, planned=5, confidence=CONFIDENCE)
        apart = ratio_on_logs(mine.to_numpy(), base.to_numpy(), confidence=CONFIDENCE)
        for found, (value, half) in ((ours, within(sides)), (apart, independent(sides))):
            limits = np.exp([value[number] - half[number], value[number] + half[number]])
            np.testing.assert_allclose((found.low, found.high), limits)


def table(studies: int, random: Random) -> list[str]:
    """Lines of Markdown: coverage and half-width of each case and number of repeats."""
    lines = [
        "| host | repeats | within repeats: coverage | half-width | independent samples: coverage"
        " | half-width | relative to the oracle |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for case in CASES:
        for repeats in REPEATS:
            sides, added = simulate(case, repeats, studies, random)
            # With a single good run of a side, or a single whole repeat, there is no interval.
            usable = np.isfinite(sides[1] - sides[0]).sum(axis=1) >= 2
            sides, added = sides[:, usable], added[:, usable]
            oracle = np.median(independent(sides - added)[1])
            cells = [case.name, str(repeats)]
            for value, half in (within(sides), independent(sides)):
                cells += [percent(np.mean(np.abs(value) <= half), 1), percent(np.median(half), 1)]
            lines.append(f"| {' | '.join(cells)} | {np.median(within(sides)[1]) / oracle:.2f} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=20000)
    studies = parser.parse_args().replications
    random = np.random.default_rng(2026)
    check(random)
    print("\n".join(table(studies, random)), end="\n\n")
    print("\n".join(table_until_decided(studies, random)))


if __name__ == "__main__":
    main()
