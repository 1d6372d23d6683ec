"""The laws in closed form. Numbers and arrays alike; n counts ranks, or nodes where a node is the unit."""

from __future__ import annotations

from math import inf, sqrt


def amdahl_speedup(serial: float, n: float) -> float:
    """S = 1 / (s + (1 - s) / n): fixed work, a share s of it serial. Source: Amdahl (1967), AFIPS 30."""
    return 1 / (serial + (1 - serial) / n)


def gustafson_speedup(serial: float, n: float) -> float:
    """S = n - s (n - 1): work that grows with n, a share s of the time serial. Source.

    Gustafson (1988), CACM 31(5).
    """
    return n - serial * (n - 1)


def usl_throughput(single: float, contention: float, coherence: float, n: float) -> float:
    """X = g n / (1 + a (n - 1) + b n (n - 1)): g of one, contention a, coherence b; b > 0 turns it back.

    Source: Gunther (2007), "Guerrilla Capacity Planning", chapter 4.
    """
    return single * n / (1 + contention * (n - 1) + coherence * n * (n - 1))


def usl_peak(contention: float, coherence: float) -> float:
    """n at the largest throughput, sqrt((1 - a) / b); infinite where b is not above 0."""
    return sqrt(max(0.0, 1 - contention) / coherence) if coherence > 0 else inf
