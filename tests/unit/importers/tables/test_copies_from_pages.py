"""Tables in copies of web pages, notebooks and consoles, and the text beside them."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import audit_file
from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.reading import read_published
from test_printed_habits import audited, speedups, table

FRAME = """In [12]:

df

Out[12]:

np cells setup_time solve_time
0 48 1000 2.66 4.27
1 96 1000 2.65 3.06
2 192 1000 2.58 1.28
"""
CONSOLE = """STEP TIME (ms)
compiler model_name  Num GPUS  Seq Len  Micro BS  Global BS       eager
0           model-2         1     2048         1          1  228.394457
1           model-2         4     2048         1          4  254.056582
"""
CELLS = ("Model", "#-GPUs", "GBS", "Tokens / sec / GPU", "model-3B", "8", "256", "23406", "model-3B", "64", "256")
CELLS += ("21001", "model-70B", "64", "128", "1524")


def read(tmp_path: Path, text: str) -> list:
    path = tmp_path / "copy.md"
    path.write_text(text, encoding="utf-8")
    return audit_file(read_published(path), "copy")[0]


def test_a_data_frame_whose_copy_lost_its_columns(tmp_path: Path) -> None:
    found = read(tmp_path, FRAME)
    assert speedups(found[-1]) == [
        (48, 1.0),
        (96, pytest.approx(1.4, abs=0.01)),
        (192, pytest.approx(3.34, abs=0.01)),
    ]


def test_a_data_frame_with_a_name_of_its_columns(tmp_path: Path) -> None:
    (found,) = read(tmp_path, CONSOLE)
    assert speedups(found)[1] == (4, pytest.approx(3.6, abs=0.01))  # the sequence length is no time


@pytest.mark.parametrize("between", ["\n\n", "\n"])
def test_cells_below_each_other(between: str, tmp_path: Path) -> None:
    text = between.join(("Results of our training", *CELLS, "The last one is slower."))
    (found,) = [one for one in read(tmp_path, text) if len(one.table.scales) > 1]
    assert speedups(found) == [(8, 1.0), (64, pytest.approx(7.18, abs=0.01))]


def test_words_below_each_other_are_no_table(tmp_path: Path) -> None:
    path = tmp_path / "copy.md"
    path.write_text("\n\n".join(("GPUs", "Speed", "Notes", "1", "fast", "none", "x", "y")), encoding="utf-8")
    with pytest.raises(Exception, match="no table of scaling"):
        read_published(path)


def test_hours_and_minutes_with_a_comma(tmp_path: Path) -> None:
    rows = ("1;25h, 3 min;Reference", "2;15h, 55 min;1.57x")
    (found,) = audited(tmp_path, table("GPU Count;Execution Time;Speed-up", *rows))
    assert speedups(found)[1] == (2, 1.57)
    assert not found.remarks


def test_a_time_that_is_repeated_in_hours_is_one_quantity(tmp_path: Path) -> None:
    rows = ("Single node (8x H100);491.85 min (8h 12m)", "Multi-node (32x H100);154.86 min (2h 35m)")
    (found,) = audited(tmp_path, table("Configuration;Time to Convergence", *rows))
    assert speedups(found)[1] == (32, pytest.approx(3.18, abs=0.01))
    assert not found.remarks  # single and several nodes are no strategies


@pytest.mark.parametrize(
    ("header", "role", "unit"),
    [
        ("Days per nanosecond of simulation", "time_s", "d"),
        ("hours/ns", "time_s", "h"),
        ("s/Mtoken", "time_s", "s"),
        ("hours per 1000 steps", "step_time_s", "h"),
        ("ns/day", "throughput", "ns/day"),
    ],
)
def test_the_time_of_simulated_time(header: str, role: str, unit: str) -> None:
    found = meaning_of(header)
    assert (found.role, found.unit) == (role, unit)


def test_the_time_of_many_steps_by_the_clock_is_divided_by_them(tmp_path: Path) -> None:
    rows = ("8;64;20:25:48;87.0", "256;2048;25:51:41;2210.0")
    (found,) = audited(tmp_path, table("# GPUs;Global batch;Time / 100K steps;Samples / s", *rows))
    assert any("2048 samples in 931.01 ms are 2199.8 samples/s" in str(remark) for remark in found.remarks)


def test_very_weak_scaling_is_no_kind_of_scaling(tmp_path: Path) -> None:
    rows = "| GPUs | Time (s) |\n|---|---|\n| 1 | 40 |\n| 2 | 44 |\n"
    assert not read(tmp_path, f"# It has a very weak scaling\n\n{rows}")  # it is asked for
    (found,) = read(tmp_path, f"# It has a weak scaling\n\n{rows}")
    assert found.scaling == "weak"


SERIAL = """
| threads | time (s) | speedup |
|---|---|---|
| 1 | 15.04 | 0.98 |
| 2 | 9.34 | 1.58 |
| 4 | 8.03 | 1.84 |
"""


@pytest.mark.parametrize("words", ["Tempo sequencial 14.79s", "Serial time: 14790 ms"])
def test_a_serial_time_of_the_text_is_the_baseline_of_printed_speedups(words: str, tmp_path: Path) -> None:
    (found,) = read(tmp_path, f"# Jacobi\n\n{words}\n{SERIAL}")
    assert not found.remarks
    assert f"the text states a serial time: '{words}'" in found.source.notes
    (wrong,) = read(tmp_path, f"# Jacobi\n\n{words}\n{SERIAL.replace('1.58', '1.68')}")
    assert [remark.kind for remark in wrong.remarks] == ["speedup"]


def test_speedups_over_a_serial_run_that_is_not_printed_are_not_called_wrong(tmp_path: Path) -> None:
    rows = ("1;0.0311;3.78x faster;3.78", "2;0.0314;3.75x faster;3.75", "4;0.0307;3.83x faster;3.83")
    (found,) = audited(tmp_path, table("Threads;Time (s);vs Sequential;Speedup", *rows))
    assert "no base case" in {remark.kind for remark in found.remarks}
    assert "speedup" not in {remark.kind for remark in found.remarks}


def test_the_only_row_with_1x_is_the_baseline_also_if_ratios_are_wrong(tmp_path: Path) -> None:
    rows = ("SEQ;1;2.239;1.00", "MPI;1;0.1295;17.29", "MPI;2;0.0746;29.50", "MPI;4;0.0597;37.52")
    (found,) = audited(tmp_path, table("Mode;Processes;Time (s);Speedup", *rows))
    assert [remark.kind for remark in found.remarks] == ["speedup"]
    assert "printed 29.5, but the times give 30.01" in str(found.remarks[0])


@pytest.mark.parametrize(("text", "devices"), [("2 x 2 x 1", 4), ("4x4x2", 32), ("2 x 2 x 2 x 2 (16)", 16)])
def test_the_processes_in_each_direction_of_a_grid_are_multiplied(text: str, devices: int) -> None:
    assert read_count(text).gpus == devices


def test_a_rate_that_is_a_quotient_by_chance_is_asked_for(tmp_path: Path) -> None:
    rows = ("4;200;0.48;437.0", "8;200;0.50;419.0", "16;200;0.53;395.6", "32;200;0.56;374.0")
    path = tmp_path / "table.md"
    path.write_text(table("ranks;steps;total_time;throughput_mcells_s", *rows), encoding="utf-8")
    assert audit_file(read_published(path), "table")[1]


def test_degrees_that_change_with_the_devices_are_no_series(tmp_path: Path) -> None:
    header = "Length;**4 GPUs**<br/>TP2,PP2 (FP4);**8 GPUs**<br/>TP4,PP2 (FP4)"
    rows = table(header, "128/128;18,644;23,454", "128/2048;12,321;21,035")
    found = read(tmp_path, f"Throughput (tokens/s)\n\n{rows}")
    assert [speedups(one) for one in found] == [[(4, 1.0), (8, 1.26)], [(4, 1.0), (8, 1.71)]]


def test_lists_of_runs_between_commas_have_no_thousands(tmp_path: Path) -> None:
    rows = ("1;60,160", "2;36,38", "4;26,21,21,23")
    (found,) = audited(tmp_path, table("Par;ExecTime (s)", *rows))
    assert speedups(found) == [(2, 1.0), (4, 1.63)]  # 60 and 160 differ too much to be of one setup


def test_a_rate_in_units_of_a_million_millions(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Devices;Throughput", "1 V100;294.7G windows/s", "4 V100;1.128T windows/s"))
    assert speedups(found)[1] == (4, 3.83)


def test_one_thread_beside_the_best_time_and_its_threads(tmp_path: Path) -> None:
    rows = ("500;31.1;10.7;4;2.91x", "1000;471.9;93.9;6;5.03x")
    found = audited(tmp_path, table("Matrix Size;1 Thread;Best Time;Best Threads;Speedup", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 2.91)], [(1, 1.0), (6, 5.03)]]
    assert not any(one.remarks for one in found)


def test_a_percentile_is_no_device() -> None:
    assert (read_count("8x p99").hardware, read_count("8x P40").hardware) == ("", "P40")


def test_a_column_of_answers_is_no_speedup(tmp_path: Path) -> None:
    header = "Strategy;GPUs;Throughput (ex/s);Speedup;Speedup > 1?"
    rows = ("single (baseline);1;1292.4;1.00x;\u2014", "DDP;2;1979.8;1.53x;yes", "TP;2;840.2;0.65x;**no: slow**")
    found = audited(tmp_path, table(header, *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.53)], [(1, 1.0), (2, 0.65)]]


def test_times_that_fall_but_for_the_serial_run_are_not_asked_for(tmp_path: Path) -> None:
    rows = (
        "Secuencial;2.63",
        "Paralelo - 1 worker;7.70",
        "Paralelo - 2 workers;4.95",
        "Paralelo - 4 workers;3.44",
    )
    (found,) = audited(tmp_path, table("Configuraci\u00f3n;Tiempo promedio (s)", *rows))
    assert "two base cases" in {remark.kind for remark in found.remarks}
