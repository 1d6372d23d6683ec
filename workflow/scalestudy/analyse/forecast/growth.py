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
    """One way the overhead may grow; `meaning` is what would make it so."""

    name: str
    growth: tuple[Growth, ...]
    meaning: str
    least_sizes: int
    """Fewest sizes, the base case among them, with which it is fitted at all."""

    def row(self, n: float, *, strong: bool) -> list[float]:
        """The factors of T(1) and of every x at n."""
        return [1 / n if strong else 1.0, *(grow(n) for grow in self.growth)]


CONSTANT = Law(
    "constant",
    (lambda n: float(n > 1),),
    "the same at any number of ranks: a wrapper's cost, a fabric that gives every pair its full bandwidth",
    2,
)
SHARE = Law(
    "share",
    (lambda n: 1 - 1 / n,),
    "1 - 1/n: bytes of a ring all-reduce; in strong scaling Amdahl's law, a part of the step that does not divide",
    2,
)
LOGARITHMIC = Law("logarithmic", (lambda n: log2(n),), "log n: steps of a tree, the latest of n ranks", 2)
LINEAR = Law("linear", (lambda n: n - 1.0,), "n - 1: steps of a ring, or a link or a host that all ranks share", 2)
# Throughput g n / (1 + a (n - 1) + b n (n - 1)) is, for the time of a step, two terms.
USL_WEAK = Law("usl", (lambda n: n - 1.0, lambda n: n * (n - 1.0)), "contention and coherence", 5)
USL_STRONG = Law("usl", (lambda n: 1 - 1 / n, lambda n: n - 1.0), "contention and coherence", 5)

SIMPLE = (CONSTANT, SHARE, LOGARITHMIC, LINEAR)


def laws_for(*, strong: bool) -> tuple[Law, ...]:
    """All laws that are tried, the simple ones first."""
    return (*SIMPLE, USL_STRONG if strong else USL_WEAK)
