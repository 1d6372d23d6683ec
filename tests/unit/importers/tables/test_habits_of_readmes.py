"""Habits of READMEs on trainings: spreads, dashes, parts, placements, several works, runs below headings."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.importers.headers.meaning import meaning_of
from test_more_printed_habits import kinds
from test_printed_habits import ONCE, audited, speedups, table


@pytest.mark.parametrize("header", ["p05-p95 tokens/s", "IQR (img/s)", "95% CI", "Range (img/s)", "min-max (s)"])
def test_a_range_of_measurements_is_none(header: str) -> None:
    assert meaning_of(header).role == "ignore"


@pytest.mark.parametrize("header", ["Throughput (img/s) ± std", "Step time ± sd (ms)", "Time (s) +/- std"])
def test_a_measurement_with_its_spread_is_one(header: str) -> None:
    assert meaning_of(header).role in ("throughput", "step_time_s", "time_s")


@pytest.mark.parametrize("header", ["Micro Num", "num micro-batches", "# microbatches", "Micro batch count"])
def test_the_number_of_micro_batches_is_accumulation(header: str) -> None:
    assert meaning_of(header).role == "accumulation"


def test_a_spread_behind_rates_is_named(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;img/s", "1;50+/-2", "2;95+/-3", "4;175"))
    assert speedups(found) == ONCE
    assert "the spread behind numbers, such as '± 2', is not read" in found.source.notes


def test_a_unit_in_the_cell_and_in_the_header_counts_once(tmp_path: Path) -> None:
    text = "- **1 GPU:** 100 episodes/hour\n- **2 GPUs (DDP):** 190 episodes/hour\n"
    text += "- **4 GPUs (DDP):** 350 episodes/hour\n"
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE
    assert found.source.rows[0].numbers["throughput"].value == pytest.approx(100 / 3600)


def test_a_time_with_a_dash_for_the_accuracy(tmp_path: Path) -> None:
    header = "Model;8 GPU training time / Accuracy;3x8 GPU training time / Accuracy;Acceleration ratio"
    found = audited(tmp_path, table(header, "S;301h/-;162h/17.7%;1.86", "L;400h/30.1%;178h/-;2.25"))
    assert [speedups(one)[-1] for one in found] == [(24, 1.86), (24, 2.25)]
    assert kinds(found) == []


def test_speedups_below_one_that_follow_are_read(tmp_path: Path) -> None:
    rows = ("1;50,943;1.00x;100%", "2;50,828;1.00x;49.9%", "4;2,836;0.06x;1.4%")
    (found,) = audited(tmp_path, table("GPUs;tokens/s;speedup;efficiency", *rows))
    assert (found.checked.speedups, found.checked.efficiencies) == (3, 3)


def test_compute_and_communication_alone_are_no_times_of_a_run(tmp_path: Path) -> None:
    first = table("GPUs;Time (s)", "1;100", "2;52.6", "4;28.57")
    second = table("Setup;Compute(s);Comm(s)", "2-GPU;15.5;11.4", "4-GPU;15.4;23.8")
    (found,) = audited(tmp_path, f"{first}\n\n{second}")
    assert speedups(found) == ONCE


def test_two_placements_are_two_series_with_one_base(tmp_path: Path) -> None:
    rows = ("1;`[0]`;50", "2;`[6,7]`;95", "4;`[0,1,2,3]`;175", "4;`[4,5,6,7]`;170")
    found = audited(tmp_path, table("DDP GPUs;Devices;Training samples/s", *rows))
    assert [speedups(one) for one in found] == [ONCE, [(1, 1.0), (2, 1.9), (4, 3.4)]]
    assert kinds(found) == []


def test_models_on_one_number_of_devices_each_are_no_series(tmp_path: Path) -> None:
    rows = ("T5-Base;32;618k", "T5-Large;32;90.4k", "T5-3B;512;282.8k", "T5-11B;512;84.8k")
    found = audited(tmp_path, table("Model;TPU cores;tokens/s", *rows))
    assert kinds(found) == ["one scale"] * 4


def test_another_data_set_in_each_row_is_no_scaling(tmp_path: Path) -> None:
    rows = ("COCO (118K);4;1,234", "Open Images;8;2,156", "Custom (10M);16;3,987")
    (found,) = audited(tmp_path, table("Dataset Size;Nodes;Images/sec", *rows))
    (remark,) = found.remarks
    assert (remark.kind, "Open Images on 8" in remark.sentence) == ("confounded", True)


def test_rows_of_two_kinds_of_batches_are_compared_with_both(tmp_path: Path) -> None:
    rows = ("r50(512*8);5900", "r50(512*16);11000", "r50(128*32);17000")
    found = audited(tmp_path, table("Backbone(bs*gpus);Throughput", *rows))
    assert [speedups(one) for one in found] == [[(8, 1.0), (16, 1.86)], [(8, 1.0), (32, 2.88)]]
    assert kinds(found) == []


def test_processes_on_one_device_are_named(tmp_path: Path) -> None:
    rows = ("1;100", "2;52.6", "4;28.57")
    (found,) = audited(tmp_path, table("Client processes on one GPU;Total runtime (s)", *rows))
    assert any("no scaling over devices" in note for note in found.source.notes)


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        ("## Single GPU", "## DDP 2 GPU", "## DDP 4 GPU"),
        ("**One GPU**", "**DDP, two GPUs**", "**DDP, four GPUs**"),
        ("__Training on a single GPU__", "__Training on two GPUs__", "__Training on four GPUs__"),
    ],
)
def test_runs_below_headings(first: str, second: str, third: str, tmp_path: Path) -> None:
    runs = [
        f"{title}\n\n```\npython train.py\n```\nAccuracy: **27 %** \\\nOne epoch: **{time}** seconds\n"
        for title, time in ((first, "100"), (second, "52.6"), (third, "28.57"))
    ]
    (found,) = audited(tmp_path, "# Training of a network\n\n" + "\n\n".join(runs))
    assert (speedups(found), kinds([found])) == (ONCE, [])


def test_the_ratio_of_a_second_quantity_across_is_named(tmp_path: Path) -> None:
    rows = ("Runtime;2789.8s;1476.3s;1.89x", "Throughput;3.585 samples/sec;6.773 samples/sec;1.89x")
    (found,) = audited(tmp_path, table("Metric;1 GPU;2 GPU;Speedup", *rows))
    assert found.checked.speedups == 1
    assert any(note.startswith("the ratio of Runtime") for note in found.source.notes)


def test_what_a_run_had_beside_its_devices_is_named(tmp_path: Path) -> None:
    own = table("Time (s);1xV100;4xV100;4xV100+UCX", "encoding;302;108;46.4", "features;62;17;3.3")
    found = audited(tmp_path, own)
    assert {speedups(one)[-1] for one in found} >= {(4, 2.8), (4, 3.65)}
    assert all("20 cores" not in one.case for one in found)
