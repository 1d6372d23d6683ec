"""Simulated runs with a known truth, so that statements about them can be counted as right or wrong.

Step times are lognormal and correlated from step to step (AR(1)), with a decaying warm-up and occasional hiccups.
Runs scatter around the truth with a coefficient of variation of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, sqrt

import numpy as np
from scalestudy.measure.stopping import StepRule, launches_needed
from scipy.signal import lfilter

BLOCK = 20
FIXED_LAUNCHES, FIXED_WARMUP, FIXED_STEPS = 5, 50, 200  # as in typical benchmark scripts


@dataclass(frozen=True)
class Truth:
    """A configuration whose mean step time is 1."""

    launch_cv: float
    step_cv: float = 0.01
    correlation: float = 0.3
    hiccups: float = 0.002
    """Share of steps that take longer, by 30 % on average."""


# Published spread: run-to-run CV 0.1-0.5 % on one GPU, 0.3-2 % on 8, 1-2.2 % on 32.
PUBLISHED = {
    "1 GPU": (0.001, 0.005),
    "8 GPUs": (0.003, 0.02),
    "32 GPUs": (0.01, 0.022),
}


def steps(truth: Truth, count: int, random: np.random.Generator) -> np.ndarray:
    """Return the step times of a run from its first step on."""
    noise = random.normal(size=count)
    noise[0] /= sqrt(1 - truth.correlation**2)
    noise = lfilter([sqrt(1 - truth.correlation**2)], [1, -truth.correlation], noise)
    times = np.exp(truth.step_cv * noise - truth.step_cv**2 / 2)
    times += (random.random(count) < truth.hiccups) * random.exponential(0.3, count)
    warmup = 1 + np.exp(-np.arange(count) / 8)
    return times / (1 + 0.3 * truth.hiccups) * warmup * exp(random.normal(0, truth.launch_cv))


def launch(truth: Truth, rule: StepRule, random: np.random.Generator) -> tuple[float, int]:
    """Return (mean step time, steps made) of a run that stops by the rule, checked after each block."""
    series = steps(truth, rule.max_warmup_steps + rule.max_steps + BLOCK, random)
    looks = iter([*rule.looks(), len(series)])
    due = next(looks)
    for made in range(BLOCK, len(series) + 1, BLOCK):
        steady = made - rule.warmup(series[:made])
        if steady < due:
            continue
        look = rule.look(series[:made])
        if look.enough:
            break
        while due <= steady:
            due = next(looks)
    return float(series[look.warmup_steps : made].mean()), made


def fixed_launch(truth: Truth, random: np.random.Generator) -> tuple[float, int]:
    """Return (mean step time, steps made) of a run of the fixed protocol."""
    return float(
        steps(truth, FIXED_WARMUP + FIXED_STEPS, random)[FIXED_WARMUP:].mean()
    ), FIXED_WARMUP + FIXED_STEPS


def configuration(
    make: Callable[[], tuple[float, int]], *, half_width: float, first: int, most: int
) -> tuple[list[float], int]:
    """Return (mean step times of the runs, total steps made), with runs added by Stein's rule."""
    found = [make() for _ in range(first)]
    wanted, _ = launches_needed([mean for mean, _ in found], half_width=half_width, confidence=0.95, most=most)
    found += [make() for _ in range(wanted - first)]
    return [mean for mean, _ in found], sum(made for _, made in found)
