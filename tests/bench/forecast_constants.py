"""The constants of forecasts' discrepancy (analyse/forecast/discrepancy.py), from published scaling series.

    python -m bench.forecast_constants        the constants of the package
    python -m bench.forecast_constants --all  the same with the seventh and the eighth set, as a check

The series of the first six sets are pooled (scaling_series.csv to _sixth); the seventh and the eighth are left
out. A cell is one side of one tier. For each floor of a grid, the share is the conformal quantile of the shares
that the questions need, and at least LEAST_SCALE / floor. Its level is 95 % times (n + 1) / n with n sources, and
a source with m questions has a weight of the square root of m, so that no cell is fitted to one source. The floor
with the smallest pinball loss is taken. The other side has the scale of the package, so the constants there are
those of a repeated run.
Then a tenth of the sources at a time is left out of this whole calibration, and the coverage of its questions
is printed, also by tier and number of sizes.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from pathlib import Path

import numpy as np
from scalestudy.analyse.forecast.columns import NoFitError
from scalestudy.analyse.forecast.discrepancy import (
    ACROSS_NODES,
    FREEDOM,
    IN_A_NODE,
    NOISE,
    WIDEST,
    Side,
    Sides,
    discrepancy,
)
from scalestudy.analyse.forecast.extrapolate import models_at
from scaling_series import ACROSS_NODES as ACROSS
from scaling_series import DATA, EIGHTH, FIFTH, FOURTH, LAST, LATER, SEVENTH, SIXTH, Question, questions
from scipy.special import stdtr

from bench.forecasts import bootstrapped, by_source, interval_score

POOLED = (DATA, LATER, LAST, FOURTH, FIFTH, SIXTH)
FLOORS = (0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.18)
LEVELS = {"faster": 0.05, "slower": 0.95}
PARTS = 10
LARGEST_SHARE, BISECTIONS = 50.0, 40
LEAST_SCALE = 0.008
"""Least scale of a doubling, floor times share: errors of tables are assumed and cannot show a smaller one.

With less the limits of simulated tables of a known law hold less than 90 % (test_forecasts.py).
"""


@dataclass(frozen=True)
class Cases:
    """Questions that can be answered, as arrays with a row each; the columns are growth models."""

    asked: list[Question]
    measured: np.ndarray
    """Step time, minus the first model's prediction, on the log scale."""
    places: np.ndarray
    weights: np.ndarray
    errors: np.ndarray
    beyond: dict[float, np.ndarray]
    """For each floor, the scale of a share of 1."""
    other: dict[str, np.ndarray]
    """For each side, the package's scale of it."""

    @property
    def sources(self) -> np.ndarray:
        return np.array([question.source for question in self.asked])

    @property
    def across(self) -> np.ndarray:
        return np.array([question.tier == ACROSS for question in self.asked])

    def scale(self, floor: float) -> np.ndarray:
        """The scales of all models for a share of 1."""
        return np.asarray(np.hypot(NOISE * self.errors, self.beyond[floor][:, None]))

    def below(self, value: np.ndarray, side: str, floor: float, share: np.ndarray) -> np.ndarray:
        """The probability of less than a value, if this side has a floor and a share."""
        away = value[:, None] - self.places
        mine = away < 0 if side == "faster" else away > 0
        scale = np.where(mine, self.scale(floor) * share[:, None], self.other[side])
        return np.asarray((self.weights * stdtr(FREEDOM, away / scale)).sum(axis=1))

    def needed(self, side: str, floor: float) -> np.ndarray:
        """The smallest share with which the limit of a side includes the measured value."""
        low, high = np.full(len(self.asked), 1e-6), np.full(len(self.asked), LARGEST_SHARE)
        for _ in range(BISECTIONS):
            middle = np.sqrt(low * high)
            found = self.below(self.measured, side, floor, middle)
            outside = found < LEVELS[side] if side == "faster" else found > LEVELS[side]
            low, high = np.where(outside, middle, low), np.where(outside, high, middle)
        return np.asarray(high)

    def limit(self, side: str, floor: float, share: np.ndarray) -> np.ndarray:
        """The limit of a side, log scale."""
        far = 20 * (self.scale(floor).max(axis=1) * share + self.other[side].max(axis=1))
        low, high = self.places.min(axis=1) - far, self.places.max(axis=1) + far
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            under = self.below(middle, side, floor, share) < LEVELS[side]
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        return np.asarray((low + high) / 2)


@dataclass(frozen=True)
class Row:
    """A question and its growth models."""

    question: Question
    places: list[float]
    weights: list[float]
    errors: list[float]
    beyond: dict[float, float]
    sides: Sides


def cases(paths: tuple[Path, ...] = POOLED) -> Cases:
    rows = list(_rows(paths))
    width = max(len(row.places) for row in rows)

    def padded(values: list[float], by: float) -> list[float]:
        return [*values, *[by] * (width - len(values))]

    errors = np.array([padded(row.errors, 1.0) for row in rows])
    others: dict[str, list[np.ndarray]] = {side: [] for side in LEVELS}
    for row, error in zip(rows, errors, strict=True):
        for side, opposite in (("faster", row.sides.slower), ("slower", row.sides.faster)):
            others[side].append(opposite.share * np.hypot(NOISE * error, row.beyond[opposite.floor]))
    return Cases(
        [row.question for row in rows],
        np.array([log(row.question.target.step_time_s) for row in rows]),
        np.array([padded(row.places, row.places[0]) for row in rows]),
        np.array([padded(row.weights, 0.0) for row in rows]),
        errors,
        {floor: np.array([row.beyond[floor] for row in rows]) for floor in FLOORS},
        {side: np.array(scales) for side, scales in others.items()},
    )


