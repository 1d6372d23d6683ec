"""How many devices a node has, what captions say of unknown columns, and sections of devices across."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_printed_habits import ONCE, audited, speedups, table

ON_NODES = [(4, 1.0), (8, 1.9), (16, 3.5)]


def on_nodes(header: str) -> str:
    return table(f"{header};img/s", "1;100", "2;190", "4;350")


@pytest.mark.parametrize(
    "header",
    [
        *(
            "Nodes (4x A100 each)",
            "# Nodes (4 GPUs per node)",
            "Nodes (with 4 cores each)",
            "Nodes (4 ranks/node)",
        ),
        *("Nodes [4 GPUs]", "Nodes, 4 GPUs each", "Nodes (4 GPUs each)", "Nodes (4x V100)"),
    ],
)
def test_a_header_of_nodes_says_how_many_devices_each_has(header: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, on_nodes(header))
    assert (speedups(found), list(found.source.notes)) == (ON_NODES, [])


@pytest.mark.parametrize(
    "words",
    [
        *("Each node has 4 A100 GPUs.", "Multi-node scaling (4 GPUs per node)", "4x V100 per node, NVLink"),
        "Each node has 4 A100 GPUs and 64 cores per node.",
    ],
)
def test_words_above_a_table_say_how_many_devices_a_node_has(words: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, f"{words}\n\n{on_nodes('Nodes')}")
    assert speedups(found) == ON_NODES


@pytest.mark.parametrize("words", ["Each node has 2 sockets.", "2x EPYC 7742 per node", "4 GPUs per rank"])
def test_other_numbers_above_a_table_of_nodes(words: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, f"{words}\n\n{on_nodes('Nodes')}")
    assert speedups(found) == ONCE


def test_a_caption_names_columns_beside_a_ratio_of_two_of_them(tmp_path: Path) -> None:
    rows = ("1;100;110;1.10x", "2;190;220;1.16x", "4;350;420;1.20x")
    text = "Throughput (samples/sec) for fine-tuning.\n\n" + table("GPUs;ZeRO-3;FSDP;Speedup of FSDP", *rows)
    found = audited(tmp_path, text)
    assert [speedups(one)[:2] for one in found] == [ONCE[:2], [(1, 1.0), (2, 2.0)]]
    assert not any(one.remarks for one in found)


@pytest.mark.parametrize("words", ["Hours to convergence", "minutes until 75.9 % accuracy"])
def test_a_caption_is_a_time_to_a_target(words: str, tmp_path: Path) -> None:
    text = f"{words}\n\n" + table("workers;sync;async", "1;40;42", "2;20;20", "4;10;10.5")
    assert [speedups(one)[1] for one in audited(tmp_path, text)] == [(2, 2.0), (2, 2.1)]


def test_an_efficiency_below_numbers_shows_that_they_are_rates(tmp_path: Path) -> None:
    rows = ("ResNet-50;100;190;350", "Efficiency;100%;95%;87.5%")
    (found,) = audited(tmp_path, table("GPUs;1;2;4", *rows))
    assert (speedups(found), found.checked.efficiencies) == (ONCE, 3)


def test_sections_between_rows_of_devices_across(tmp_path: Path) -> None:
    rows = ("**A**;;;", "img/s;100;190;350", "efficiency;1.0;0.95;0.88")
    again = ("**B**;;;", "img/s;200;380;700", "efficiency;1.0;0.95;0.88")
    found = audited(tmp_path, table("Threads;1;2;4", *rows, *again))
    assert [speedups(one) for one in found] == [ONCE, ONCE]


@pytest.mark.parametrize("header", ["Slurm nodes", "Worker nodes", "GPU nodes"])
def test_kinds_of_nodes(header: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table(f"{header};GPU/node;img/s", "1;4;100", "2;4;190", "4;4;350"))
    assert speedups(found) == ON_NODES


def test_hardware_behind_devices_in_headers(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Model;Single GPU (A100);8 GPUs (A100);Speedup", "otter;24h;4h;6x"))
    assert (speedups(found), found.checked.speedups) == ([(1, 1.0), (8, 6.0)], 1)


@pytest.mark.parametrize(
    "corner", ["N / p", "size \\ threads", "Samples\\Threading", "Matrix size \\ #procs", "model ↓ / cores →"]
)
def test_the_first_header_names_rows_and_columns(corner: str, tmp_path: Path) -> None:
    found = audited(
        tmp_path, f"Times in seconds\n\n{table(f'{corner};1;2;4', '10;100;52.6;28.57', '20;200;105;60')}"
    )
    assert [speedups(one)[:2] for one in found] == [ONCE[:2], ONCE[:2]]


def test_devices_are_the_rows_of_a_corner(tmp_path: Path) -> None:
    found = audited(
        tmp_path, "Times in seconds\n\n" + table("Threads\\Size;1000;2000", "1;100;200", "2;50;105", "4;26;60")
    )
    assert [speedups(one)[1] for one in found] == [(2, 2.0), (2, 1.9)]


def test_an_efficiency_of_the_smallest_scale_shows_that_the_baseline_is_missing(tmp_path: Path) -> None:
    rows = ("8;12,400;98.2", "16;24,100;96.7", "32;46,800;92.3", "64;72,300;71.6")
    (found,) = audited(tmp_path, table("GPU Count;tokens/sec;Efficiency (%)", *rows))
    kinds = [(remark.kind, remark.gpus) for remark in found.remarks]
    assert kinds == [("no base case", 8), ("efficiency", 16), ("efficiency", 32)]


def test_settings_behind_batches_distinguish_runs(tmp_path: Path) -> None:
    rows = ("64x2;2;100", "64x4;4;190", "64x2 (lr=0.4);2;80", "64x4 (lr=0.4);4;160")
    found = audited(tmp_path, table("batch size;gpus;samples/s", *rows))
    assert [speedups(one) for one in found] == [[(2, 1.0), (4, 1.9)], [(2, 1.0), (4, 2.0)]]


def test_times_are_not_ratios_below_weak_scaling(tmp_path: Path) -> None:
    rows = ("N;5000;10000;20000", "Weak Scaling (sec);100;105.3;114.3")
    (found,) = audited(tmp_path, table("No of ranks;1;4;16", *rows))
    assert speedups(found) == [(1, 1.0), (4, 3.8), (16, 14.0)]


@pytest.mark.parametrize("header", ["ctime", "etime", "rtime (s)"])
def test_short_names_of_times(header: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table(f"np;{header}", "1;100", "2;52.6", "4;28.57"))
    assert speedups(found) == ONCE


@pytest.mark.parametrize("unit", ["토큰/초", "トークン/秒", "词元/秒"])
def test_rates_in_a_heading_of_another_language(unit: str, tmp_path: Path) -> None:
    text = f"#### Llama ({unit})\n\n" + table("GPU;TP Size;128 in;2048 in", "H200;1;100;200", "H200;2;190;380")
    assert [speedups(one) for one in audited(tmp_path, text)] == [ONCE[:2], ONCE[:2]]


def test_a_total_time_beside_that_of_an_epoch(tmp_path: Path) -> None:
    rows = ("1;45 min;75 hours;1.0x", "4;12 min;20 hours;3.75x")
    found = audited(tmp_path, table("GPUs;Time/Epoch;Total (100 epochs);Speedup", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 3.75)]] * 2


def test_work_over_time_is_a_rate_of_all_devices(tmp_path: Path) -> None:
    rows = ("1;39.77;19242;483.83", "2;41.25;19242;466.48")
    (found,) = audited(tmp_path, table("Workers;Time (s);Rows;Throughput (rows/s)", *rows))
    assert speedups(found) == [(1, 1.0), (2, 0.96)]


def test_one_simulation_is_of_all_devices(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GCDs;Performance (ns/day)", "4;190", "8;195"))
    assert speedups(found) == [(4, 1.0), (8, 1.03)]


def test_growing_work_turns_back_by_its_throughput(tmp_path: Path) -> None:
    text = "Weak scaling\n\n" + table("Workers;Runtime (s)", "1;0.060", "10;0.100", "25;0.300")
    (found,) = audited(tmp_path, text)
    assert "throughput falls from 10 to 25 devices" in found.remarks[0].sentence


def test_rows_with_a_unit_in_their_name_and_an_efficiency(tmp_path: Path) -> None:
    rows = ("BERT (seq/s);410;802;1570;95.7%", "GPT-2 (seq/s);38.1;74.0;143.2;94.0%")
    found = audited(tmp_path, table("Workload;1 node;2 nodes;4 nodes;Scaling eff. (4N)", *rows))
    assert [(one.remarks, one.checked.efficiencies) for one in found] == [((), 1), ((), 1)]


def test_degrees_that_repeat_the_devices_are_one_strategy(tmp_path: Path) -> None:
    rows = ("DP1;1;100", "DP2;2;190", "DP4;4;350", "DP2xTP2;4;300")
    (found,) = audited(tmp_path, table("Parallelism;#Devices;samples/s", *rows))
    assert (speedups(found), found.remarks) == (ONCE, ())


def test_the_second_ratio_of_a_cell_is_named(tmp_path: Path) -> None:
    rows = ("1;100;100% (baseline)", "2;190;95% (88% of peak)", "4;350;87.5% (75% of peak)")
    (found,) = audited(tmp_path, table("GPUs;Samples/s;Efficiency", *rows))
    assert (speedups(found), found.checked.efficiencies) == (ONCE, 3)
    assert found.source.notes == ("the second number of cells such as '95% (88% of peak)' is not read",)


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        (";DP=1;DP=2;DP=4", ["TP=1;100;190;350", "TP=2;180;340;610"]),
        ("TP \\ PP;1;2;4", ["1;100;190;350", "2;180;340;610"]),
    ],
)
def test_devices_are_the_product_of_degrees_of_rows_and_columns(
    header: str, rows: list[str], tmp_path: Path
) -> None:
    text = table(header, *rows) + "\n\nThroughput in samples/s"
    assert [speedups(one) for one in audited(tmp_path, text)] == [ONCE, [(1, 1.0), (2, 1.8), (4, 3.4), (8, 6.1)]]


def test_a_serial_row_beside_the_size_of_the_problem(tmp_path: Path) -> None:
    rows = ("Sequential;1000;NA;90", "Parallel;1000;1;100", "Parallel;1000;2;50", "Parallel;1000;4;30")
    found = audited(tmp_path, table("type;n;threads;time (s)", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (1, 0.9), (2, 1.8), (4, 3.0)]]
    assert [remark.kind for remark in found[0].remarks] == ["two base cases"]


def test_a_batch_with_its_product_is_that_of_all_devices(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;Batch;img/s", "4;512(4x128);1000", "8;1024(8x128);1900"))
    assert [row.number("global_batch") for row in found.source.rows] == [512, 1024]


def test_a_serial_implementation_is_the_baseline_of_the_parallel_ones(tmp_path: Path) -> None:
    rows = ("Serial;1;90 s", "OpenMP;2;50 s", "OpenMP;4;30 s", "MPI;2;60 s", "MPI;4;45 s")
    found = audited(tmp_path, table("Implementation;Cores;N=10^8", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.8), (4, 3.0)], [(1, 1.0), (2, 1.5), (4, 2.0)]]


def test_times_of_programs_beside_their_speedups_over_a_serial_time(tmp_path: Path) -> None:
    head = "Threads;Sequential (s);OpenMP (s);Pthreads (s);OpenMP speedup;Pthreads speedup"
    found = audited(tmp_path, table(head, "2;60;30;32;2.00;1.88", "4;60;15;16;4.00;3.75"))
    assert [(one.checked.speedups, one.remarks) for one in found] == [(2, ()), (2, ())]


@pytest.mark.parametrize("header", ["jobs (-j)", "make -j", "make jobs"])
def test_jobs_of_a_build(header: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table(f"{header};build time", "1;100 s", "2;52.6 s", "4;28.57 s"))
    assert speedups(found) == ONCE


def test_labels_with_the_devices_among_their_settings(tmp_path: Path) -> None:
    rows = ("Trainer(devices=2, x=1);2;100", "Trainer(devices=4, x=1);4;190", "Trainer(devices=2, x=2);2;90")
    (found,) = audited(tmp_path, table("Trainer;Devices;samples/s", *rows))
    assert speedups(found) == [(2, 1.0), (4, 1.9)]


def test_an_improvement_beside_quantities_of_rows_is_a_speedup(tmp_path: Path) -> None:
    rows = ("Throughput (img/s);100;350;3.5x faster", "Val accuracy;92.1%;92.0%;-0.1%")
    (found,) = audited(tmp_path, table(";Baseline (1 GPU);DDP (4 GPUs);Improvement", *rows))
    assert (speedups(found), found.checked.speedups) == ([(1, 1.0), (4, 3.5)], 1)
