"""Speedup and efficiency of measurements of one's own, with intervals and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan, nan
from typing import TYPE_CHECKING

from scalestudy.errors import UserError
from scalestudy.library.needs import require_packages

if TYPE_CHECKING:
    from typing import Literal

    from scalestudy.analyse.statistics.intervals import Interval

_SMALLEST_SHOWN = 1e-6
"""Limits beyond this ratio, or its inverse, are printed with an exponent."""
_MOST_DEVICES = 10**9


@dataclass(frozen=True)
class Ratio:
    """A ratio with its confidence limits. All numbers are without a unit: 0.5 is 50 %."""

    value: float
    low: float
    """Lower limit; nan without an interval, 0 if it is smaller than any float."""
    high: float
    """Upper limit; nan without an interval, inf if it is larger than any float."""
    verdict: str
    """What the interval shows; one of the words of the function that returned this."""

    @property
    def has_interval(self) -> bool:
        """Whether there are limits."""
        return not isnan(self.low)

    def __str__(self) -> str:
        """Return value and limits, rounded as in the documents of a study: '1.93 [1.88, 1.98]'."""
        from scalestudy.publish.numbers.rounding import show

        if self.has_interval and not (self.low > _SMALLEST_SHOWN and self.high < 1 / _SMALLEST_SHOWN):
            return f"{self.value:.3g} [{self.low:.2g}, {self.high:.2g}]"
        return str(show(self.value, self.low, self.high))


@dataclass(frozen=True)
class Speedup(Ratio):
    """Throughput over that of the baseline. verdict: faster, slower, no_difference, or no_interval."""

    confidence: float
    """Confidence level of the limits, such as 0.95."""
    repeats: int
    """Repeats behind the limits: pairs, or the runs of the side with fewer runs."""
    method: str
    """t_within_repeats, welch, or none without limits."""


@dataclass(frozen=True)
class Efficiency(Ratio):
    """Speedup over the factor of devices. verdict: healthy, at_target, poor, negative_scaling, or undecided."""

    per_doubling: float
    """Efficiency of one doubling of the devices, if all doublings were equal; inf if larger than any float."""
    devices: int
    baseline_devices: int
    target: float
    """Target of the efficiency per doubling."""


def speedup(
    baseline: Iterable[float],
    scaled: Iterable[float],
    *,
    quantity: Literal["throughput", "step_time"],
    samples_per_step: tuple[float, float] | None = None,
    paired: bool = False,
    confidence: float = 0.95,
) -> Speedup:
    """Return the speedup of `scaled` over `baseline`: the ratio of their geometric mean throughputs.

    baseline, scaled: one value above 0 for each run, shape (runs,). A value is the mean of a run, not a step: the
    steps of a run are correlated, so that they are not repeats. With one run on a side there is no interval.
    quantity: `throughput` of all devices together, in any unit that both sides share, or `step_time`, in any unit
    of time that both share.
    samples_per_step: pair of the global batches of (baseline, scaled), in samples; needed for step times only. The
    two are equal in strong scaling.
    paired: the values at the same position are of one repeat, measured close together in time. The drift of the
    machine then cancels. Otherwise the sides are independent samples.
    confidence: level of the interval, above 0.5 and below 1.

    Limits are Student's t on logarithms within repeats, or Welch's on logarithms. Values without any spread are
    rounded or copied: if neither side has any spread, or with paired=True the ratios have none, there are no
    limits. If only one side has none, it counts as exact, and the limits cover the spread of the other side alone.
    The verdict is `faster` or `slower` if the interval excludes 1.
    Raises UserError, which names the argument. Source: docs/measurement.md.
    """
    require_packages("speedup")
    import pandas as pd

    from scalestudy.analyse.statistics.blocks import ratio_in_blocks
    from scalestudy.analyse.statistics.intervals import ratio_on_logs

    if quantity not in ("throughput", "step_time"):
        raise UserError(f"quantity: {quantity!r}; must be 'throughput' or 'step_time'")
    _check_range("confidence", confidence, lambda level: 0.5 < level < 1, "above 0.5 and below 1")
    sides = [_values(name, given) for name, given in (("baseline", baseline), ("scaled", scaled))]
    if paired and len(sides[0]) != len(sides[1]):
        raise UserError(
            f"paired: baseline has {len(sides[0])} runs and scaled has {len(sides[1])}; pairs need equal numbers"
        )
    factor = _work_factor(quantity, samples_per_step)
    below, above = sides if quantity == "throughput" else reversed(sides)
    if paired:
        series = [pd.Series(values, index=range(1, len(values) + 1)) for values in (above, below)]
        found = ratio_in_blocks(*series, planned=len(above), confidence=confidence)
    else:
        found = ratio_on_logs(above, below, confidence=confidence)
    found = found.scaled(factor)
    if not 0 < found.value < inf:
        raise UserError("scaled: too far from baseline; their ratio must be a float, from 1e-308 to 1e308")
    low, high = (found.low, found.high) if found.low < found.high else (nan, nan)
    method = ("t_within_repeats" if paired else "welch") if low < high else "none"
    return Speedup(
        value=found.value,
        low=low,
        high=high,
        verdict=_against_one(low, high),
        confidence=confidence,
        repeats=min(map(len, sides)),
        method=method,
    )


def efficiency(
    speedup: Speedup | float,
    devices: int,
    *,
    baseline_devices: int = 1,
    target: float = 0.75,
    margin: float = 0.025,
) -> Efficiency:
    """Return the efficiency of a speedup: speedup / (devices / baseline_devices), with the limits of the speedup.

    speedup: from `speedup`, or a number above 0 without an interval.
    devices, baseline_devices: numbers of devices of the two sides, whole numbers; devices is the larger one.
    target: lowest efficiency per doubling of devices that counts as healthy, above 0 and at most 1; 0.75 means
    0.5625 on 4 devices.
    margin: relative distance from the target that counts as none, for the verdict `at_target`; at least 0 and
    below 1.

    The verdicts are those of a study (docs/diagnosis.md): `healthy` and `poor` if the whole interval is on that
    side of the target, `at_target` if all of it is within the margin, `negative_scaling` if the interval of the
    speedup is below 1, else `undecided`. Without limits the value is judged instead; it is `undecided` if the
    speedup is above the factor of devices, which may be chance. Raises UserError, which names the argument.
    """
    require_packages("efficiency")
    from scalestudy.analyse.point.verdict import verdict_of
    from scalestudy.analyse.statistics.intervals import Interval
    from scalestudy.study.config.report import Report

    devices, baseline_devices = _count("devices", devices), _count("baseline_devices", baseline_devices)
    if devices <= baseline_devices:
        raise UserError(f"devices: {devices}; must be more than the {baseline_devices} of baseline_devices")
    _check_range("target", target, lambda share: 0 < share <= 1, "above 0 and at most 1")
    _check_range("margin", margin, lambda share: 0 <= share < 1, "at least 0 and below 1")
    if isinstance(speedup, Speedup):
        found = Interval(speedup.value, speedup.low, speedup.high)
    elif 0 < _number(speedup) < inf:
        found = Interval(_number(speedup))
    else:
        raise UserError(f"speedup: {speedup!r:.60}; must be a finite number above 0, or what ss.speedup returned")
    factor = devices / baseline_devices
    kept: Interval = found.scaled(1 / factor)
    report = Report(target_efficiency=target, target_margin=margin)
    return Efficiency(
        value=kept.value,
        low=kept.low,
        high=kept.high,
        verdict=str(verdict_of(found, ranks=factor, report=report)),
        per_doubling=_per_doubling(found.value, factor),
        devices=devices,
        baseline_devices=baseline_devices,
        target=target,
    )


def _against_one(low: float, high: float) -> str:
    from scalestudy.analyse.statistics.intervals import is_above, is_below

    if isnan(low):
        return "no_interval"
    if is_below(high, 1):
        return "slower"
    return "faster" if is_above(low, 1) else "no_difference"


def _per_doubling(speedup: float, factor: float) -> float:
    from scalestudy.analyse.point.scaling import per_doubling_efficiency

    try:
        return per_doubling_efficiency(speedup, factor)
    except OverflowError:  # a speedup far above the factor, which is near 1
        return inf


def _work_factor(quantity: str, samples_per_step: tuple[float, float] | None) -> float:
    """Return by how much more work a step of `scaled` does; 1 for throughputs, which include it."""
    if quantity == "throughput":
        if samples_per_step is not None:
            raise UserError("samples_per_step: a throughput includes it; leave it out")
        return 1.0
    if samples_per_step is None:
        raise UserError(
            "samples_per_step: missing; a ratio of step times needs the global batches, such as (256, 256)"
        )
    pair = "must be a pair of global batches, of the baseline and of the scaled runs, such as (256, 256)"
    if not _is_list(samples_per_step):
        raise UserError(f"samples_per_step: {samples_per_step!r:.60}; {pair}")
    batches = list(samples_per_step)
    if len(batches) != 2:
        raise UserError(f"samples_per_step: {len(batches)} numbers; {pair}")
    of_baseline, of_scaled = _values("samples_per_step", batches)
    factor = of_scaled / of_baseline
    if not 0 < factor < inf:
        raise UserError(f"samples_per_step: {samples_per_step!r:.60}; their ratio must be a float above 0")
    return factor


def _is_list(given: object) -> bool:
    """Return whether an argument has elements. Text has none, nor has an array without a dimension."""
    try:
        iter(given)  # type: ignore[call-overload]
    except TypeError:
        return False
    return not isinstance(given, (str, bytes))


def _values(name: str, given: Iterable[float]) -> Sequence[float]:
    """Return the numbers of an argument. Raises UserError unless each is finite and above 0."""
    if not _is_list(given):
        raise UserError(f"{name}: {given!r:.60}; must be a list of numbers, one for each run")
    values: list[float] = []
    for place, one in enumerate(given):
        number = _number(one)
        if not (isfinite(number) and number > 0):
            raise UserError(f"{name}[{place}]: {one!r:.60}; must be a finite number above 0")
        values.append(number)
    if not values:
        raise UserError(f"{name}: no values; needs one for each run")
    return values


def _check_range(name: str, number: float, allows: Callable[[float], bool], words: str) -> None:
    """Raise UserError, with the range in words, unless a number is in it."""
    if not allows(_number(number)):
        raise UserError(f"{name}: {number!r:.60}; must be a number {words}")


def _count(name: str, number: float) -> int:
    """Return a number of devices, of any type; a float such as 8.0 counts. Raises UserError for anything else."""
    count = _number(number)
    if not (count.is_integer() and count >= 1):
        raise UserError(f"{name}: {number!r:.60}; must be a whole number above 0")
    if count > _MOST_DEVICES:
        raise UserError(f"{name}: {number!r:.60}; must be at most {_MOST_DEVICES}")
    return int(count)


def _number(given: object) -> float:
    """Return a number as a float; nan for anything else, such as text, truth values and nested lists."""
    if isinstance(given, (str, bytes, bool)) or getattr(getattr(given, "dtype", None), "kind", "") == "b":
        return nan
    try:
        return float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return nan
