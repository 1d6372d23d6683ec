"""Rows that differ in their work are no series: sizes of a problem, sizes of a model, batches."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.importers.headers.meaning import meaning_of
from test_more_printed_habits import kinds
from test_printed_habits import audited, speedups, table


def test_no_row_of_another_size_is_the_baseline(tmp_path: Path) -> None:
    rows = ["Ising;42;8192;30.5", "Ising;40;8192;7.5", "Ising;36;1024;3.2"]
    found = audited(tmp_path, table("Model;N;MPI Processes;Time (s)", *rows))
    assert [speedups(one) for one in found] == [[(8192, 1.0)], [(8192, 1.0)], [(1024, 1.0)]]
    assert kinds(found) == ["one scale"] * 3


def test_sizes_that_grow_with_the_devices_are_one_series(tmp_path: Path) -> None:
    text = "Weak scaling\n\n" + table("Size;GPUs;Time (s)", "1000;1;2.0", "2000;2;2.0", "4000;4;2.5")
    (found,) = audited(tmp_path, text)
    assert speedups(found) == [(1, 1.0), (2, 2.0), (4, 3.2)]


def test_one_run_on_one_device_is_the_baseline_of_other_settings(tmp_path: Path) -> None:
    found = audited(tmp_path, table("TP;GPUs;img/s", "1;1;100", "2;4;300", "4;4;200", "2;8;500", "4;8;390"))
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 3.0), (8, 5.0)], [(1, 1.0), (4, 2.0), (8, 3.9)]]


def test_other_numbers_of_parameters_are_other_models(tmp_path: Path) -> None:
    rows = ["350M;24;64;0.9 days", "2.5B;54;128;2.3 days", "8B;72;512;2.1 days"]
    (found,) = audited(tmp_path, table("Params;Layers;GPUs;Time/Epoch", *rows))
    assert kinds([found]) == ["confounded"]


def test_rows_with_other_batches_are_other_configurations(tmp_path: Path) -> None:
    rows = ["LoRA;1;4;4100", "Finetune;4;8;8200", "Finetune;4;16;9000"]
    (found,) = audited(tmp_path, table("Method;GPUs;Batch Size;tokens/s", *rows))
    assert [scale.lines for scale in found.table.scales] == [(3,), (5,)]  # 4 on each device
    assert kinds([found]) == ["confounded"]  # the method


def test_cores_that_are_processes_times_threads_are_the_devices(tmp_path: Path) -> None:
    header = "Setup;MPI Processes;OpenMP Threads;Total Cores;Time (s);Speedup;Efficiency"
    rows = [
        "A;1;1;1;10.0;1.00x;100%",
        "B;1;4;4;4.0;2.50x;62.5%",
        "C;2;4;8;2.0;5.00x;62.5%",
        "D;4;1;4;5.0;2.00x;50%",
    ]
    found = audited(tmp_path, table(header, *rows))
    assert kinds(found) == []
    assert sorted(speedups(one)[-1] for one in found) == [(4, 2.0), (4, 2.5), (8, 5.0)]


def test_cores_in_the_first_column_are_the_devices_too(tmp_path: Path) -> None:
    rows = ["1;1;1;10.0", "4;1;4;4.0", "8;2;4;2.0"]
    found = audited(tmp_path, table("Total Cores;MPI Processes;OpenMP Threads;Time (s)", *rows))
    assert {gpus for one in found for gpus, _ in speedups(one)} == {1, 4, 8}


def test_the_speedups_of_a_table_have_one_baseline(tmp_path: Path) -> None:
    found = audited(tmp_path, table("Case;2 threads;4 threads", "A;1.30x;2.10x", "B;1.01x;1.80x"))
    assert [one.table.base_gpus for one in found] == [1, 1]
    (alone,) = audited(tmp_path, table("Case;2 threads;4 threads", "B;1.01x;1.80x"))
    assert alone.table.base_gpus == 2


def test_a_case_of_its_own_for_each_row_is_a_name(tmp_path: Path) -> None:
    rows = [
        "base_x;1;10.0;1.00;1.00",
        "ring_x;2;5.5;1.82;0.91",
        "ring_y;4;3.0;3.33;0.83",
        "tree_x;4;2.8;3.57;0.89",
    ]
    found = audited(tmp_path, table("case;GPUs;Time (s);speedup vs 1 GPU;efficiency", *rows))
    assert [speedups(one) for one in found] == [
        [(1, 1.0), (2, 1.82)],
        [(1, 1.0), (4, 3.33)],
        [(1, 1.0), (4, 3.57)],
    ]
    assert kinds(found) == []


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        *(("wall (20 steps)", 0.05), ("Time for 100 iterations", 0.01), ("Elapsed (10 iters)", 0.1)),
        *(("Step time (mean of 50 steps)", 1.0), ("Time per step (batch 32)", 1.0), ("iteration time", 1.0)),
    ],
)
def test_the_time_of_several_steps_is_divided_by_their_number(header: str, seconds: float) -> None:
    meaning = meaning_of(header)
    assert (meaning.role, round(meaning.factor, 6)) == ("step_time_s", seconds)


def test_the_time_of_an_update_is_a_part_of_a_step(tmp_path: Path) -> None:
    text = "Strong scaling\n\n" + table("Ranks;update (s);Total (s/iter)", "1;1e-6;4.8e-3", "4;7e-6;2.4e-3")
    (found,) = audited(tmp_path, text)
    assert speedups(found) == [(1, 1.0), (4, 2.0)]


def test_labels_that_differ_in_the_number_of_devices_only_are_one_variant(tmp_path: Path) -> None:
    rows = ("Base (4-GPU, 64);4;100", "Base (8-GPU, 64);8;52.6", "New (4-GPU);4;40")
    (found,) = audited(tmp_path, table("method;GPUs;Time (s)", *rows))
    assert speedups(found) == [(4, 1.0), (8, 1.9)]


def test_the_distributed_run_of_a_variant_belongs_to_it(tmp_path: Path) -> None:
    rows = ("dense;1;300", "fp8;1;100", "fp8 Distributed;8;20")
    (found,) = audited(tmp_path, table("Configuration;GPUs;Time (s)", *rows))
    assert speedups(found) == [(1, 1.0), (8, 5.0)]
    assert found.remarks == ()


def test_strategies_before_the_number_of_devices_are_series(tmp_path: Path) -> None:
    rows = ("1 GPU;100", "FSDP 2;120", "DDP 2;180", "FSDP 4;200", "DDP 4;340")
    found = audited(tmp_path, table("Config;tokens/s", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.2), (4, 2.0)], [(1, 1.0), (2, 1.8), (4, 3.4)]]


@pytest.mark.parametrize("alone", ["Local No DDP", "`distribute: none`", "without DDP", "not distributed"])
def test_a_run_without_a_strategy_is_the_baseline_of_each(tmp_path: Path, alone: str) -> None:
    rows = (f"{alone};1;100", "Naive DDP;2;150", "Bucketed DDP;2;180", "Naive DDP;4;200", "Bucketed DDP;4;340")
    found = audited(tmp_path, table("Strategy;GPUs;samples/s", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.5), (4, 2.0)], [(1, 1.0), (2, 1.8), (4, 3.4)]]


def test_the_only_strategy_is_that_of_the_several_devices_of_each_variant(tmp_path: Path) -> None:
    rows = ("single GPU, eager;100", "single GPU, compiled;120", "DDP 2-GPU, eager;180", "DDP 2-GPU, compiled;204")
    found = audited(tmp_path, table("Arm;samples/s", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.8)], [(1, 1.0), (2, 1.7)]]
    assert kinds(found) == []


def test_the_time_of_other_numbers_of_epochs_is_divided_by_them(tmp_path: Path) -> None:
    rows = (
        "`distribute: none`;1;1;20;50.0 min",
        "Horovod **1x4**;1;4;100;62.5 min",
        "Horovod 2x4;2;8;200;62.5 min",
    )
    (found,) = audited(tmp_path, table("Run;Nodes;GPUs;Epochs;Job wall", *rows))
    assert speedups(found) == [(1, 1.0), (4, 4.0), (8, 8.0)]
    assert kinds([found]) == []
    rows = ("1;20;100", "4;40;50")
    (found,) = audited(tmp_path, table("GPUs;Epochs;Time per epoch (s)", *rows))
    assert speedups(found) == [(1, 1.0), (4, 2.0)]
    (found,) = audited(tmp_path, table("GPUs;Epochs;Training time (s);Speedup", "1;20;100;1", "4;40;50;2.0"))
    assert kinds([found]) == []


def test_sizes_of_models_behind_the_number_of_devices_are_series(tmp_path: Path) -> None:
    rows = (
        "T4;1 GPU 7B;142;210",
        "T4;1 GPU 13B;268;372",
        "T4;2 GPUs (DDP) 7B;71;105",
        "T4;2 GPUs (DDP) 13B;134;186",
    )
    text = "#### Time for a batch (in seconds)\n\n" + table("GPU Name;Quantization + GPUs;GPTQ;4bit", *rows)
    found = audited(tmp_path, text)
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 2.0)]] * 4
    assert kinds(found) == []
    (found,) = audited(tmp_path, table("Setup;samples/s", "1 GPU 7B;100", "2 GPUs 13B;180"))
    assert kinds([found]) == ["confounded"]


@pytest.mark.parametrize("header", ["Variant", "Setup", "Flavour"])
def test_variants_on_as_many_devices_are_series(tmp_path: Path, header: str) -> None:
    rows = ("baseline;1;100", "eager;4;200", "graph;4;320")
    found = audited(tmp_path, table(f"{header};GPUs;samples/s", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 2.0)], [(1, 1.0), (4, 3.2)]]
    assert kinds(found) == []


@pytest.mark.parametrize("alone", ["single baseline", "1-GPU baseline", "baseline (single GPU)"])
def test_the_single_baseline_is_that_of_all_strategies(tmp_path: Path, alone: str) -> None:
    rows = (f"{alone};1;100;1.00x", "DDP 2-GPU;2;150;1.50x", "DDP 4-GPU;4;200;2.00x", "TP 2-GPU;2;60;0.60x")
    found = audited(tmp_path, table("Strategy;GPUs;ex/s;Speedup", *rows, "TP 4-GPU;4;70;0.70x"))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.5), (4, 2.0)], [(1, 1.0), (2, 0.6), (4, 0.7)]]
    assert set(kinds(found)) == {"negative scaling"}


def test_data_parallel_in_brackets_is_a_strategy(tmp_path: Path) -> None:
    rows = ("Single GPU;156.3 s", "2 GPUs (DP);89.4 s", "4 GPUs (DP);52.1 s", "4 GPUs (DDP);48.7 s")
    found = audited(tmp_path, table("Configuration;Time", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.75), (4, 3.0)], [(1, 1.0), (4, 3.21)]]


def test_precisions_behind_the_number_of_devices_are_series(tmp_path: Path) -> None:
    rows = ("**1 GPU — fp32 (baseline)**;8300", "1 GPU — fp16 AMP;26000", "2 GPU DDP — fp32;12450")
    more = ("2 GPU DDP — fp16 AMP;31200", "4 GPU DDP — fp32;16600", "4 GPU DDP — fp16 AMP;52000")
    found = audited(tmp_path, table("Configuration;tok/s", *rows, *more))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.5), (4, 2.0)], [(1, 1.0), (2, 1.2), (4, 2.0)]]
    assert kinds(found) == []
    (found_2,) = audited(tmp_path, table("Configuration;tok/s", "1 GPU fp32;100", "8 GPUs fp16;1200"))
    assert "confounded" in kinds([found_2])
