"""Rows that lack a cell, labels with two numbers, and hints that name all columns."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.importers.headers.meaning import is_utilization, meaning_of
from scalestudy.publish.audit import audit_view
from test_groups_and_quantities import rows_of
from test_printed_habits import audited, speedups, table
from test_ratios_of_other_systems import refused


def test_a_row_with_the_unit_of_a_column_below_another_header_is_left_out(tmp_path: Path) -> None:
    rows = ("1;8h39m;1690 images/sec;256", "8;1h13m;12950 images/sec;256", "16;0h40m;24900 images/sec;256")
    found, notes = rows_of(tmp_path, table("#HPU;Time;Throughput;Batch Size", *rows, "32;650 images/sec;128;"))
    assert [gpus for gpus, _ in found[0]] == [1, 8, 16]
    assert "line 6: '650 images/sec' is below another header" in notes


def test_a_short_row_far_from_all_others_is_left_out(tmp_path: Path) -> None:
    text = table("# GPUS;Memory;TFLOP/s;Time (ms)", "4;7.67;12772", "8;13858;36.68;15717", "16;14626;55.71;39228")
    found, notes = rows_of(tmp_path, text)
    assert [gpus for gpus, _ in found[0]] == [8, 16]
    assert "line 3: '12772' is below another header" in notes


def test_a_short_row_like_the_others_is_read(tmp_path: Path) -> None:
    found, _ = rows_of(tmp_path, table("GPUs;img/s;remark", "1;400;a", "2;780;b", "4;1500"))
    assert [gpus for gpus, _ in found[0]] == [1, 2, 4]


def test_two_named_numbers_in_labels_are_columns(tmp_path: Path) -> None:
    rows = ("n=2, m=1;26.7/s", "n=2, m=4;41.1/s", "n=4, m=1;26.8/s", "n=4, m=4;44.5/s")
    assert "--column 'n=gpus'" in refused(tmp_path, table("Experiment;Throughput", *rows))


def test_a_baseline_beside_numbered_names_is_one_device(tmp_path: Path) -> None:
    rows = ("baseline;95.9 samples/sec", "pipeline-1;81.8 samples/sec", "pipeline-2;135.5 samples/sec")
    (found,) = audited(tmp_path, table("Experiment;Throughput", *rows, "pipeline-4;266.0 samples/sec"))
    assert sorted(gpus for gpus, _ in speedups(found)) == [1, 1, 2, 4]


def test_ratios_over_the_first_row_of_another_case(tmp_path: Path) -> None:
    rows = [
        f"{way}-{batch};{gpus};{batch};{rate}/s;{ratio}×"
        for way, gpus, batch, rate, ratio in (
            ("dataparallel", 2, "256", 180.344, "1"),
            ("dataparallel", 8, "1K", 606.916, "3.365"),
            ("pipeline", 2, "256", 117.432, "0.651"),
            ("pipeline", 8, "1K", 294.739, "1.634"),
            ("pipeline", 8, "4K", 378.746, "2.100"),
        )
    ]
    found = audited(tmp_path, table("Experiment;GPUs;Batch size;Throughput;Speed up", *rows))
    assert [one.checked.speedups for one in found] == [2, 0]  # the batch changes in the second case
    assert [view["relative"] for view in audit_view(found)] == ["", "line 3"]
    assert not [remark for one in found for remark in one.remarks if remark.kind == "no base case"]


@pytest.mark.parametrize("header", ["MFU", "%峰值算力", "% of peak", "% of theoretical peak"])
def test_headers_of_the_share_of_the_peak(header: str) -> None:
    assert is_utilization(header)


def test_a_batch_in_brackets_is_a_setting_of_its_column() -> None:
    assert [meaning_of(name).role for name in ("ResNet-50 (batch size 32)", "batch size (32)")] == [
        "ignore",
        "batch",
    ]


def test_the_hint_names_all_columns_of_numbers_that_grow(tmp_path: Path) -> None:
    text = refused(tmp_path, table("GPUs;InceptionV3;VGG16", "1;142;154", "2;284;295", "4;569;584"))
    assert "if they are throughputs, add --column 'InceptionV3=throughput' --column 'VGG16=throughput'" in text


def test_times_below_a_header_that_names_processes_are_no_devices(tmp_path: Path) -> None:
    rows = ("2;9.87min;3.38 min", "6;9.87min;2.02 min")
    found, _ = rows_of(tmp_path, table("Num workers;copy;process(distributed)", *rows))
    assert [gpus for gpus, _ in found[0]] == [2, 6]


def test_bars_behind_a_grid_are_none_of_it(tmp_path: Path) -> None:
    rule = "+-------+----------+ | |\n"
    grid = f"{rule}| Cores | Time (s) | | |\n{rule}| 1 | 10 | | |\n| 2 | 5.2 | | |\n"
    assert rows_of(tmp_path, grid + rule)[0] == [[(1, 10), (2, 5.2)]]
