"""Blocks of lines below a command or a title, cells with names, and what hardware and settings say of a row."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_forms_of_tables import lines
from test_more_printed_habits import kinds
from test_printed_habits import RATES, TIMES, audited, speedups, table

ONCE = [(1, 1.0), (2, 1.9), (4, 3.5)]
N = ("1", "2", "4")
TIMED = list(zip(N, TIMES, strict=True))
RATED = list(zip(N, RATES, strict=True))

BLOCKS = {
    "commands-with-empty-lines": lines(
        "**mpirun -np {0} ./ex22p**\nUnknowns: 14889600\n\n"
        "Matrix assembly of the whole system MPI_Wtime: {1} (s)\n\nSize of linear system: 29779200\n\n",
        TIMED,
    ),
    "devices-last": lines(
        "Performance:  img/s         {1}\n   Steps        100\n   Threads        {0}\n\n", RATED
    ),
    "title-with-a-value": "Single Node: p3.16xlarge\nTraining time: 100 mins\n\nTwo Nodes: p3.16xlarge\n"
    "Training time: 52.6 mins\n\nFour Nodes: p3.16xlarge\nTraining time: 28.57 mins\n",
    "named-cells": lines("MPI Processes {0} | OpenMP Threads 20 |  simulation time = {1} seconds\n", TIMED),
    "benchstat": lines("URLsCheck-{0}  {1}s \u00b1 2%\n", TIMED),
}


@pytest.mark.parametrize("text", BLOCKS.values(), ids=BLOCKS)
def test_blocks(tmp_path: Path, text: str) -> None:
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE


SEQUENCES = {
    "assigned": "410 \u2192 779 \u2192 **1435 img/s** for dp = 1/2/4, i.e. up to 3.5x on 4 H100",
    "bare": "I varied the number of cores and obtained these times: 1 -> 100 sec, 2 -> 52.6 sec, 4 -> 28.57 sec.",
}


@pytest.mark.parametrize("text", SEQUENCES.values(), ids=SEQUENCES)
def test_sequences_in_a_sentence(tmp_path: Path, text: str) -> None:
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE


def test_settings_behind_devices_are_no_hardware(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, "- One GPU, 900 steps: 6:41\n- Two GPUs, 450 steps: 3:30\n")
    assert speedups(found) == [(1, 1.0), (2, 1.91)]
    assert not found.remarks


def test_a_number_per_device_in_a_sentence_says_nothing_of_the_others(tmp_path: Path) -> None:
    text = "Results show ~122K FPS per GPU with excellent scaling:\n\n- 2 GPUs: ~245K FPS\n- 1 GPU: ~125K FPS\n"
    (found,) = audited(tmp_path, text)
    assert speedups(found) == [(1, 1.0), (2, 1.96)]


def test_kinds_of_hardware_are_series(tmp_path: Path) -> None:
    rows = ["8 NVidia V100 (16GB) GPUs;1016m", "32 Google TPUv3 cores;130m", "128 Google TPUv3 cores;33m"]
    (found,) = audited(tmp_path, table("Configuration;Train Time", *rows))
    assert speedups(found) == [(32, 1.0), (128, 3.94)]
    assert not found.remarks


def test_devices_of_all_workers_go_before_those_of_one(tmp_path: Path) -> None:
    rows = ["1;2;2 + 1;228.21", "2;2;4 + 1;177.80", "2;4;8 + 1;155.40"]
    (found,) = audited(
        tmp_path, table("No of GPUs/ Worker;num-workers;Total No of GPU used;train time (sec)", *rows)
    )
    assert speedups(found) == [(3, 1.0), (5, 1.28), (9, 1.47)]


def test_accelerators_beside_the_processors_of_their_hosts(tmp_path: Path) -> None:
    rows = [
        f"{name};Ascend: {n} * Ascend 910 </br> CPU\uff1a{24 * int(n)} Cores;{rate} images/sec;{share}"
        for name, n, rate, share in (
            ("ResNet", "1", 2115, "-"),
            ("", "8", 16600, "0.98"),
            ("", "16", 32768, "0.97"),
        )
    ]
    (found,) = audited(tmp_path, table("Network;Resource &nbsp; &nbsp;;Throughput;Speedup", *rows))
    assert speedups(found) == [(1, 1.0), (8, 7.85), (16, 15.49)]
    assert kinds([found]) == []  # the speedups are efficiencies


def test_the_accumulation_tells_rows_apart(tmp_path: Path) -> None:
    rows = ["8;186306;1440267;180033;96.6%", "1;184618;1270772;158847;86.0%"]
    found = audited(tmp_path, table("accum @ 8 GPUs;1 GPU tok/s;8 GPU tok/s;per GPU;efficiency", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (8, 7.73)], [(1, 1.0), (8, 6.88)]]
    assert kinds(found) == []


def test_a_rate_with_the_step_time_says_whose_it_is(tmp_path: Path) -> None:
    """Tokens per second times the step time is the batch of all devices, which grows with them."""
    (found,) = audited(tmp_path, table("GPUs;tokens/s;step time", "1;85065;48 ms", "2;63724;129 ms"))
    assert speedups(found) == [(1, 1.0), (2, 0.75)]


def test_an_answer_of_the_user_is_no_claim_of_the_table(tmp_path: Path) -> None:
    from scalestudy.diagnose.audit import audit_file
    from scalestudy.importers.reading import read_published

    path = tmp_path / "table.md"
    path.write_text(table("GPUs;Batch size;Time", "1;8;7m", "2;16;14m", "4;32;18m"))
    audits, asked = audit_file(read_published(path).answered("strong"), "table")
    assert not asked
    assert "label" not in kinds(audits)


def test_options_of_a_program_name_devices(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("`-Zthreads`;wall", *(f"{n};{t} s" for n, t in TIMED)))
    assert speedups(found) == ONCE


def test_serial_times_of_each_size_are_no_series(tmp_path: Path) -> None:
    rows = ["4;10.9;19.6;100;3", "8;8.7;19.5;100;3", "4;12.1;25.2;100;4", "8;9.7;25.1;100;4"]
    found = audited(tmp_path, table("Threads;Time Parallel (s);Serial Time (s);Epochs;Clusters", *rows))
    assert [speedups(one) for one in found] == [[(4, 1.0), (8, 1.25)], [(4, 1.0), (8, 1.25)]]


def test_serial_times_of_growing_work_and_a_spread_are_no_series(tmp_path: Path) -> None:
    rows = ["1;258.0s;0.418s;258.794s", "2;184.0s;0.412s;365.092s", "4;129.0s;0.802s;631.42s"]
    (found,) = audited(tmp_path, table("P;Berechnungszeit;+-;Berechnungszeit 1 Kern 1 Task", *rows))
    assert speedups(found) == [(1, 1.0), (2, 1.4), (4, 2.0)]


def test_a_ratio_of_two_columns_of_a_row_is_no_speedup(tmp_path: Path) -> None:
    text = (
        "1 worker thread:\n\nwhere | real | user |\n---|---|---|\nA | 21.9s | 21.9s |\nB | 20.0s | 20.0s |\n\n"
        "15 worker threads:\n\nwhere | real | user | ratio |\n---|---|---|---|\n"
        "A | 2.19s | 30.7s | 14 |\nB | 5.0s | 35.0s | 7 |\n"
    )
    found = audited(tmp_path, text)
    assert [speedups(one) for one in found] == [[(1, 1.0), (15, 10.0)], [(1, 1.0), (15, 4.0)]]
    assert kinds(found) == []


def test_a_time_to_beat_is_of_somebody_else(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("MPI Processes;Avg Time (s);Time to beat (s)", "1;100;90", "2;52.6;50"))
    assert speedups(found) == [(1, 1.0), (2, 1.9)]


def test_devices_that_are_printed_once_for_several_rows(tmp_path: Path) -> None:
    rows = ["1;10;100.0 s", ";20;200.0 s", "2;10;52.63 s", ";20;105.3 s"]
    found = audited(tmp_path, table("Threads;Total;Time", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.9)], [(1, 1.0), (2, 1.9)]]


def test_rates_as_products(tmp_path: Path) -> None:
    rows = ["1;68.89;1.00", "2;62.65\\*2;1.82", "8;57.91\\*8;6.72"]
    (found,) = audited(tmp_path, table("Num of GPU cards;Samples per second;Speed up", *rows))
    assert speedups(found) == [(1, 1.0), (2, 1.82), (8, 6.72)]
    assert found.checked.speedups == 3


def test_slices_of_chips(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Hardware;TFLOP/sec/chip", "1x v5e-256;120", "2x v5e-256;117"))
    assert speedups(found) == [(256, 1.0), (512, 1.95)]


def test_numbers_of_parameters_are_models(tmp_path: Path) -> None:
    rows = ["8B;64;300", "64B;128;315", "64B;256;310", "8B;128;298"]
    found = audited(tmp_path, table("No. of params;Chips;TFLOP/chip/sec", *rows))
    assert [[gpus for gpus, _ in speedups(one)] for one in found] == [[64, 128], [128, 256]]


@pytest.mark.parametrize(
    "text",
    [
        lines(
            "{0} Threads: 6.05s user 4.08s system 131% cpu {1} total\n",
            [("1", "100.0"), ("2", "52.6"), ("4", "28.57")],
        ),
        lines(
            "{0}\n```\n$> time ./a.out 4\nIt cast 170068362 rays.\n\nreal    0m{1}s\nuser    1m1.000s\n```\n\n",
            [("One Thread", "16.000"), ("Two Threads", "8.421"), ("Twenty Four Threads", "1.000")],
        ),
    ],
    ids=["zsh", "fences"],
)
def test_times_of_shells_below_devices(tmp_path: Path, text: str) -> None:
    (found,) = audited(tmp_path, text)
    assert speedups(found)[:2] == ONCE[:2]
    assert speedups(found)[-1] in (ONCE[-1], (24, 16.0))


def test_threads_in_a_heading_are_called_so(tmp_path: Path) -> None:
    text = "### 1 worker thread\n\n| Test | Time (s) |\n|---|---|\n| a | 100 |\n| b | 90 |\n\n"
    found = audited(tmp_path, text + text.replace("1 worker thread", "4 worker threads").replace("100", "28.57"))
    assert {column.header.strip() for column in found[0].source.columns} >= {"threads"}


def test_a_row_with_fewer_cells_than_headers_has_a_note(tmp_path: Path) -> None:
    rows = ["| 4 | 13 | | 7.67 | 12772 |", "| 8 | 13 | 97 | 14.68 | 12717 |", "| 16 | 13 | 97 | 28.1 | 12800 |"]
    text = "\n".join(["| GPUs | Layers | Usage (%) | TFLOP/s | Step (ms) |", "|---|---|---|---|---|", *rows])
    (whole,) = audited(tmp_path, text)
    assert not any("fewer cells" in note for note in whole.source.notes)
    found = audited(tmp_path, text.replace("| 13 | | 7.67", "| 13 | 7.67"))
    assert any("line 3 has fewer cells than headers" in note for note in found[0].source.notes)
