"""Tests whether a quantity became worse than its limit or not, or how many more runs are needed to decide.

Both answers are one-sided t-tests. `worse`: the mean is shown to be beyond the limit. `within`: it is shown to be
short of it. Together they are two one-sided tests (Schuirmann 1987, J. Pharmacokinetics and Biopharmaceutics 15),
so a 90 % interval that is beyond the limit, or short of it, decides at an error probability of 5 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isnan, nan, sqrt

from scipy.special import stdtr, stdtrit

from scalestudy.analyse.guard.limits import Limit
from scalestudy.analyse.statistics.intervals import Interval, Sample
from scalestudy.analyse.statistics.power import POWER
from scalestudy.registry.codes import Guarded

ERROR = 0.05
"""Probability, over all looks, that a change within its limit is called worse, or one beyond its limit within."""
MOST_RUNS = 1000
"""Largest number of runs of each side that is reported; if more are needed, the difference is at the limit."""


@dataclass(frozen=True)
class Change:
    """How much worse a quantity became: an estimate on the scale of Limit.worsening, positive for worse."""

    value: float
    """nan if either side has no good run."""
    error: float = nan
    """Standard error; nan with fewer than two runs of a side."""
    freedom: float = nan
    """Degrees of freedom of `error`."""
    runs: int = 0
    """Good runs of the side with fewer of them, or number of pairs."""

    def limits(self, alpha: float) -> Interval:
        """The estimate with a one-sided limit of error probability `alpha` on each side."""
        if isnan(self.error):
            return Interval(self.value)
        half = float(stdtrit(self.freedom, 1 - alpha)) * self.error
        return Interval(self.value, self.value - half, self.value + half)

    def beyond(self, limit: float) -> float:
        """p-value of the test that the mean is beyond a limit; nan without an interval."""
        return self._tail(self.value - limit)

    def short_of(self, limit: float) -> float:
        """p-value of the test that the mean is short of a limit; nan without an interval."""
        return self._tail(limit - self.value)

    def _tail(self, distance: float) -> float:
        if isnan(self.error) or isnan(self.value):
            return nan
        if self.error == 0:
            return 0.0 if distance > 0 else 1.0
        return float(stdtr(self.freedom, -distance / self.error))


NOT_MEASURED = Change(nan)


def of_pairs(differences: Sample) -> Change:
    """The mean of differences within pairs of neighbouring runs, one value per pair."""
    count = len(differences.values)
    if not count:
        return NOT_MEASURED
    if differences.freedom < 1:
        return Change(differences.mean, runs=count)
    return Change(differences.mean, sqrt(differences.variance_of_mean), differences.freedom, count)


def of_samples(after: Sample, before: Sample) -> Change:
    """The difference of two independent samples. Source: Welch (1947), Biometrika 34."""
    runs = min(len(after.values), len(before.values))
    if not runs:
        return NOT_MEASURED
    value = after.mean - before.mean
    if after.freedom < 1 or before.freedom < 1:
        return Change(value, runs=runs)
    a, b = after.variance_of_mean, before.variance_of_mean
    if a + b == 0:
        return Change(value, 0.0, after.freedom + before.freedom, runs)
    freedom = (a + b) ** 2 / (a**2 / after.freedom + b**2 / before.freedom)
    return Change(value, sqrt(a + b), freedom, runs)


@dataclass(frozen=True)
class Check:
    """A quantity at a point, with its change and its limit."""

    point: str
    """Name of the point in documents."""
    limit: Limit
    change: Change
    word: Guarded = Guarded.CANNOT_TELL
    alpha: float = nan
    """Error probability of one-sided limits at this look."""
    more: float = nan
    """Further runs of each side that are needed to decide; inf if no number is enough."""
    disturbed: bool = False
    """Whether most of its runs were measured under other load, so that its change shows nothing."""

    @property
    def shown(self) -> Interval:
        """The change on the scale of Limit.change; the interval has a level of 90 % if there is one look."""
        interval = self.change.limits(self.alpha)
        turn = interval.map if self.limit.of.worse > 0 else interval.falling
        return turn(self.limit.change_of)


def decide(tests: Sequence[Check], *, looks: int = 1, before: Mapping[int, Guarded] | None = None) -> list[Check]:
    """The tests with their answers. looks: largest number of looks; the error probability is divided evenly.

    The probability that any test is wrongly called worse, over all tests and looks, is at most ERROR: Holm's
    step-down procedure (Holm 1979, Scandinavian Journal of Statistics 6). `within` needs no such correction: a
    guard passes only if all tests are within, so it is wrong only if a test beyond its limit is called within
    (intersection-union test; Berger 1982, Technometrics 24). before: answers of an earlier look, by index;
    `within` is kept. A disturbed test is neither.
    """
    settled, alpha = before or {}, ERROR / looks
    order = sorted(range(len(tests)), key=lambda at: (isnan(p := _beyond(tests[at])), p))
    worse = set()
    for rank, at in enumerate(order):
        if tests[at].disturbed or not _beyond(tests[at]) <= alpha / (len(tests) - rank):
            break
        worse.add(at)
    return [
        _judged(test, settled.get(at), at in worse, alpha=alpha, count=len(tests)) for at, test in enumerate(tests)
    ]


def _judged(test: Check, settled: Guarded | None, worse: bool, *, alpha: float, count: int) -> Check:
    limit, change = test.limit.worsening, test.change
    more = nan
    if worse:
        word = Guarded.WORSE
    elif test.disturbed and settled is not Guarded.WITHIN:
        word = Guarded.CANNOT_TELL
    elif settled is Guarded.WITHIN or change.short_of(limit) <= alpha:
        word = Guarded.WITHIN
    else:
        word = Guarded.CANNOT_TELL
        more = more_runs(change, limit, alpha=alpha / count if change.value > limit else alpha)
    return replace(test, word=word, alpha=alpha, more=more)


def _beyond(test: Check) -> float:
    return test.change.beyond(test.limit.worsening)


def more_runs(change: Change, limit: float, *, alpha: float) -> float:
    """Further runs of each side with which the test decides in 4 of 5 cases, at the present spread.

    The total n is the smallest with (t(1 - alpha) + t(POWER)) s / sqrt(n) <= |limit - value|, both quantiles at
    the degrees of freedom of n runs. s is the present spread of a run. The result is at least 1; inf if n is more
    than MOST_RUNS; nan if the spread is not known.
    """
    if isnan(change.error):
        return nan
    gap, spread = abs(limit - change.value), change.error * sqrt(change.runs)
    for runs in range(change.runs + 1, MOST_RUNS + 1):
        freedom = change.freedom * (runs - 1) / (change.runs - 1)
        factor = float(stdtrit(freedom, 1 - alpha) + stdtrit(freedom, POWER))
        if factor * spread / sqrt(runs) <= gap:
            return runs - change.runs
    return inf


def overall(tests: Sequence[Check]) -> tuple[Guarded, Check]:
    """(the overall answer, the test that it rests on). `worse` overrides `cannot tell`, which overrides `within`.

    Of several tests that are worse, the one with the smallest p-value; of those that cannot tell, the one that
    needs most runs; of those within, the one nearest to its limit.
    """
    found = {word: [test for test in tests if test.word is word] for word in Guarded}
    if found[Guarded.WORSE]:
        return Guarded.WORSE, min(found[Guarded.WORSE], key=_beyond)
    if found[Guarded.CANNOT_TELL]:
        return Guarded.CANNOT_TELL, max(found[Guarded.CANNOT_TELL], key=_needed)
    return Guarded.WITHIN, max(tests, key=lambda test: test.change.short_of(test.limit.worsening))


def _needed(test: Check) -> tuple[bool, float]:
    return isnan(test.more), test.more