def _rows(paths: tuple[Path, ...]) -> Iterator[Row]:
    for question in (question for path in paths for question in questions(path)):
        strong = question.strong
        try:
            laws, scales, size = models_at(question.known, question.target.place, strong=strong)
        except NoFitError:
            continue
        sides = ACROSS_NODES if question.tier == ACROSS else IN_A_NODE
        floors = {*FLOORS, sides.faster.floor, sides.slower.floor}
        yield Row(
            question,
            [log(item.fit.step_time_s(size)) for item in laws],
            [item.weight for item in laws],
            [item.fit.error(size) for item in laws],
            {floor: discrepancy(scales, size, Side(floor, 1), strong=strong) for floor in floors},
            sides,
        )


def weight(sources: np.ndarray) -> np.ndarray:
    _, place, count = np.unique(sources, return_inverse=True, return_counts=True)
    return np.asarray(count[place] ** -0.5)


def conformal(values: np.ndarray, sources: np.ndarray, level: float = 0.95) -> float:
    """The quantile of values that holds the next source's, with weights."""
    count = len(set(sources))
    order, weights = np.argsort(values), weight(sources)
    summed = np.cumsum(weights[order])
    wanted = min(1.0, level * (count + 1) / count) * summed[-1]
    return float(values[order][min(len(values) - 1, int(np.searchsorted(summed, wanted)))])


def calibrated(found: Cases, chosen: np.ndarray, side: str, needed: dict[tuple[str, float], np.ndarray]) -> Side:
    """Floor and share of a side, from the chosen questions."""
    best: tuple[float, Side] | None = None
    level, weights = LEVELS[side], np.zeros(len(chosen))
    weights[chosen] = weight(found.sources[chosen])
    for floor in FLOORS:
        share = max(LEAST_SCALE / floor, conformal(needed[side, floor][chosen], found.sources[chosen]))
        off = found.measured - found.limit(side, floor, np.full(len(chosen), share))
        loss = float((weights * np.maximum(level * off, (level - 1) * off))[chosen].sum())
        if best is None or loss < best[0]:
            best = loss, Side(floor, share)
    assert best is not None
    return best[1]


def part(source: str) -> int:
    return hashlib.sha256(f"scalestudy-parts:{source}".encode()).digest()[0] % PARTS


def left_out(found: Cases, needed: dict[tuple[str, float], np.ndarray]) -> np.ndarray:
    """Both limits of every question, log scale, calibrated without a tenth of the sources that has its own."""
    parts = np.array([part(source) for source in found.sources])
    limits = np.zeros((2, len(parts)))
    for number in range(PARTS):
        for across in (False, True):
            mine = (parts == number) & (found.across == across)
            rest = (parts != number) & (found.across == across)
            for row, side in enumerate(LEVELS):
                set_to = calibrated(found, rest, side, needed)
                limit = found.limit(side, set_to.floor, np.full(len(parts), set_to.share))
                limits[row, mine] = limit[mine]
    return limits


def tell(name: str, found: Cases, chosen: np.ndarray, limits: np.ndarray) -> None:
    sources = found.sources[chosen]
    below, above = (found.measured - limits)[:, chosen]
    within = [(source, float(low >= 0 >= high)) for source, low, high in zip(sources, below, above, strict=True)]
    low, high = bootstrapped(within)
    share, each = np.mean([value for _, value in within]), by_source(within)
    print(
        f"{name:16s} {len(within):4d} of {len(set(sources)):2d} sources: {share:.1%} [{low:.1%}, {high:.1%}]",
        end="",
    )
    print(f", by source {each:.1%}; faster {np.mean(below < 0):.1%}, slower {np.mean(above > 0):.1%}", end="")
    middle = limits[:, chosen].mean(axis=0)
    scores = [
        interval_score(off, half, half)
        for off, half in zip(
            found.measured[chosen] - middle, np.diff(limits[:, chosen], axis=0)[0] / 2, strict=True
        )
    ]
    print(f"; interval score {np.mean(scores):.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="with the sets that set nothing, as a check")
    found = cases((*POOLED, SEVENTH, EIGHTH) if parser.parse_args().all else POOLED)
    needed = {(side, floor): found.needed(side, floor) for side in LEVELS for floor in FLOORS}
    for name, across in (("IN_A_NODE", False), ("ACROSS_NODES", True)):
        chosen = found.across == across
        sides = Sides(*(calibrated(found, chosen, side, needed) for side in LEVELS))
        print(f"{name}, {chosen.sum()} questions of {len(set(found.sources[chosen]))} sources: {sides}")
    limits = left_out(found, needed)
    answered = np.diff(limits, axis=0)[0] <= log(WIDEST)
    strong = np.array([question.strong for question in found.asked])
    sizes = np.array([min(question.sizes, 4) for question in found.asked])
    farther = np.array([question.farther for question in found.asked])
    print("Coverage of 90 % limits, each source by constants that were calibrated without it:")
    groups = {
        "all": np.ones(len(strong), bool),
        "in a node": ~found.across,
        "in a node, strong": ~found.across & strong,
        "in a node, weak": ~found.across & ~strong,
        "across nodes": found.across,
        **{f"{size} sizes": sizes == size for size in (2, 3)},
        "4 and more": sizes == 4,
        **{f"in a node, {size}": ~found.across & (sizes == size) for size in (2, 3, 4)},
        **{f"across nodes, {size}": found.across & (sizes == size) for size in (2, 3, 4)},
        "up to twice": farther <= 2,
        "farther": farther > 2,
    }
    for name, group in groups.items():
        tell(name, found, group & answered, limits)
    print(f"answered: {answered.mean():.1%}")


if __name__ == "__main__":
    main()
