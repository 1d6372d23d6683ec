"""How well the measurements support a cause: the probability that its quantity is beyond its threshold.

An interval over runs is Student's t: value +- t(level, runs - 1) standard errors
(analyse/statistics/intervals.py). The support is the share of that distribution beyond the threshold. So a
one-sided limit at confidence p excludes the threshold exactly if the support is above p.

A quantity without limits is taken to be as uncertain as the step that it is a part of: it gets the standard error
of the step time. The step time of a single run has ASSUMED_ERROR, as in forecasts. Threads, samples and settings
are counted: they have no error, and no support is computed for them.
"""

from math import inf, isnan, log

from scalestudy.analyse.forecast.fit import ASSUMED_ERROR
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.case import Case

DOUBT = 0.05
"""Support below which a cause is ruled out. Above 1 - DOUBT it is clear; in between it is near its threshold.

If the true quantity of a cause is at or beyond its threshold, the support is below DOUBT in at most this share
of repetitions, so the cause is missed in at most 1 of 20. Likewise, a cause whose true quantity is short of its
threshold is clear in at most 1 of 20.
"""


def beyond(case: Case, quantity: Interval, threshold: float, *, whole: float | None = None) -> float:
    """Probability (0 to 1) that a quantity is at or beyond its threshold; 0 if it was not measured.

    quantity, threshold: in the same unit. whole: the total that the quantity is a part of, in that unit; by
    default the step time in seconds. The threshold has no error. Of asymmetric limits, the one towards the
    threshold is used.
    """
    if isnan(quantity.value):
        return 0.0
    away = quantity.value - threshold
    limit = quantity.low if away > 0 else quantity.high
    if isnan(limit):
        part_of = float(case.point["step_time_s"]) if whole is None else whole
        error, freedom = _relative_error(case)
        return _share_below(away, part_of * error, freedom)
    return _share_below(away, _standard_error(case, abs(limit - quantity.value)), _freedom(case))


def beyond_on_logs(case: Case, quantity: Interval, threshold: float) -> float:
    """The same for a positive quantity whose interval was computed on the logarithm, such as an efficiency."""
    if isnan(quantity.value):
        return 0.0
    away = log(quantity.value / threshold)
    limit = quantity.low if away > 0 else quantity.high
    if isnan(limit) or limit <= 0:
        return _share_below(away, *_relative_error(case))
    return _share_below(away, _standard_error(case, abs(log(limit / quantity.value))), _freedom(case))


def is_possible(support: float) -> bool:
    """Whether a cause with this support is not ruled out."""
    return support >= DOUBT


def is_clear(support: float) -> bool:
    """Whether a cause with this support is not near its threshold."""
    return support > 1 - DOUBT


def _freedom(case: Case) -> float:
    """Degrees of freedom of an interval over runs; infinite for a single run, whose limits are over rounds."""
    launches = min(int(case.point["launches_ok"]), case.study.repeats_for_spread)
    return launches - 1 if launches > 1 else inf


def _standard_error(case: Case, half_width: float) -> float:
    """Standard error of a mean from the half-width of its interval, in the same unit."""
    from scipy.special import stdtrit  # imported here: documents import this module but compute no support

    return half_width / float(stdtrit(_freedom(case), 0.5 + case.study.level / 2))


def _relative_error(case: Case) -> tuple[float, float]:
    """(relative standard error of the step time, its degrees of freedom)."""
    step_time = case.interval("step_time_s")
    if isnan(step_time.low) or not step_time.low > 0:
        return ASSUMED_ERROR, inf
    return _standard_error(case, step_time.relative_half_width), _freedom(case)


def _share_below(away: float, error: float, freedom: float) -> float:
    """Probability of Student's t below away / error; a step function if the error is 0."""
    from scipy.special import stdtr

    if error == 0:
        return 1.0 if away >= 0 else 0.0
    return float(stdtr(freedom, away / error))
