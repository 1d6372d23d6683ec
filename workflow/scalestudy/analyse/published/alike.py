"""Columns of one table whose numbers are proportional: what is known of one is known of the other."""

from __future__ import annotations

from collections.abc import Sequence

from scalestudy.importers.published import RATES, PublishedTable

CLOSE = 0.02
"""Relative difference up to which two ratios are one."""


NEAR = 0.2
"""The same for whose two rates are: one of all devices would be twice that of each on twice as many."""


def proportional(
    one: PublishedTable, other: PublishedTable, roles: Sequence[str] = RATES, within: float = CLOSE
) -> bool:
    """Return whether the throughputs of two variants of a table have one ratio in all of its rows.

    roles: columns of the other, the first of which is used. within: relative difference of the ratios.

    Tokens/s and TFLOP/s of the same runs are an example. Variants of a table have the line of its header.
    """
    ratios = [ratio for ratio, _ in _ratios(one, other, roles)]
    return len(ratios) > 1 and alike(ratios, within)


def is_of_each(one: PublishedTable, other: PublishedTable) -> bool:
    """Return whether the throughputs of a variant are, times the devices, those of another one.

    On one device both are one number. Another way to compute may be as fast on each device by chance.
    """
    ratios = _ratios(one, other, RATES)
    return len(ratios) > 1 and all(
        abs(1 / (ratio * gpus) - 1) <= (NEAR if gpus > 1 else CLOSE) for ratio, gpus in ratios
    )


def alike(ratios: Sequence[float], within: float) -> bool:
    """Return whether the largest and the smallest of positive numbers differ by no more than a share."""
    return max(ratios) <= min(ratios) * (1 + within)


def _ratios(one: PublishedTable, other: PublishedTable, roles: Sequence[str]) -> list[tuple[float, int]]:
    """(throughput over that of another variant, devices) for the rows of both; none for another table."""
    if one.line != other.line or one is other:
        return []
    rates = _rates(other, roles)
    return [(rate / rates[key], key[1]) for key, rate in _rates(one, RATES).items() if key in rates]


def _rates(table: PublishedTable, roles: Sequence[str]) -> dict[tuple[int, int], float]:
    """(line, devices) -> throughput as printed, where it is above 0."""
    found = {}
    for row in table.rows:
        rate = next((number for role in roles if (number := row.number(role))), None)
        if rate is not None and rate > 0:
            found[row.line, row.gpus] = rate
    return found
