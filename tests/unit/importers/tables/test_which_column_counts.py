"""Which of several columns counts the devices, what labels call them, and which of two rates is of each device."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.devices.counted import counted_in
from scalestudy.importers.reading import read_published
from test_printed_habits import ONCE, audited, speedups, table


def test_tasks_count_beside_nodes_and_threads_of_each(tmp_path: Path) -> None:
    rows = ("Small;1;4;16;100", "Small;2;8;16;52.6", "Large;8;32;24;100", "Large;16;64;24;50")
    found = audited(tmp_path, table("Problem Size;GPU Nodes Used;MPI Tasks;Threads;Total Time (s)", *rows))
    assert [[gpus for gpus, _ in speedups(one)] for one in found] == [[4, 8], [32, 64]]


def test_how_often_a_run_was_repeated_is_no_label(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;tok/s;n", "8;100;1", "16;190;1", "32;350;2"))
    assert [gpus for gpus, _ in speedups(found)] == [8, 16, 32]


@pytest.mark.parametrize("labels", [("tp4_fsdp2", "tp4_fsdp4", "tp4_fsdp8"), ("TP4xDP2", "TP4xDP4", "TP4xDP8")])
def test_degrees_that_follow_from_the_devices_are_one_strategy(labels: tuple[str, ...], tmp_path: Path) -> None:
    rows = [f"{n};{label};{rate}" for n, label, rate in zip((8, 16, 32), labels, (100, 190, 350), strict=True)]
    (found,) = audited(tmp_path, table("GPUs;Parallelism;tok/s", *rows))
    assert (speedups(found), found.remarks) == ([(8, 1.0), (16, 1.9), (32, 3.5)], ())


def test_codes_of_nodes_and_devices_say_the_placement(tmp_path: Path) -> None:
    rows = ("1n1g;1;100;1.00x", "1n2g;2;190;1.90x", "2n1g;2;180;1.80x", "2n2g;4;350;3.50x")
    found = audited(tmp_path, table("Config;GPUs;samples/s;Speedup", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.8)], ONCE]
    assert not any(one.remarks for one in found)


@pytest.mark.parametrize(
    ("labels", "noun"),
    [
        (("1 GPU", "2 GPUs (DDP)", "4 GPUs (DDP)"), "GPUs"),
        (("Serial", "OpenMP, 2 threads", "OpenMP, 4 threads"), "threads"),
        (("1 node", "2 nodes", "4 nodes"), "nodes"),
        (("1x A100", "2x A100", "4x A100"), "devices"),
        (("1 node, TP2", "2 nodes, TP2 DP2", "4 nodes, TP2 DP4"), "devices"),
    ],
)
def test_labels_say_what_is_counted(labels: tuple[str, ...], noun: str, tmp_path: Path) -> None:
    rows = [f"{label};{rate}" for label, rate in zip(labels, (100, 190, 350), strict=True)]
    (found,) = audited(tmp_path, table("Setup;tok/s", *rows))
    assert counted_in(found.source) == noun


def test_of_two_rates_with_one_header_the_second_is_of_each_node(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("Nodes,Photons/s,Photons/s\n32,9.6E+07,3.0E+06\n64,1.92E+08,3.0E+06\n96,2.8E+08,2.917E+06\n")
    (found,) = read_published(path).tables
    assert [column.role for column in found.columns] == ["nodes", "throughput", "throughput_per_gpu"]


def test_efficiencies_that_agree_show_that_speedups_are_wrong_one_by_one(tmp_path: Path) -> None:
    rows = ("1;31.1;-;-", "2;53.7;1.9;86%", "4;92.7;3.5;74%")
    (found,) = audited(tmp_path, table("GPUs;ns/day;Speedup;Parallel efficiency", *rows))
    assert [(remark.kind, remark.gpus) for remark in found.remarks] == [("speedup", 2), ("speedup", 4)]


def test_a_projected_time_is_not_measured(tmp_path: Path) -> None:
    rows = ("1;100 s;1.0;19.5 h", "2;52.6 s;1.9;9.8 h", "4;28.57 s;3.5;5.1 h")
    (found,) = audited(tmp_path, table("Workers;Wall-clock runtime;Speedup;Projected full-2024 wall time", *rows))
    assert (speedups(found), found.table.base and found.table.base.number("whole_time_s")) == (ONCE, 100)


def test_factors_in_front_of_numbers_with_decimal_commas(tmp_path: Path) -> None:
    rows = ("1;4,90;x1,00", "2;9,31;x1,90", "4;17,15;x3,50")
    (found,) = audited(tmp_path, table("Hilos;Solicitudes/s;Aceleración", *rows))
    assert (speedups(found), found.checked.speedups) == (ONCE, 3)


@pytest.mark.parametrize("header", ["GOMAXPROCS", "RAYON_NUM_THREADS", "Partitions", "numLocales"])
def test_variables_and_other_names_of_devices(header: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table(f"{header};wall time (s)", "1;100", "2;52.6", "4;28.57"))
    assert speedups(found) == ONCE


def test_a_hint_names_no_column_of_the_size_of_the_work(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("Columns;Pool;time (s)", "10;1;100", "10;2;52.6", "20;4;28.57"))
    with pytest.raises(UserError, match="--column 'Pool=gpus'"):
        read_published(path)


def test_a_rate_that_is_the_combined_one_over_the_devices_is_that_of_each(tmp_path: Path) -> None:
    rows = ("4;2.42;9.6", "8;2.28;18.2", "16;2.26;34.8")
    found = audited(tmp_path, table("Nodes;Worker Throughput (Results/s);Combined Throughput (Results/s)", *rows))
    assert [speedups(one)[-1] for one in found] == [(16, 3.74), (16, 3.62)]
