"""Whether forecasts of published scaling series keep what they say.

    python -m bench.forecasts           the held-out sources
    python -m bench.forecasts --set     the sources that set the constants
    python -m bench.forecasts --later   the sources that were typed after the constants had been set
    python -m bench.forecasts --last    those that were typed after a growth model had been added
    python -m bench.forecasts --fourth  those that were typed before the limits were calibrated
    python -m bench.forecasts --fifth   those that were typed before the scatter of the overheads was added
    python -m bench.forecasts --sixth   trainings, typed after the method had been frozen
    python -m bench.forecasts --seventh trainings, typed after the sixth set had been evaluated; they set nothing
    python -m bench.forecasts --eighth  trainings, typed after the seventh set had been evaluated; they set nothing

A source is a repository, a paper or a page. Coverage is that of nominal 90 % intervals; in brackets the 90 %
interval of a bootstrap that draws sources. "By source" counts every source once, whatever its number of series.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path

import numpy as np
from scalestudy.analyse.forecast.columns import NoFitError
from scalestudy.analyse.forecast.extrapolate import forecast
from scaling_series import (
    ACROSS_NODES,
    DATA,
    EIGHTH,
    FARTHEST,
    FIFTH,
    FOURTH,
    IN_A_NODE,
    LAST,
    LATER,
    SEVENTH,
    SIXTH,
    Question,
    held_out,
    questions,
)

LEVEL = 0.9
DRAWS = 2000


@dataclass(frozen=True)
class Answer:
    """A forecast against the measured value, on the log scale; or its refusal."""

    question: Question
    refused: str = ""
    off: float = 0.0
    """Measured minus forecast."""
    below: float = 0.0
    above: float = 0.0
    """Distances of the limits from the forecast."""

    @property
    def within(self) -> bool:
        return -self.below <= self.off <= self.above

    @property
    def score(self) -> float:
        """The interval score of Gneiting and Raftery (2007), JASA 102: width, and 2 / alpha times the miss."""
        return interval_score(self.off, self.below, self.above)


def interval_score(off: float, below: float, above: float) -> float:
    missed = max(0.0, off - above) + max(0.0, -below - off)
    return below + above + 2 / (1 - LEVEL) * missed


def answer(question: Question, confidence: float = LEVEL) -> Answer:
    """Return the forecast of a question, or why there is none."""
    try:
        made = forecast(question.known, question.target.place, strong=question.strong, confidence=confidence)
    except NoFitError as error:
        return Answer(question, refused=str(error.columns["refused"]))
    time = made.step_time_s
    off = log(question.target.step_time_s / time.value)
    return Answer(question, off=off, below=log(time.value / time.low), above=log(time.high / time.value))


def naive(question: Question) -> float:
    """Measured minus a straight line through the last two known sizes, both on log scales."""
    (few, many), target = question.known[-2:], question.target
    slope = log(many.step_time_s / few.step_time_s) / log(many.place.ranks / few.place.ranks)
    line = log(many.step_time_s) + slope * log(target.place.ranks / many.place.ranks)
    return log(target.step_time_s) - line


def by_source(pairs: Sequence[tuple[str, float]]) -> float:
    of: dict[str, list[float]] = defaultdict(list)
    for source, value in pairs:
        of[source].append(value)
    return float(np.mean([np.mean(values) for values in of.values()])) if of else float("nan")


def bootstrapped(pairs: Sequence[tuple[str, float]]) -> tuple[float, float]:
    """The 90 % interval of the mean, drawing whole sources."""
    of: dict[str, list[float]] = defaultdict(list)
    for source, value in pairs:
        of[source].append(value)
    sums = np.array([[sum(values), len(values)] for values in of.values()])
    drawn = np.random.default_rng(0).integers(len(sums), size=(DRAWS, len(sums)))
    means = sums[drawn].sum(axis=1)
    low, high = np.quantile(means[:, 0] / means[:, 1], [0.05, 0.95])
    return float(low), float(high)


def conformal(values: Sequence[tuple[str, float]]) -> float:
    """The 90 % quantile of values; a source with n of them has a weight of the square root of n."""
    count = Counter(source for source, _ in values)
    ordered = sorted((value, count[source] ** -0.5) for source, value in values)
    summed = np.cumsum([weight for _, weight in ordered])
    return ordered[int(np.searchsorted(summed, LEVEL * summed[-1]))][0]


def without(source: str, pairs: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    return [pair for pair in pairs if pair[0] != source]


def coverage_line(name: str, found: Sequence[Answer]) -> str:
    pairs = [(one.question.source, float(one.within)) for one in found]
    low, high = bootstrapped(pairs)
    series, sources = len({id(one.question) for one in found}), len({source for source, _ in pairs})
    share = np.mean([value for _, value in pairs])
    each = f"{share:.1%} [{low:.1%}, {high:.1%}], by source {by_source(pairs):.1%}"
    return f"{name:28s} {series:4d} of {sources:2d} sources: {each}"


def tell(chosen: Callable[[str], bool], data: Path = DATA) -> list[Answer]:
    """Print coverage, scores and refusals of the chosen sources; return the answers."""
    asked = [question for question in questions(data) if chosen(question.source)]
    answers = [answer(question) for question in asked]
    near = [one for one in answers if one.question.farther <= FARTHEST]
    within_tier = [one for one in near if one.question.sizes >= 2]
    made = [one for one in answers if not one.refused]
    print(f"{len(asked)} questions, {len({one.source for one in asked})} sources")
    for tier in (IN_A_NODE, ACROSS_NODES):
        mine = [one for one in made if one.question.tier == tier]
        if mine:
            print(coverage_line(tier, mine))
        for sizes, name in ((2, "2 sizes"), (3, "3 sizes"), (4, "4 sizes"), (5, "more sizes")):
            few = [one for one in mine if min(one.question.sizes, 5) == sizes]
            if few:
                print(coverage_line(f"  {tier}, {name}", few))
    for sizes, name in ((2, "2 sizes"), (3, "3 sizes"), (4, "4 sizes"), (5, "more sizes")):
        few = [one for one in made if min(one.question.sizes, 5) == sizes]
        if few:
            print(coverage_line(name, few))
    print(coverage_line("all", made))
    for confidence in (0.5, 0.8, 0.95):
        held = [one for one in (answer(question, confidence) for question in asked) if not one.refused]
        print(coverage_line(f"nominal {confidence:.0%}", held))
    _scores(made)
    answered = np.mean([not one.refused for one in within_tier])
    print(f"answered within a tier up to {FARTHEST} times the size: {answered:.1%} of {len(within_tier)}")
    refused = [one for one in answers if one.refused]
    print("refused:", dict(Counter(one.refused for one in refused)))
    for how, summary in (("mean", np.mean), ("median", np.median)):
        errors = [summary([abs(naive(one.question)) for one in some]) for some in (refused, made)]
        said = f"refused {errors[0]:.3f}, answered {errors[1]:.3f}: {errors[0] / errors[1]:.1f} times"
        print(f"naive error ({how}, log scale): {said}")
    return made


def _scores(made: Sequence[Answer]) -> None:
    """Interval scores: ours, and a naive line with conformal limits of the other sources."""
    lines = [(one.question.source, naive(one.question)) for one in made]
    ours, theirs = [], []
    for one, (source, off) in zip(made, lines, strict=True):
        others = [(other, abs(error)) for other, error in without(source, lines)]
        half = conformal(others) if others else 0.0
        ours.append((source, one.score))
        theirs.append((source, interval_score(off, half, half)))
    for name, pairs in (("forecasts", ours), ("naive line, conformal", theirs)):
        print(f"interval score of {name}: {np.mean([v for _, v in pairs]):.3f}, by source {by_source(pairs):.3f}")
    better = [(source, mine - line) for (source, mine), (_, line) in zip(ours, theirs, strict=True)]
    low, high = bootstrapped(better)
    print(f"difference of the scores: {np.mean([v for _, v in better]):.3f} [{low:.3f}, {high:.3f}]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="store_true", help="the sources that set the constants")
    parser.add_argument("--later", action="store_true", help="the sources that were typed after them")
    parser.add_argument("--last", action="store_true", help="those that were typed after the last change")
    parser.add_argument(
        "--fourth", action="store_true", help="those that were typed before the limits were calibrated"
    )
    parser.add_argument("--fifth", action="store_true", help="those that were typed before the scatter was added")
    parser.add_argument("--sixth", action="store_true", help="trainings, typed after the method had been frozen")
    parser.add_argument(
        "--seventh", action="store_true", help="trainings, typed after the sixth; they set nothing"
    )
    parser.add_argument(
        "--eighth", action="store_true", help="trainings, typed after the seventh; they set nothing"
    )
    arguments = parser.parse_args()
    typed_later = {
        LATER: arguments.later,
        LAST: arguments.last,
        FOURTH: arguments.fourth,
        FIFTH: arguments.fifth,
        SIXTH: arguments.sixth,
        SEVENTH: arguments.seventh,
        EIGHTH: arguments.eighth,
    }
    if chosen := [path for path, asked in typed_later.items() if asked]:
        made = tell(lambda _: True, chosen[0])
    else:
        made = tell((lambda source: not held_out(source)) if arguments.set else held_out)
    sides: dict[str, list[tuple[str, float]]] = {
        "faster than the lower limit": [(one.question.source, float(-one.off > one.below)) for one in made],
        "slower than the upper limit": [(one.question.source, float(one.off > one.above)) for one in made],
    }
    for name, pairs in sides.items():
        print(f"{name}: {np.mean([value for _, value in pairs]):.1%}, by source {by_source(pairs):.1%}")


if __name__ == "__main__":
    main()
