"""Digits follow the interval. Value and limits have the same number of decimals, unless it is very wide."""

from __future__ import annotations

from math import nan

import pytest
from scalestudy.publish.numbers.rounding import show, table_format


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ((1.6283, 1.5719, 1.6867), "1.628 [1.572, 1.687]"),
        ((0.39552, 0.3118, 0.5017), "0.396 [0.312, 0.502]"),
        ((28.2, 27.57, 28.85), "28.20 [27.57, 28.85]"),
        ((45123.4, 28000.0, 71000.0), "45000 [28000, 71000]"),
        ((1.4, 0.00021, 9614.52), "1.4 [0.00021, 9600]"),
        ((2.0, 2.0, 2.0), "2.00 [2.00, 2.00]"),
        ((0.0031, -0.0023, 0.0086), "0.0031 [-0.0023, 0.0086]"),
        ((-0.0001, -0.02, 0.02), "0.000 [-0.020, 0.020]"),
        ((0.13, 0.0005, 20.0), "0.13 [0.00050, 20]"),
        ((1.23456, nan, nan), "1.23"),
        ((123456.0, nan, nan), "123000"),
        ((0.0, nan, nan), "0.00"),
        ((nan, nan, nan), "--"),
    ],
)
def test_digits_follow_the_interval(number: tuple, shown: str) -> None:
    assert str(show(*number)) == shown


def test_unit_factor_applies_to_value_and_limits() -> None:
    assert str(show(0.0031, 0.0029, 0.0033, factor=1e3)) == "3.10 [2.90, 3.30]"


def test_table_format_holds_the_widest_number() -> None:
    assert table_format(["3.49", "0.651", "12", "--"]) == "2.3"
    assert table_format(["-3.1", "200"]) == "-3.1"
    assert table_format(["--"]) == "1.0"
