"""Numbers with an interval in brackets: it is the uncertainty of a printed ratio."""

from __future__ import annotations

from pathlib import Path

import pytest
import scalestudy
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.numbers.printed import read_cell

# Means of ratios within repeats, as scalestudy prints them: they are not the ratios of the means beside them.
WITH_INTERVALS = """\
| GPUs | images/s | speedup | efficiency |
|---|---|---|---|
| 1 | 4200 [4070, 4350] | 1.00 | 100 % |
| 2 | 7310 [6890, 7760] | 1.698 [1.654, 1.743] | 84.9 % [82.7, 87.2] |
| 4 | 13900 (13500 to 14300) | 3.10 (95% CI 3.02-3.18) | 77.5 % (75.5-79.5) |
"""


@pytest.mark.parametrize(
    ("cell", "value", "spread"),
    [
        ("1.698 [1.654, 1.743]", 1.698, 0.045),
        ("52,100 [45,600, 59,600]", 52100, 7500),
        ("84.9 [82.7, 87.2] %", 84.9, 2.3),
        ("1.70x (1.65x \u2013 1.74x)", 1.70, 0.05),
        ("0.211 [0.145,0.305]", 0.211, 0.094),
        ("12k (95 % confidence interval: 11k to 13k)", 12000, 1000),
        ("8 (2, 4)", 8, 0),  # 8 is not between them
        ("410 (3 nodes, 8 GPUs)", 410, 0),
    ],
)
def test_an_interval_in_brackets_is_the_spread_of_its_number(cell: str, value: float, spread: float) -> None:
    found = read_cell(cell)
    assert found.printed.value == value
    assert found.spread == pytest.approx(spread)


def test_a_ratio_agrees_with_every_number_in_its_interval(tmp_path: Path) -> None:
    (tmp_path / "t.md").write_text(WITH_INTERVALS, encoding="utf-8")
    assert not [remark for remark in scalestudy.audit(tmp_path / "t.md").remarks if remark.gpus == 2]


def test_a_ratio_outside_its_interval_contradicts(tmp_path: Path) -> None:
    (tmp_path / "t.md").write_text(WITH_INTERVALS, encoding="utf-8")
    found = scalestudy.audit(tmp_path / "t.md").remarks
    assert [(remark.gpus, remark.kind) for remark in found] == [(4, "speedup")]


@pytest.mark.parametrize(
    ("header", "role"),
    [
        ("Samples (/s)", "throughput"),
        ("Images (1/s)", "throughput"),
        ("Tokens [/sec]", "throughput"),
        ("sequences ($s^{-1}$)", "throughput"),
        ("Samples (/s/GPU)", "throughput_per_gpu"),
        ("Steps (1/s)", "steps_per_s"),
        ("Samples (s)", "ignore"),
    ],
)
def test_work_with_its_unit_as_that_of_a_number_is_a_rate(header: str, role: str) -> None:
    assert meaning_of(header).role == role
