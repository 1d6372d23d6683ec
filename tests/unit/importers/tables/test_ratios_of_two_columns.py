"""A ratio of two columns of each row is none of the devices, and no measurement that the caption names."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_more_printed_habits import kinds
from test_printed_habits import audited, speedups, table

ROWS = ["1;402.0;{};{}", "2;205.0;221.4;1.08", "4;104.0;116.5;1.12", "8;54.0;63.7;1.18"]


@pytest.mark.parametrize("first", [("418.1", "1.04"), ("402.3", "1.00")])
@pytest.mark.parametrize("header", ["A;B;Ratio", "base;tuned;ratio"])
def test_a_ratio_of_two_columns_of_times_is_not_read(tmp_path: Path, first: tuple[str, str], header: str) -> None:
    rows = [ROWS[0].format(*first), *ROWS[1:]]
    text = f"Time in milliseconds. Ratio = B / A.\n\n{table(f'Ranks;{header}', *rows)}"
    found = audited(tmp_path, text)
    assert [speedups(one)[-1] for one in found] == [(8, 7.44), (8, round(float(first[0]) / 63.7, 2))]
    assert (kinds(found), {one.source.unread for one in found}) == ([], {(header.split(";")[2],)})


@pytest.mark.parametrize("header", ["Ours / NCCL", "Ours/NCCL"])
def test_a_quotient_of_two_headers_is_no_rate(tmp_path: Path, header: str) -> None:
    rows = ["1;302.0;296.1;1.02", "2;596.0;570.3;1.05", "4;1180.0;1105.8;1.07"]
    found = audited(tmp_path, f"Images/sec.\n\n{table(f'GPUs;Ours;NCCL;{header}', *rows)}")
    assert [one.source.name for one in found] == ["ours", "nccl"]
    assert {one.source.unread for one in found} == {(header,)}


def test_a_ratio_to_the_first_row_is_one_of_the_devices(tmp_path: Path) -> None:
    rows = ["1;31;402.0;1.00", "2;33;205.0;1.96", "4;32;104.0;3.87"]
    (found,) = audited(tmp_path, table("Ranks;Iterations;Time (s);Ratio", *rows))
    assert found.checked.speedups == 3
