"""Parts of the time beside the whole, and kinds of training that have the name of a part of a step."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.headers.meaning import meaning_of
from test_plain_tables import read, series


def test_synchronous_and_asynchronous_steps_are_two_series(tmp_path: Path) -> None:
    text = """
| GPUs | Sync | | Async | |
|---|---|---|---|---|
| | steps/s | speedup | steps/s | speedup |
| 2 | 3.31 | 1.00 | 3.35 | 1.00 |
| 4 | 6.28 | 1.90 | 6.60 | 1.97 |
| 8 | 11.6 | 3.50 | 12.9 | 4.85 |
"""
    audits, _, _ = read(tmp_path, text)
    assert series(audits) == {"sync": [(2, 1.0), (4, 1.9), (8, 3.5)], "async": [(2, 1.0), (4, 1.97), (8, 3.85)]}
    assert [[remark.kind for remark in audit.remarks] for audit in audits] == [[], ["speedup"]]


@pytest.mark.parametrize(
    ("header", "role"),
    [
        ("Async steps/s", "steps_per_s"),
        ("sync SGD (images/s)", "throughput"),
        ("Sync time (s)", "ignore"),
        ("Gradient sync (ms)", "ignore"),
        ("T. total", "total_time_s"),
        ("T. max (C)", "ignore"),
    ],
)
def test_what_is_a_part_of_a_step(header: str, role: str) -> None:
    assert meaning_of(header).role == role


SUMS = """np,n,comm,comp,total
1,900,0.0,38.2,38.2
2,900,0.5,19.4,19.9
4,900,1.0,10.0,{last}
"""


def test_a_total_that_is_the_sum_of_its_parts_is_a_time(tmp_path: Path) -> None:
    (audit,), _, _ = read(tmp_path, SUMS.format(last="11.0"))
    assert series([audit]) == {"table": [(1, 1.0), (2, 1.92), (4, 3.47)]}


def test_a_total_that_is_no_sum_of_parts_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no column of a throughput, a step time or a speedup"):
        read(tmp_path, SUMS.format(last="31.0"))


def test_all_parts_of_a_time_are_read_beside_the_whole(tmp_path: Path) -> None:
    text = """
| GPUs | Pretraining | Fine-tuning | Overall |
|---|---|---|---|
| 64 | 5.2 days | 1.6 days | 6.8 days |
| 128 | 2.9 days | 0.9 days | 3.8 days |
"""
    audits, _, _ = read(tmp_path, text)
    assert series(audits) == {
        "pretraining": [(64, 1.0), (128, 1.79)],
        "fine tuning": [(64, 1.0), (128, 1.78)],
        "overall": [(64, 1.0), (128, 1.79)],
    }


def test_other_times_than_parts_are_no_series_beside_the_whole(tmp_path: Path) -> None:
    text = """
| GPUs | Validation | Fine-tuning | Overall |
|---|---|---|---|
| 64 | 0.2 days | 1.6 days | 6.8 days |
| 128 | 0.1 days | 0.9 days | 3.8 days |
"""
    audits, _, _ = read(tmp_path, text)
    assert [audit.case for audit in audits] == ["table"]
    assert series(audits)["table"] == [(64, 1.0), (128, 1.79)]


def test_an_efficiency_beside_the_parts_and_the_total_of_a_time(tmp_path: Path) -> None:
    text = """
|Procesos|T. cálculo|T. comunicación|T. total|Aceleración|Eficiencia|
|--|--|--|--|--|--|
|1|312,6|0,0|312,6|1,00|1,00|
|2|157,1|3,2|160,3|1,95|0,98|
|4|79,9|5,9|85,8|3,64|0,81|
"""
    (audit,), _, _ = read(tmp_path, text)
    assert (audit.checked.speedups, audit.checked.efficiencies) == (3, 3)
    assert [remark.kind for remark in audit.remarks] == ["efficiency"]
