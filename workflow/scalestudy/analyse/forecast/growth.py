"""How the overhead of a step grows with the number of ranks: the few ways that collectives and hosts can have it.

A law is linear in what is fitted: T(n) = T(1) w(n) + sum of x_k g_k(n), with w = 1 where every rank keeps its
batch (weak scaling) and 1 / n where they share one (strong). n counts ranks, or nodes where a node is the unit;
g(1) = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log2

Growth = Callable[[float], float]


@dataclass(frozen=True)
class Law:
    """One way the overhead may grow."""

    name: str
    growth: tuple[Growth, ...]
    least_sizes: int
    """Fewest sizes, the base case among them, with which it is fitted at all."""

    def row(self, n: float, *, strong: bool) -> list[float]:
        """The factors of T(1) and of every x at n."""
        return [1 / n if strong else 1.0, *(grow(n) for grow in self.growth)]


# The same at any number of ranks: a wrapper's cost, a fabric that gives every pair its full bandwidth.
CONSTANT = Law("constant", (lambda n: float(n > 1),), 2)
# Bytes of a ring all-reduce; in strong scaling Amdahl's law, a part of the step that does not divide.
SHARE = Law("share", (lambda n: 1 - 1 / n,), 2)
# Steps of a tree, the latest of n ranks.
LOGARITHMIC = Law("logarithmic", (lambda n: log2(n),), 2)
# Steps of a ring, or a link or a host that all ranks share.
LINEAR = Law("linear", (lambda n: n - 1.0,), 2)
# Contention and coherence: throughput g n / (1 + a (n - 1) + b n (n - 1)) is, for the time of a step, two terms.
USL_WEAK = Law("usl", (lambda n: n - 1.0, lambda n: n * (n - 1.0)), 5)
USL_STRONG = Law("usl", (lambda n: 1 - 1 / n, lambda n: n - 1.0), 5)


def laws_for(*, strong: bool) -> tuple[Law, ...]:
    """All laws that are tried, the simple ones first."""
    return CONSTANT, SHARE, LOGARITHMIC, LINEAR, USL_STRONG if strong else USL_WEAK


LAWS = tuple(law.name for law in laws_for(strong=True))
