"""What the numbers below `1 GPU | 2 GPUs` are: by a unit in one of the headers, or by a ratio behind them."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_printed_habits import audited, speedups, table


@pytest.mark.parametrize(
    "header", ["L;1 GPU [ms/step];2 GPUs;4 GPUs;4-GPU efficiency", "L;1 GPU (ms);2 GPUs;4 GPUs;Efficiency"]
)
def test_a_unit_in_one_header_is_that_of_all(tmp_path: Path, header: str) -> None:
    found = audited(tmp_path, table(header, "240;28.0;20.0;14.0;50.0%", "480;225.0;150.0;100.0;56.2%"))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.4), (4, 2.0)], [(1, 1.0), (2, 1.5), (4, 2.25)]]
    assert [one.checked.efficiencies for one in found] == [1, 1]


def test_ratios_below_an_unknown_header_show_what_the_numbers_are(tmp_path: Path) -> None:
    rows = ["8;127K;228K;396K;3.1x", "64;247K;468K;883K;3.6x"]
    found = audited(tmp_path, table("BS/GPU;1 GPU;2 GPU;4 GPU;at the end", *rows))
    assert [speedups(one)[-1] for one in found] == [(4, 3.12), (4, 3.57)]
    assert {one.settled.rate for one in found} == {"throughput"}
