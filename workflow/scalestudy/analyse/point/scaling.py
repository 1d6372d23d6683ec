"""Scaling ratios. Closed forms, for numbers and arrays alike."""

from math import log2, nan


def per_doubling_efficiency(speedup: float, ranks: float) -> float:
    """Returns the efficiency of one doubling, if all doublings were equal: S^(1 / log2 n) / 2; nan at n = 1."""
    return speedup ** (1 / log2(ranks)) / 2 if ranks > 1 else nan


def compounded_efficiency(per_doubling: float, ranks: float) -> float:
    """Returns the efficiency at this many ranks if every doubling has this one: per_doubling^(log2 n)."""
    return float(per_doubling ** log2(ranks))


def karp_flatt(speedup: float, ranks: float) -> float:
    """Returns the experimentally determined serial fraction e = (1/S - 1/n) / (1 - 1/n); nan at n = 1.

    Constant over n: a serial part. Increasing: overhead that grows with n. For fixed work (strong scaling) only.
    Source: Karp & Flatt (1990), "Measuring parallel processor performance", CACM 33(5).
    """
    return (1 / speedup - 1 / ranks) / (1 - 1 / ranks) if ranks > 1 else nan
