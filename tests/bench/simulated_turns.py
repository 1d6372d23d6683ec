"""Speedups within runs on disturbed hosts: how often intervals include the true value, and how wide they are.

    python -m bench.simulated_turns [--replications 20000]

The hosts of bench.blocks, looked at in shorter pieces: a run lasts LAUNCH_BLOCKS blocks of time, and in the
second half of a distributed one the baseline takes turns with it. What the host does to a block is added to the
logarithm of its step time. A run's speedup is the ratio of the medians of its blocks; the interval is Student's
t over runs. The oracle is that of bench.blocks: runs of both sides, with what the host added taken away.

Other work slows both sides alike, or the distributed blocks only: two ranks have two cores on which somebody else
may run. What slows one side biases the ratio. So a run leaves out rounds in which a rank waited for a core
(measure/quiet.py): a third case has them left out, and runs that have no other.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from scalestudy.registry.words.percent import percent
from scipy.special import stdtrit

from bench.blocks import CONFIDENCE, OWN, Random, independent

REPEATS = (3, 5, 8, 12)
LAUNCH_BLOCKS = 24
ROUND = (0, 1, 1, 0)
"""Sides of the blocks of a round: baseline, distributed, distributed, baseline."""
ROUNDS = 3

Host = Callable[[Random, int, int], np.ndarray]
"""(random numbers, studies, repeats) -> (studies, runs, LAUNCH_BLOCKS): what the host adds, in order of
time."""


def quiet(_: Random, studies: int, repeats: int) -> np.ndarray:
    return np.zeros((studies, 2 * repeats, LAUNCH_BLOCKS))


def _over_time(values: np.ndarray) -> np.ndarray:
    """One value a block, one after another, as blocks of runs."""
    return values.reshape(len(values), -1, LAUNCH_BLOCKS)


def drift(random: Random, studies: int, repeats: int) -> np.ndarray:
    """Up to 2 % a run."""
    slope = random.uniform(-0.02, 0.02, (studies, 1)) / LAUNCH_BLOCKS
    return _over_time(slope * np.arange(2 * repeats * LAUNCH_BLOCKS))


def walk(random: Random, studies: int, repeats: int) -> np.ndarray:
    """Steps that come to 2 % from launch to launch."""
    steps = random.normal(0, 0.02 / np.sqrt(LAUNCH_BLOCKS), (studies, 2 * repeats * LAUNCH_BLOCKS))
    return _over_time(steps.cumsum(axis=1))


def shared(random: Random, studies: int, repeats: int) -> np.ndarray:
    """5 %, the same for both runs of a repeat."""
    return random.normal(0, 0.05, (studies, repeats)).repeat(2, axis=1)[:, :, None].repeat(LAUNCH_BLOCKS, axis=2)


def bursts(random: Random, studies: int, repeats: int) -> np.ndarray:
    """Other work of 10 % that lasts two runs on average; it begins during one run of ten."""
    blocks = 2 * repeats * LAUNCH_BLOCKS
    busy, going = np.zeros((studies, blocks), dtype=bool), np.zeros(studies, dtype=bool)
    for block in range(blocks):
        drawn = random.random(studies)
        going = np.where(going, drawn >= 0.5 / LAUNCH_BLOCKS, drawn < 0.1 / LAUNCH_BLOCKS)
        busy[:, block] = going
    return _over_time(0.10 * busy)


def outliers(random: Random, studies: int, repeats: int) -> np.ndarray:
    """One run of ten is slower, by 20 % on average."""
    hit = random.random((studies, 2 * repeats, 1)) < 0.1
    return (hit * random.exponential(0.2, hit.shape)).repeat(LAUNCH_BLOCKS, axis=2)


HOSTS: dict[str, Host] = {
    "quiet": quiet,
    "steady drift": drift,
    "random walk": walk,
    "shared by a repeat": shared,
    "bursts": bursts,
    "outliers, 10 % of runs": outliers,
}
OTHER_WORK = (bursts, outliers)


SLOWS = ("both sides", "distributed steps", "distributed steps, noticed")


def log_speedups(host: Host, slows: str, repeats: int, studies: int, random: Random) -> np.ndarray:
    """Logarithm of the ratio of every distributed run, (studies, repeats); the true ratio is 1.

    slows: which steps, of SLOWS. nan: a run without a round that counts.
    """
    added = host(random, studies, repeats).reshape(studies, repeats, 2, LAUNCH_BLOCKS)
    places = np.where(np.arange(repeats) % 2, 0, 1)  # each second repeat in reverse
    distributed = added[:, np.arange(repeats), places]
    turns = distributed[:, :, -ROUNDS * len(ROUND) :].reshape(studies, repeats, ROUNDS, len(ROUND))
    own = random.normal(0, np.hypot(*OWN), (studies, repeats))
    sides = np.array(ROUND)
    if slows == "distributed steps, noticed":
        turns = np.where((turns[..., sides == 1] > 0).any(axis=3, keepdims=True), np.nan, turns)
    base, mine = (turns[..., sides == side].reshape(studies, repeats, -1) for side in (0, 1))
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # of runs without a round
        added_to_base = np.nanmedian(base, axis=2) if slows == "both sides" else 0.0
        return np.asarray(own + np.nanmedian(mine, axis=2) - added_to_base)


def table(studies: int, random: Random) -> list[str]:
    """Lines of Markdown: coverage, half-width and its ratio to the oracle's."""
    lines = [
        "| host | slows | runs | coverage | half-width | relative to the oracle |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, host in HOSTS.items():
        for slows in SLOWS if host in OTHER_WORK else SLOWS[:1]:
            for repeats in REPEATS:
                values = log_speedups(host, slows, repeats, studies, random)
                counts = np.isfinite(values).sum(axis=1)
                values, counts = values[counts >= 2], counts[counts >= 2]
                factors = stdtrit(counts - 1, 0.5 + CONFIDENCE / 2)
                half = factors * np.nanstd(values, axis=1, ddof=1) / np.sqrt(counts)
                sides = random.normal(0, 1, (2, studies, repeats)) * np.reshape(OWN, (2, 1, 1))
                ratio = np.median(half) / np.median(independent(sides)[1])
                held = np.mean(np.abs(np.nanmean(values, axis=1)) <= half)
                cells = [
                    name,
                    slows,
                    str(repeats),
                    percent(held, 1),
                    percent(np.median(half), 1),
                    f"{ratio:.2f}",
                ]
                lines.append(f"| {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=20000)
    studies = parser.parse_args().replications
    print("\n".join(table(studies, np.random.default_rng(2026))))


if __name__ == "__main__":
    main()
