"""A column of serial times beside parallel ones is the baseline of the printed speedups, and no series."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_more_printed_habits import kinds
from test_printed_habits import audited, speedups, table

ROWS = ["1;8.0;10.0;0.80;80%", "2;8.0;6.0;1.33;66.7%", "4;8.1;4.0;2.02;50.6%"]


@pytest.mark.parametrize("header", ["Sequential Time (s)", "Serial time (s)", "Single-thread time (s)"])
def test_speedups_over_serial_times_are_checked(tmp_path: Path, header: str) -> None:
    (found,) = audited(tmp_path, table(f"Threads;{header};Parallel Time (s);Speedup;Efficiency (%)", *ROWS))
    assert speedups(found) == [(1, 1.0), (2, 1.67), (4, 2.5)]
    assert (found.speedups.kind, found.checked.speedups, found.checked.efficiencies) == ("serial", 3, 3)
    assert kinds([found]) == []


def test_a_wrong_speedup_over_serial_times_is_found(tmp_path: Path) -> None:
    rows = [*ROWS[:2], "4;8.0;4.0;2.50;62.5%"]
    (found,) = audited(tmp_path, table("Threads;Serial time (s);Parallel Time (s);Speedup;Efficiency", *rows))
    assert [(remark.kind, remark.gpus) for remark in found.remarks] == [("speedup", 4), ("efficiency", 4)]


def test_serial_times_of_several_sizes_are_those_of_each_row(tmp_path: Path) -> None:
    rows = ["1000;2;8.0;5.0;1.60", "1000;4;8.0;2.5;3.20", "2000;2;30.0;20.0;1.50", "2000;4;30.0;10.0;3.00"]
    found = audited(tmp_path, table("N;Threads;Sequential (s);Parallel (s);Speedup", *rows))
    assert [(speedups(one), one.checked.speedups) for one in found] == [([(2, 1.0), (4, 2.0)], 2)] * 2
    assert kinds(found) == []


def test_sequential_accesses_that_get_faster_are_a_series(tmp_path: Path) -> None:
    rows = ["1;8.0;9.0", "2;4.0;5.0", "4;2.0;3.0"]
    found = audited(tmp_path, table("Threads;Sequential time (s);Random time (s)", *rows))
    assert [speedups(one)[-1] for one in found] == [(4, 4.0), (4, 3.0)]


def test_abbreviated_names_belong_to_the_columns_of_times(tmp_path: Path) -> None:
    rows = ["1;8,000;9,000;1,00x;1,00x", "2;5,000;4,500;1,60x;2,00x", "4;2,500;2,500;3,20x;3,60x"]
    header = "OMP_NUM_THREADS;Baseline (s);Phase 2 (s);Speedup base;Speedup P2"
    found = audited(tmp_path, table(header, *rows))
    assert [(one.checked.speedups, kinds([one])) for one in found] == [(3, []), (3, [])]
    wrong = audited(tmp_path, table(header, *rows[:2], "4;2,500;2,500;3,20x;4,60x"))
    assert [(remark.kind, remark.gpus) for one in wrong for remark in one.remarks] == [("speedup", 4)]


def test_serial_times_are_no_series_beside_a_ratio_of_each_row(tmp_path: Path) -> None:
    rows = ["64;16;0.25;0.40;1.6x slower", "64;32;0.25;0.20;1.2x", "128;16;4.0;1.0;4.1x", "128;32;4.0;0.5;8.2x"]
    found = audited(tmp_path, table("Size;Threads;Serial (s);OMP (s);Change", *rows))
    assert [speedups(one) for one in found] == [[(16, 1.0), (32, 2.0)]] * 2


def test_a_serial_row_without_devices_is_the_baseline(tmp_path: Path) -> None:
    rows = [
        "serial (`run`);-;8.00;1.00x",
        "parallel;1;8.20;0.98x",
        "parallel;2;4.10;1.95x",
        "parallel;4;2.00;4.00x",
    ]
    (found,) = audited(tmp_path, table("mode;workers;wall (s);speedup vs serial", *rows))
    assert (speedups(found)[-1], found.checked.speedups, kinds([found])) == ((4, 4.1), 3, [])


SERIAL_ACROSS = {
    "threaded": table("Test;Single-threaded;Multi-threaded (8);Gain", "a;820 ms;164 ms;5.0x"),
    "unit": table("Size;Serial (ms);OpenMP 8T (ms);Speedup", "1024;820;164;5.0"),
    "method": table("Size;Sequential (s);MPI (8) (s);Speedup", "1024;820;164;5.0"),
    "letters": table("Matrix;T_seq;T_par (8 threads);Speedup", "500;8.2 s;1.64 s;5.0"),
    "procs": table("Input;Serial;MPI 8 procs;Speedup", "x;8.2 s;1.64 s;5.0"),
}


@pytest.mark.parametrize("text", SERIAL_ACROSS.values(), ids=SERIAL_ACROSS)
def test_a_serial_column_beside_one_of_several_devices(tmp_path: Path, text: str) -> None:
    (found,) = audited(tmp_path, text)
    assert speedups(found) == [(1, 1.0), (8, 5.0)]
    assert not found.remarks


def test_threads_across_have_their_name(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, SERIAL_ACROSS["threaded"])
    assert any(column.header == "threads" for column in found.source.columns)
