"""The step on several ranks as an interval: bandwidth, contention, overlap and what is not communication.

    step = compute x other + unhidden + max(0, communication - unhidden - overlap x hideable x compute)

Communication takes its latencies, and its bytes over nominal bandwidth x share x contention. The share is log-
normal (links.py). Contention lowers it by exp(-e), e exponential: other traffic, and devices that share a host.
Overlap is a probit-normal share of what could be hidden. `other` is log-normal, with a median that grows with
each doubling of ranks: stragglers, wrappers, noise of the base. The quantiles over these four are widened by a
margin, so that 90 % of the steps of a source that was left out are inside (conformal, with the source as the
unit). No lower limit is below the step that has full overlap at nominal bandwidth (least_step_s). The values of
FITTED are fitted to tests/data/published_steps.csv by tests/bench/estimates.py; docs/models.md has how well they
hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from scalestudy.analyse.costs.collectives import Link
from scalestudy.analyse.costs.links import Share
from scalestudy.analyse.costs.strategies import Setting, Traffic, reduced_at_least_s, traffic

Array = NDArray[np.float64]
DRAWS = 2048
LEVELS = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class Fitted:
    """Parameters of the interval."""

    contention: dict[str, float]
    """Mean of the exponent, by family of links; `any` for an unknown kind."""
    overlap: float
    overlap_spread: float
    """Centre and spread of the probit of the overlap."""
    other: float
    other_per_doubling: float
    other_spread: float
    """Logarithm of the factor of what is not communication: median, growth, standard deviation."""
    margin: float
    """Added to the logarithm of the upper limit, and subtracted from that of the lower one."""


FITTED = Fitted(
    contention={"nvlink": 0.215, "pcie": 1.053, "rdma": 0.01, "ethernet": 0.01, "any": 0.215, "measured": 0.1},
    overlap=0.0,
    overlap_spread=3.395,
    other=0.0076,
    other_per_doubling=0.0039,
    other_spread=0.0555,
    margin=0.27,
)
LEAST = 0.9
"""A step is not shorter than this share of the step of one process: none of 205 published ones is."""
RING_ONLY = ("pcie",)
"""Families of links whose all-reduces take at least the time of a ring: no switch reduces, and one node has no
tree between nodes."""
UNTESTED = 2.0
"""Factor of the margin of sharded strategies: no published step with a step of one device was found for them."""


@dataclass(frozen=True)
class StepInterval:
    """Limits of a 90 % interval of a step, and its median, in seconds.

    `statistics.intervals` has the interval of measurements. Its import needs pandas, which an estimate does not.
    """

    low: float
    median: float
    high: float


@dataclass(frozen=True)
class Parts:
    """Communication of steps: seconds that do not depend on the bandwidth, and seconds at nominal bandwidth.

    Each is a number, or an array with an axis of length 1 for the draws.
    """

    fixed: Array | float
    sent: Array | float
    unhidden_fixed: Array | float
    unhidden_sent: Array | float
    hideable: Array | float

    @classmethod
    def of(cls, setting: Setting, item: Traffic) -> Parts:
        """Returns the parts of the traffic of a setting."""
        link = Link(setting.link.latency_s, float("inf"))
        still = next(other for other in traffic(replace(setting, link=link)) if other.strategy == item.strategy)
        return cls(
            fixed=still.time_s,
            sent=item.time_s - still.time_s,
            unhidden_fixed=still.unhidden_s,
            unhidden_sent=item.unhidden_s - still.unhidden_s,
            hideable=item.hideable,
        )


@cache
def draws(count: int = DRAWS) -> tuple[Array, Array, Array, Array]:
    """Returns normal values for the share, the overlap and the rest, and exponential ones for the contention.

    They are an additive recurrence with the generalised golden ratio of four dimensions (Roberts 2018), so that
    the same inputs give the same limits.
    """
    from scipy.special import ndtri

    ratio = 1.1673039782614187  # root of x^5 = x + 1
    unit = (0.5 + np.outer(np.arange(1, count + 1), [ratio**-power for power in (1, 2, 3, 4)])) % 1
    share, overlap, other = ndtri(unit[:, :3]).T
    return share, overlap, other, -np.log1p(-unit[:, 3])


def drawn_steps_s(
    parts: Parts,
    compute_s: Array | float,
    doublings: Array | float,
    *,
    share: tuple[Array | float, Array | float],
    contention: Array | float,
    fitted: Fitted = FITTED,
    count: int = DRAWS,
) -> Array:
    """Returns the steps of all draws along the last axis, in seconds.

    share: logarithm of the median, and standard deviation of the logarithm. contention: mean of the exponent.
    """
    from scipy.special import ndtr

    of_share, of_overlap, of_other, of_contention = draws(count)
    slower = np.exp(contention * of_contention - share[0] - share[1] * of_share)
    time = parts.fixed + parts.sent * slower
    unhidden = parts.unhidden_fixed + parts.unhidden_sent * slower
    hidden = ndtr(fitted.overlap + fitted.overlap_spread * of_overlap) * parts.hideable * compute_s
    other = np.exp(fitted.other + fitted.other_per_doubling * doublings + fitted.other_spread * of_other)
    steps: Array = compute_s * other + unhidden + np.maximum(0.0, time - unhidden - hidden)
    return steps


def limits_s(steps: Array, compute_s: Array | float, margin: float) -> tuple[Array, Array, Array]:
    """Returns lower limits, medians and upper limits of drawn steps; the draws are the last axis."""
    low, median, high = np.quantile(steps, LEVELS, axis=-1)
    return np.maximum(low / exp(margin), LEAST * compute_s), median, high * exp(margin)


def least_step_s(setting: Setting, item: Traffic, compute_s: float, *, family: str) -> float:
    """Returns the seconds of a step with full overlap at nominal bandwidth, which no step is shorter than.

    The computation takes LEAST of compute_s. DDP's all-reduces may be reduced in a switch, or by a tree between
    two nodes, if the family of the link has them; FSDP's collectives are rings. A measured bandwidth is no upper
    limit of what the link can do, so there is no least step but the computation.
    """
    compute = LEAST * compute_s
    if family == "measured" or setting.ranks == 1:
        return compute
    (surely,) = [other for other in traffic(setting.surely) if other.strategy == item.strategy]
    sent, unhidden = surely.time_s, surely.unhidden_s
    if item.strategy == "ddp" and family not in RING_ONLY:
        sent, unhidden = reduced_at_least_s(setting), 0.0
    behind = surely.hideable * compute
    return compute - behind + unhidden + max(behind, sent - unhidden)


def step_interval_s(
    setting: Setting, item: Traffic, compute_s: float, *, share: Share, family: str
) -> StepInterval:
    """Returns the 90 % interval of a step on the setting's ranks, whose computation takes compute_s.

    family: of the link, or `any`, or `measured`. One rank does not communicate: its step is its computation.
    """
    if setting.ranks == 1:
        return StepInterval(compute_s, compute_s, compute_s)
    steps = drawn_steps_s(
        Parts.of(setting, item),
        compute_s,
        float(np.log2(setting.ranks)),
        share=(float(np.log(share.median)), share.predictive),
        contention=FITTED.contention[family],
    )
    margin = FITTED.margin * (1.0 if item.strategy == "ddp" else UNTESTED)
    low, median, high = (float(value) for value in limits_s(steps, compute_s, margin))
    return StepInterval(max(low, least_step_s(setting, item, compute_s, family=family)), median, high)


def compute_for(
    setting: Setting, item: Traffic, target: float, *, share: Share, family: str
) -> tuple[float, float]:
    """Returns the computation for a weak-scaling efficiency, in seconds: the least, and the median.

    The least is by the lower limit of the step. An entry is infinite if no computation reaches the efficiency.
    """
    from scipy.optimize import brentq

    def needed(limit: str) -> float:
        def short_of(log_compute: float) -> float:
            compute = exp(log_compute)
            interval = step_interval_s(setting, item, compute, share=share, family=family)
            return target - compute / float(getattr(interval, limit))

        shortest, longest = log(1e-9), log(1e9)
        if short_of(longest) > 0:
            return float("inf")
        if short_of(shortest) <= 0:
            return 0.0
        return exp(brentq(short_of, shortest, longest, xtol=1e-3))

    return needed("low"), needed("median")
