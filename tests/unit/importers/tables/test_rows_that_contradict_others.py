"""Numbers that contradict the other rows of a table, ratios of the best time, and ways to split devices."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scalestudy.diagnose.audit import Audit
from scalestudy.errors import UserError
from scalestudy.importers.reading import read_published
from test_printed_habits import audited, speedups, table


def remarks(found: Audit, kind: str) -> list[tuple[int | None, str]]:
    """The remarks of a kind: the devices and the sentence of each."""
    return [(one.gpus, one.sentence) for one in found.remarks if one.kind == kind]


def test_efficiencies_of_constant_work_in_weak_scaling(tmp_path: Path) -> None:
    rows = ("1;4,096;9.99;100.0%", "2;8,192;11.51;43.4%", "4;16,384;15.87;15.7%", "8;32,768;10.61;11.8%")
    (found,) = audited(tmp_path, "## Weak scaling\n\n" + table("Cores;Intervals;Time (s);Efficiency", *rows))
    assert speedups(found) == [(1, 1.0), (2, 1.74), (4, 2.52), (8, 7.53)]
    ((devices, sentence),) = remarks(found, "efficiency")
    assert devices is None
    assert "so they are 2 to 8 times too low" in sentence


def test_efficiencies_of_weak_scaling_follow(tmp_path: Path) -> None:
    rows = ("1;4,096;9.99;100.0%", "2;8,192;11.51;86.8%", "4;16,384;15.87;62.9%")
    (found,) = audited(tmp_path, "## Weak scaling\n\n" + table("Cores;Intervals;Time (s);Efficiency", *rows))
    assert found.remarks == ()
    assert found.checked.efficiencies == 3


def test_the_size_of_one_row_is_not_that_of_weak_scaling(tmp_path: Path) -> None:
    rows = ("1;50000;301;100", "2;100000;309;97.4", "4;200000;322;93.5", "8;200000;341;88.3")
    text = "Weak scaling: samples per GPU are constant\n\n"
    (found,) = audited(tmp_path, text + table("GPUs;Samples;Epoch time (s);Efficiency (%)", *rows))
    assert remarks(found, "work") == [
        (8, "Samples is 200000, 25000 for each device, but 50000 in all other rows of this weak scaling")
    ]


def test_sizes_that_grow_otherwise_are_no_error(tmp_path: Path) -> None:
    rows = ("1;50000;301", "2;100000;309", "4;150000;322", "8;250000;341")
    (found,) = audited(tmp_path, "Weak scaling\n\n" + table("GPUs;Samples;Epoch time (s)", *rows))
    assert not remarks(found, "work")


@pytest.mark.parametrize(("rate", "wrong"), [("372.5", 0), ("352.5", 1)])
def test_a_throughput_is_steps_times_the_batch_of_the_other_rows(tmp_path: Path, rate: str, wrong: int) -> None:
    rows = ("1;6.21;99.4", "2;6.05;193.6", f"4;5.82;{rate}", "8;5.51;705.3")
    text = "batch size 16 per GPU\n\n"
    (found,) = audited(tmp_path, text + table("#GPUs;it/s;Effective samples/s", *rows))
    assert [gpus for gpus, _ in remarks(found, "throughput against step time")] == [4] * wrong


def test_a_constant_global_batch_of_steps_a_second(tmp_path: Path) -> None:
    rows = ("1;1.00;256", "2;1.90;486", "4;3.70;947", "8;7.10;1717")
    (found,) = audited(tmp_path, table("GPUs;steps/s;samples/s", *rows))
    ((gpus, sentence),) = remarks(found, "throughput against step time")
    assert gpus == 8
    assert "241.8 for each step of all devices, but 255.9 in the other rows" in sentence


def test_the_latency_of_a_step_is_its_time(tmp_path: Path) -> None:
    rows = ("1;16;102.0;156.9", "4;16;108.1;592.0", "16;16;149.2;2147.7")
    (found,) = audited(tmp_path, table("Devices;Batch/device;Latency per step (ms);samples/s", *rows))
    assert [gpus for gpus, _ in remarks(found, "throughput against step time")] == [16]


def test_a_speedup_over_the_row_before_by_its_header(tmp_path: Path) -> None:
    rows = ("1;84.1;-", "2;164.9;1.96x", "4;319.8;1.84x", "8;607.2;1.90x")
    (found,) = audited(tmp_path, table("GPUs;samples/s;Speedup vs previous", *rows))
    ((gpus, sentence),) = remarks(found, "speedup")
    assert gpus == 4
    assert "the throughputs give 1.94" in sentence


def test_a_gain_over_one_device(tmp_path: Path) -> None:
    rows = ("1;402;-", "2;781;+94%", "4;1512;+246%", "8;2877;+616%")
    (found,) = audited(tmp_path, table("GPUs;images/s;Gain over 1 GPU", *rows))
    assert [gpus for gpus, _ in remarks(found, "speedup")] == [4]


def test_an_ideal_with_a_wrong_cell_is_no_speedup(tmp_path: Path) -> None:
    rows = ("1;120.5;120.5;100", "2;236.2;241.0;98.0", "4;461.0;482.0;95.6", "8;893.4;994.0;92.7")
    (found,) = audited(tmp_path, table("GPUs;samples/s;Linear scaling;% of linear", *rows))
    assert found.remarks == ()
    assert "Linear scaling" in found.source.unread


def test_a_speedup_of_the_shortest_time_of_a_row(tmp_path: Path) -> None:
    rows = (
        "500;121.6;80.8;38.8;41.2;3.1×",
        "1000;1385.9;1073.2;1047.1;1043.4;1.3×",
        "2000;28872;19140;13732;11095;2.6×",
    )
    found = audited(tmp_path, table("Matrix;1 Proc;2 Procs;4 Procs;6 Procs;Speedup", *rows))
    assert [one.checked.speedups for one in found] == [1, 1, 1]
    assert not [one for audit in found for one in remarks(audit, "speedup")]


def test_a_wrong_speedup_of_the_last_time_stays_wrong(tmp_path: Path) -> None:
    rows = ("500;121.6;80.8;38.8;3.1×", "1000;1385.9;1073.2;1047.1;1.9×")
    found = audited(tmp_path, table("Matrix;1 Proc (s);2 Procs (s);4 Procs (s);Speedup", *rows))
    assert [gpus for audit in found for gpus, _ in remarks(audit, "speedup")] == [4]


def test_factors_above_speedups_are_those_of_as_many_devices(tmp_path: Path) -> None:
    rows = (
        "8;256;123;57;26;14;2.15×;4.72×;8.79×",
        "8;512;299;113;58;30;2.65×;5.16×;9.97×",
        "10;256;205;109;63;49;1.88×;3.25×;4.9×",
    )
    text = "per-iteration time (ms)\n\n"
    found = audited(tmp_path, text + table("D;χ;1 GPU;2 GPU;4 GPU;8 GPU;2×;4×;8×", *rows))
    assert [one.checked.speedups for one in found] == [3, 3, 3]
    assert [gpus for audit in found for gpus, _ in remarks(audit, "speedup")] == [8]


def test_processes_by_threads_are_ways_to_split_devices(tmp_path: Path) -> None:
    rows = (
        "1 proc x 1 thread;80;1.00x",
        "1 proc x 8 threads;12.3;6.50x",
        "2 procs x 4 threads;14.0;5.71x",
        "4 procs x 2 threads;15.0;5.33x",
    )
    found = audited(tmp_path, table("Config;Time (s);Speedup", *rows))
    assert sorted(speedups(one)[-1] for one in found) == [(8, 5.33), (8, 5.71), (8, 6.5)]
    assert not [one for audit in found for one in audit.remarks]


def test_as_many_threads_of_each_process_are_one_series(tmp_path: Path) -> None:
    rows = ("1 rank x 8 threads;80", "2 ranks x 8 threads;41", "4 ranks x 8 threads;22")
    (found,) = audited(tmp_path, table("Config;Time (s)", *rows))
    assert speedups(found) == [(8, 1.0), (16, 1.95), (32, 3.64)]


def test_nodes_with_their_devices_in_brackets(tmp_path: Path) -> None:
    rows = ("1 (8 GPUs);2211;1.00", "2 (16 GPUs);4280;1.94", "4 (24 GPUs);8301;3.75")
    (found,) = audited(tmp_path, table("Nodes;samples/s;Speedup", *rows))
    assert speedups(found) == [(8, 1.0), (16, 1.94), (24, 3.75)]
    assert [gpus for gpus, _ in remarks(found, "faster than its devices")] == [24]


def test_a_ratio_and_the_same_as_a_gain(tmp_path: Path) -> None:
    rows = ("1;1.134811;Baseline", "2;0.580972;1.95 or 95%", "3;0.386024;1.51 or 51%", "4;0.298986;1.29 or 29%")
    (found,) = audited(tmp_path, table("nThreads;time elapsed (s);speedup", *rows))
    assert found.speedups.kind == "before"
    assert (found.checked.speedups, found.remarks) == (3, ())


def test_numbers_of_runs_are_no_speedups_by_a_sentence_below(tmp_path: Path) -> None:
    rows = ("One Process;20.2;18.0;19.1;19.1", "4 Processes;4.4;4.3;5.0;4.567")
    text = f"Timings are in seconds.\n\n{table('Run;#1;#2;#3;Average', *rows)}\n\nSpeedup (4 cores): 4.18\n"
    found = audited(tmp_path, text)
    assert [speedups(one)[-1] for one in found] == [(4, 4.59), (4, 4.19), (4, 3.82), (4, 4.18)]


@pytest.mark.parametrize("header", ["Threadgroup Size", "Block size", "Thread block"])
def test_the_launch_of_a_kernel_is_no_number_of_devices(tmp_path: Path, header: str) -> None:
    rows = ("32 threads;10.1;1.0x", "64 threads;6.2;1.63x", "128 threads;4.0;2.5x")
    (tmp_path / "table.md").write_text(table(f"{header};Time (ms);Speedup", *rows), encoding="utf-8")
    with pytest.raises(UserError, match="no column of devices"):
        read_published(tmp_path / "table.md")


def test_lists_without_brackets(tmp_path: Path) -> None:
    (found,) = audited(
        tmp_path, "GPUs: 1, 2, 4, 8\nimages/s: 402, 781, 1512, 2877\nspeedup: 1.00, 1.94, 3.76, 7.16\n"
    )
    assert speedups(found) == [(1, 1.0), (2, 1.94), (4, 3.76), (8, 7.16)]
    assert (found.checked.speedups, found.remarks) == (4, ())


@pytest.mark.parametrize("status", ["In progress", "🚧 in progress", "queued", "not yet run"])
def test_a_run_that_has_not_ended_is_not_measured(tmp_path: Path, status: str) -> None:
    rows = ("4;32;8200;done", "32;256;76500;done", f"64;512;155000;{status}")
    (found,) = audited(tmp_path, table("Nodes;GPUs;Samples/sec;Status", *rows))
    assert [gpus for gpus, _ in speedups(found)] == [32, 256]


@pytest.mark.parametrize("header", ["# GPUs", "Num of GPUs", "number of GPUs"])
def test_no_device_is_a_run_without_and_no_id(tmp_path: Path, header: str) -> None:
    (found,) = audited(tmp_path, table(f"{header};Time (s)", "0;230", "1;64.6", "2;33.0"))
    assert speedups(found) == [(1, 1.0), (2, 1.96)]
    assert any("on no device, so it is no scale" in note for note in found.source.notes)


def test_rows_on_as_many_devices_name_the_column_to_compare_by(tmp_path: Path) -> None:
    header = "MPI processes;OpenMP threads;Total threads;Time (ms)"
    rows = ("1;8;8;10984", "2;4;8;5450", "4;2;8;5200")
    (found,) = audited(tmp_path, table(header, *rows))
    option = "--column 'MPI processes=gpus'"
    assert f"to compare the rows by 'MPI processes', add {option}" in found.source.notes
    (tmp_path / "two.md").write_text(f"{table(header, *rows)}\n{table(header, *rows)}", encoding="utf-8")
    with pytest.raises(UserError, match=re.escape(option)):
        read_published(tmp_path / "two.md")


@pytest.mark.parametrize(
    ("column", "cells", "rates"),
    [
        ("batch_size", ("32", "64", "128", "128"), ("160.6", "313.6", "618.2", "1139.2")),
        ("grad_accum", ("8", "8", "8", "4"), ("160.6", "313.6", "618.2", "1139.2")),
        ("seq_len", ("2048", "2048", "2048", "1024"), ("160.6", "313.6", "618.2", "1139.2")),
    ],
)
def test_steps_of_other_batches_are_not_compared(
    tmp_path: Path, column: str, cells: tuple[str, ...], rates: tuple[str, ...]
) -> None:
    steps = ("5.02", "4.90", "4.83", "8.90")
    rows = [";".join(row) for row in zip(("1", "2", "4", "8"), cells, steps, rates, strict=True)]
    (found,) = audited(tmp_path, table(f"gpus;{column};steps_per_s;samples_per_s", *rows))
    assert not remarks(found, "throughput against step time")


def test_a_known_batch_times_steps_a_second(tmp_path: Path) -> None:
    rows = ("1;16;1.02;16.3", "2;16;1.00;32.0", "4;16;0.99;83.4", "8;16;0.97;124.2")
    (found,) = audited(tmp_path, table("gpus;batch_per_gpu;steps_per_s;samples_per_s", *rows))
    ((gpus, sentence),) = remarks(found, "throughput against step time")
    assert gpus == 4
    assert sentence == "64 samples 0.99 times a second are 63.36 samples/s, but 83.4 is printed"


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("Cells", ("0.13M", "0.25M", "0.5M", "1.0M")),
        ("Points", ("16k", "32k", "64k", "131k")),
        ("Cells", ("1M", "2M", "4M", "8.1M")),
        ("Halo cells", ("1000", "2000", "4000", "8500")),
        ("Boundary points", ("1000", "2000", "4000", "8500")),
    ],
)
def test_a_rounded_size_and_a_surface_are_no_error(tmp_path: Path, header: str, cells: tuple[str, ...]) -> None:
    times = ("4.02;1.000", "4.11;0.978", "4.30;0.935", "4.71;0.854")
    rows = [";".join(row) for row in zip(("1", "2", "4", "8"), cells, times, strict=True)]
    (found,) = audited(tmp_path, table(f"Ranks;{header};Time (s);Weak efficiency", *rows))
    assert not remarks(found, "work")


@pytest.mark.parametrize("header", ["Speedup vs previous release", "Speedup over prior work"])
def test_a_speedup_over_other_software_is_not_over_the_row_before(tmp_path: Path, header: str) -> None:
    (found,) = audited(tmp_path, table(f"GPUs;Time (s);{header}", "1;100;1.12", "2;52;1.15", "4;27;1.18"))
    assert not remarks(found, "speedup")


def test_a_ladder_of_changes_is_not_held_against_its_first_row(tmp_path: Path) -> None:
    rows = ("Baseline;1;100;-", "+ BF16;1;190;1.90", "+ compile;1;230;1.21", "+ DDP;4;880;3.83")
    found = audited(tmp_path, table("Optimization;GPUs;tokens/s;Speedup vs previous", *rows))
    assert not [one for audit in found for one in remarks(audit, "speedup")]


@pytest.mark.parametrize("header", ["Efficiency per doubling", "Doubling efficiency", "Incremental efficiency"])
def test_an_efficiency_over_the_row_before_by_its_header(tmp_path: Path, header: str) -> None:
    rows = ("1;410;-", "2;790;96.3%", "4;1460;94.2%", "8;2610;89.4%")
    (found,) = audited(tmp_path, table(f"GPUs;img/s;{header}", *rows))
    ((gpus, sentence),) = remarks(found, "efficiency")
    assert gpus == 4
    assert "gives 92.4 %" in sentence


def test_one_wrong_ratio_among_those_of_the_shortest_times(tmp_path: Path) -> None:
    rows = (
        "a;8.0;4.2;2.84;2.95;2.82x",
        "b;9.0;4.6;2.5;2.6;3.60x",
        "c;7.0;3.7;2.0;2.2;3.50x",
        "d;6.0;3.1;1.6;1.7;5.66x",
    )
    found = audited(tmp_path, table("op;1 thread (s);2 threads (s);4 threads (s);8 threads (s);Speedup", *rows))
    assert [gpus for audit in found for gpus, _ in remarks(audit, "speedup")] == [4]


@pytest.mark.parametrize(
    "cells",
    [
        ("1 (1 GPU)", "1 (8 GPUs)", "2 (16 GPUs)"),
        ("1 (=1 GPU)", "1 (=8 GPUs)", "2 (=16 GPUs)"),
        ("1 (1x H100)", "1 (8x H100)", "2 (16x H100)"),
        ("1 [1 A100]", "1 [8 A100]", "2 [16 A100]"),
        ("1 (1 GPU each)", "1 (8 GPUs each)", "2 (8 GPUs each)"),
        ("1 (1 GPU per node)", "1 (8 GPUs per node)", "2 (8 GPUs/node)"),
    ],
)
def test_ways_to_write_the_devices_of_nodes(tmp_path: Path, cells: tuple[str, ...]) -> None:
    rows = [f"{cell};{rate}" for cell, rate in zip(cells, ("430", "3250", "6300"), strict=True)]
    found = audited(tmp_path, table("Nodes;Tokens/s", *rows))
    assert sorted({gpus for audit in found for gpus, _ in speedups(audit)}) == [1, 8, 16]
