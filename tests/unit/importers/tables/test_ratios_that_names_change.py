"""Headers whose words change what their numbers are, and a time that is printed as 1."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.headers.ratios import says_percent
from test_plain_tables import read, series


def test_a_target_in_per_cent_is_no_unit_of_a_speedup(tmp_path: Path) -> None:
    text = """
| World Size | 70% Speedup | 74% Speedup |
|---|---|---|
| 1 | 1.00× | 1.00× |
| 2 | 1.18× | 1.10× |
| 4 | 1.90× | 1.80× |
"""
    audits, _, _ = read(tmp_path, text)
    assert [audit.table.scales[-1].row.number("printed_speedup") for audit in audits] == [1.9, 1.8]


@pytest.mark.parametrize(
    ("header", "expected"),
    [("Speedup (%)", True), ("Efficiency, %", True), ("% of linear", True), ("70% Speedup", False)],
)
def test_a_header_says_per_cent(header: str, expected: bool) -> None:
    assert says_percent(header) is expected


def test_a_time_that_is_printed_as_1_is_the_baseline_too(tmp_path: Path) -> None:
    text = "| threads | Time (s) |\n|---|---|\n| 1 | 4 |\n| 2 | 2 |\n| 4 | 1 |\n"
    audits, _, _ = read(tmp_path, text)
    assert list(series(audits).values()) == [[(1, 1.0), (2, 2.0), (4, 4.0)]]
    text = "| threads | Time (s) |\n|---|---|\n| 2 | 0.01 |\n| 4 | 0.008 |\n| 8 | 0.006 |\n"
    audits, _, _ = read(tmp_path, text)
    assert list(series(audits).values()) == [[(2, 1.0), (4, 1.25), (8, 1.67)]]


def test_a_scaling_of_at_most_1_is_an_efficiency(tmp_path: Path) -> None:
    text = """
| Number of GPU | Number of points | Scaling |
|---|---|---|
| N1C1 | 200k | 1 |
| N1C8 | 200k | 0.99 |
| N2C16 | 200k | 0.96 |
"""
    audits, _, _ = read(tmp_path, text)
    found = [(scale.row.gpus, scale.row.number("printed_efficiency")) for scale in audits[0].table.scales]
    assert found == [(1, 1.0), (8, 0.99), (16, 0.96)]
    assert (read_count("N2C16").gpus, read_count("N2C16").nodes) == (16, 2)


def test_names_of_problems_below_scale_are_labels(tmp_path: Path) -> None:
    text = """
| Problem Scale | 1 GPU | 2 GPUs |
|---|---|---|
| TSP-50 | 112h 45m | 62h 24m |
| TSP-100 | 488h 12m | 268h 37m |
| TSP-500 | 142h 17m | 78h 58m |
"""
    audits, _, _ = read(tmp_path, text)
    assert [*series(audits)] == ["TSP-50", "TSP-100", "TSP-500"]


@pytest.mark.parametrize(
    ("header", "role"),
    [
        ("Training hours", "total_time_s"),
        ("Train minutes", "total_time_s"),
        ("GPU hours", "ignore"),
        ("efficiency vs ceiling", "ignore"),
        ("efficiency over the limit", "ignore"),
        ("efficiency vs linear", "printed_efficiency"),
    ],
)
def test_what_a_header_means(header: str, role: str) -> None:
    assert meaning_of(header).role == role


def test_a_micro_batch_may_be_accumulated(tmp_path: Path) -> None:
    text = """
| Nodes | GPUs | MBS | GBS | Sec/it |
|---|---|---|---|---|
| 1 | 4 | 1 | 512 | 371.4 |
| 2 | 8 | 1 | 512 | 190.0 |
| 4 | 16 | 1 | 512 | 98.0 |
"""
    audits, _, _ = read(tmp_path, text)
    assert not any(remark.kind == "batch" for audit in audits for remark in audit.remarks)
    audits, _, _ = read(tmp_path, text.replace("| 512 | 98.0", "| 500 | 98.0"))
    assert [remark.kind for audit in audits for remark in audit.remarks if remark.gpus == 16][:1] == ["batch"]
