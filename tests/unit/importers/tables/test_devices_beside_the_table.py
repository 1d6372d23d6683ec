"""Devices that ratios, headings, rows of crosses or the text tell, and settings in marks and in brackets."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.importers.headers.meaning import meaning_of
from test_groups_and_quantities import rows_of
from test_printed_habits import audited, speedups, table
from test_ratios_of_other_systems import refused

MODES = table(
    "Mode;Epoch time;Speedup;Scaling efficiency",
    "Single;6.30 s;-;-",
    "DP;12.46 s;0.51× (slower);25% (inefficient)",
    "DDP;1.82 s;3.46× (faster);87% (efficient)",
)


def test_devices_follow_from_both_ratios(tmp_path: Path) -> None:
    found, notes = rows_of(tmp_path, MODES)
    assert found == [[(1, 6.3), (2, 12.46), (4, 1.82)]]
    assert "printed speedup over the printed efficiency" in notes


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("87%", "40% to 90%"),
        ("3.46×", "18×"),  # within rounding of 20 and of 21 devices
        ("Single;", "Before;"),
    ],
)
def test_devices_do_not_follow_from_unclear_ratios(tmp_path: Path, old: str, new: str) -> None:
    assert "no column of devices" in refused(tmp_path, MODES.replace(old.replace(";", " "), new.replace(";", " ")))


def test_a_list_of_modes_is_a_legend(tmp_path: Path) -> None:
    legend = "- `vanilla`: 1 GPU\n- `ddp`: 4 GPUs\n- `sharded`: 8 GPUs\n\n"
    found, notes = rows_of(tmp_path, legend + table("Mode;samples/s", "vanilla;101", "ddp;380", "sharded;720"))
    assert found == [[(1, 101), (4, 380), (8, 720)]]
    assert "vanilla is 1 GPU" in notes


def test_a_list_that_lacks_a_mode_is_no_legend(tmp_path: Path) -> None:
    legend = "- `vanilla`: 1 GPU\n- `ddp`: 4 GPUs\n\n"
    text = legend + table("Mode;samples/s", "vanilla;101", "ddp;380", "sharded;720")
    assert "add a column with the number of devices" in refused(tmp_path, text)


def test_a_strategy_has_the_devices_that_the_text_names_beside_it(tmp_path: Path) -> None:
    rows = ("Single GPU;60;1.0x", "DDP standard;80;1.3x", "DDP fast;100;1.7x")
    text = "## DDP training (2 GPUs)\n\nSome words.\n\n## Results\n\n" + table("Setup;samples/s;Speedup", *rows)
    found = audited(tmp_path, text)
    assert [speedups(one)[1] for one in found] == [
        (2, pytest.approx(1.33, abs=0.01)),
        (2, pytest.approx(1.67, abs=0.01)),
    ]
    two = text.replace("Some words.", "We also ran DDP on 4 GPUs.")
    assert "no column of devices" in refused(tmp_path, two)


def test_rows_below_one_of_crosses_have_its_devices(tmp_path: Path) -> None:
    rows = (
        "Baseline single-GPU (batch size=64);134.4;130.9",
        "On 16 GPUs;x;x",
        "Distributed TensorFlow;1,345.8 (10.0x);74.7 (0.6x)",
        "Horovod;2,022.6 (15.0x);1,787.4 (13.7x)",
    )
    found = audited(tmp_path, table("Setup;Inception V3;VGG-16", *rows))
    assert [[gpus for gpus, _ in speedups(one)] for one in found] == [[1, 16]] * 4
    assert [one.checked.speedups for one in found] == [1] * 4
    assert not [remark for one in found for remark in one.remarks if remark.kind == "confounded"]


@pytest.mark.parametrize(
    ("first", "second"),
    [("Results on 4 GPUs", "Results on 1 GPU"), ("Resultados con cuatro GPUs", "Resultados con una GPU")],
)
def test_tables_with_fewer_devices_below_are_joined(tmp_path: Path, first: str, second: str) -> None:
    several = f"## {first}\n\n" + table("Model;img/s", "ResNet-50;1540", "VGG-16;720")
    text = f"{several}\n## {second}\n\n" + table("Model;img/s", "ResNet-50;410", "VGG-16;210")
    found, notes = rows_of(tmp_path, text)
    assert [gpus for rows in found for gpus, _ in rows] == [1, 1, 4, 4]
    assert "further tables below" in notes


@pytest.mark.parametrize("between", [" -> ", " / ", ", "])
def test_measurements_with_their_devices_in_brackets(tmp_path: Path, between: str) -> None:
    rows = (f"ResNet-50;412 s (1 GPU){between}108 s (4 GPUs)", f"VGG-16;812 s (1 GPU){between}218 s (4 GPUs)")
    found, _ = rows_of(tmp_path, table("Model;Time per epoch", *rows))
    assert [pair for rows in found for pair in rows] == [(1, 412), (4, 108), (1, 812), (4, 218)]


def test_a_quantity_in_each_row_with_devices_in_brackets(tmp_path: Path) -> None:
    rows = ("Throughput;410 img/s (1 GPU) → 779 img/s (2 GPUs)", "Step time;156 ms (1 GPU) → 164 ms (2 GPUs)")
    (found,) = audited(tmp_path, table("Metric;Before → After", *rows))
    assert speedups(found) == [(1, 1.0), (2, 1.9)]


def test_labels_that_repeat_the_devices_are_the_hardware(tmp_path: Path) -> None:
    rows = ("Single GPU;1;2.0 hours", "H200 × 8;8;15 min", "L40S × 16;16;9 min")
    (found,) = audited(tmp_path, table("Configuration;GPUs;Time/epoch", *rows))
    assert [remark.kind for remark in found.remarks] == ["confounded"]
    assert "H200 on 8" in found.remarks[0].sentence


def test_words_in_a_mark_tell_rows_apart(tmp_path: Path) -> None:
    rows = ("GPU=1,BS=32;142.7", "GPU=8,BS=32;984.7", "GPU=32,BS=32;4379.4")
    text = table("Setup;sequences/s", *rows, "GPU=32,BS=32<sup>[W/O AccGrad]</sup>;2943.8")
    (found,) = audited(tmp_path, text)
    assert [gpus for gpus, _ in speedups(found)] == [1, 8, 32]
    assert not found.remarks


def test_a_unit_above_two_tables_is_that_of_both(tmp_path: Path) -> None:
    tables = table("GPUs;Paddle;TensorFlow", "1;147;142", "8;1072;984", "16;2100;1900", "32;3379;4379")
    found = audited(tmp_path, f"单位：sequences/sec\n\nFP32\n\n{tables}\nAMP\n\n{tables}")
    assert len(found) == 4


def test_the_signs_of_a_diff_are_no_part_of_its_table(tmp_path: Path) -> None:
    lines = table("GPUs;img/s", "1;410", "4;1540").splitlines()
    text = "```diff\n" + "".join(f"-{line}\n" for line in lines) + "+All is faster now.\n```\n"
    found, _ = rows_of(tmp_path, text)
    assert found == [[(1, 410), (4, 1540)]]


def test_quantities_in_brackets_behind_a_number_of_epochs(tmp_path: Path) -> None:
    rows = ("1 worker;79.8 s (2 epochs, 40.7 images/sec)", "16 workers;4.9 s (2 epochs, 746.3 images/sec)")
    found, _ = rows_of(tmp_path, table("Cluster;Performance", *rows))
    assert [[value for _, value in rows] for rows in found] == [[40.7, 746.3]]


def test_numbers_behind_what_the_header_counts_are_no_devices(tmp_path: Path) -> None:
    rows = ("1 training worker using 12 CPUs, leaving 4;310.2 s", "10 training workers, using 10x12 CPUs;31.9 s")
    found, _ = rows_of(tmp_path, table("Number of training workers;Time", *rows))
    assert found == [[(1, 310.2), (10, 31.9)]]


def test_the_time_of_many_steps_is_divided_by_them() -> None:
    for words in ("Time-delta over 500 steps (min)", "Time for 500 steps (min)"):
        meaning = meaning_of(words)
        assert (meaning.role, meaning.factor) == ("step_time_s", pytest.approx(1 / 500)), words


def test_prefixes_of_a_column_are_those_of_its_first_cell(tmp_path: Path) -> None:
    rows = ("64;312 PFLOPS", "128;598 PFLOPS", "256;1.13 EFLOPS")
    found, _ = rows_of(tmp_path, table("GPUs;Performance", *rows))
    assert found == [[(64, 312), (128, 598), (256, 1130)]]


def test_the_table_itself_names_one_of_two_bases(tmp_path: Path) -> None:
    rows = ("1;1;180 min;1x", "3;1;60 min;3x", "4;4;45 min;4x", "8;8;25 min;7x")
    (found,) = audited(tmp_path, table("Workers;GPUs;Time;Speedup", *rows))
    assert not found.remarks


def test_an_addition_is_compared_with_its_run_on_one_device(tmp_path: Path) -> None:
    rows = ("Basic;1;12 h;1.0x", "+ Unsloth;1;5 h;2.4x", "Multi-GPU;2;6.5 h;1.8x", "Multi + Unsloth;2;2.7 h;4.4x")
    rows += ("Multi-GPU;4;3.5 h;3.4x", "Multi + Unsloth;4;1.5 h;8.0x")
    found = audited(tmp_path, table("Setup;GPUs;Time;Speedup", *rows))
    assert [[round(ratio, 2) for _, ratio in speedups(one)] for one in found] == [[1, 1.85, 3.43], [1, 1.85, 3.33]]


def test_a_range_does_not_turn_back_within_its_ends(tmp_path: Path) -> None:
    rows = ("1;0.2 ~ 0.3 s", "2;0.4 ~ 0.6 s", "3;0.6 ~ 0.8 s", "4;0.8 ~ 1.2 s")
    found = audited(tmp_path, "Weak scaling\n\n" + table("GPUs;step time", *rows))
    assert [remark.kind for one in found for remark in one.remarks] == []


def test_shares_of_results_behind_times_are_no_efficiencies(tmp_path: Path) -> None:
    text = (
        "1x8 (8 GPUs on single p3.16xlarge node): training took 6 hrs and 12 minutes, 75.421% (top-1)\n"
        "2x8 (16 GPUs across 2 p3.16xlarge nodes): training took 3 hrs 16 minutes, 74.868% (top-1)\n"
        "8x8 (64 GPUs total): training took 54 minutes - 75.404% (top-1 accuracy)\n"
    )
    (found,) = audited(tmp_path, text)
    assert [
        (row.gpus, row.number("total_time_s") or row.number("time_s"))
        for row in (scale.row for scale in found.table.scales)
    ] == [(8, 22320), (16, 11760), (64, 3240)]
    assert not found.remarks


def test_work_done_per_second_has_its_unit() -> None:
    assert meaning_of("Number of images processed per second").unit == "images/s"
