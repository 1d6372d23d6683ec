"""Quantities on the command line, with their units: 125M, 10Gbit/s, 0.1ms."""

from math import inf, isfinite
from typing import Any

import click

BITS = ("bit", "bit/s", "b", "b/s", "bps")
BYTES = ("B", "B/s")
MOST_WHOLE = 10**9


def count(text: str) -> float:
    """Return a count: '125M' -> 125e6, '7B' -> 7e9; at least 1."""
    value, unit = _read(text, "a number such as 125M or 7B")
    if unit == "B" and value < 1e6:  # billions, as models are named; 3 GB are bytes
        value, unit = value * 1e9, ""
    if unit or not 1 <= value < inf:
        raise click.BadParameter(f"{text}: not a number of at least 1, such as 125M or 7B")
    return value


def whole(text: str) -> int:
    """Return a whole count: '8' -> 8, '1k' -> 1000; from 1 to MOST_WHOLE."""
    value = count(text)
    if value != int(value) or value > MOST_WHOLE:
        raise click.BadParameter(f"{text}: not a whole number from 1 to {MOST_WHOLE:.0e}, such as 8")
    return int(value)


def bandwidth(text: str) -> float:
    """Return bytes per second: '10Gbit/s' -> 1.25e9, '25GB/s' -> 25e9; a unit is required."""
    value, unit = _read(text, "a bandwidth such as 10Gbit/s or 25GB/s")
    if unit in BITS:
        value, unit = value / 8, "B/s"
    if unit not in BYTES or not 0 < value < inf:
        raise click.BadParameter(f"{text}: not in bits or bytes per second, such as 10Gbit/s or 25GB/s")
    return value


def seconds(text: str) -> float:
    """Return seconds: '0.1ms' -> 1e-4; not negative, and a unit is required."""
    value, unit = _read(text, "a time such as 0.1ms or 2s")
    if unit != "s" or not 0 <= value < inf:
        raise click.BadParameter(f"{text}: not a time with its unit, such as 0.1ms or 2s")
    return value


class Number(click.FloatRange):
    """A number in a range. Click's own range includes nan, because no comparison with it holds."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value}: not a number that can be used", param, ctx)
        return number


class Scale(click.ParamType):
    """A scale NODESxDEVICES, as the study file has it."""

    name = "scale"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from scalestudy.study.config.scales import check_scale

        try:
            return check_scale(str(value))
        except ValueError as error:
            self.fail(f"{value}: {error}", param, ctx)


def _read(text: str, example: str) -> tuple[float, str]:
    from quantiphy import QuantiPhyError, Quantity

    try:
        quantity = Quantity(text, binary=True)
    except QuantiPhyError:
        raise click.BadParameter(f"{text}: not {example}") from None
    if quantity.name or quantity.desc:  # the library also reads `x = 5 -- text`
        raise click.BadParameter(f"{text}: not {example}")
    return float(quantity), quantity.units
