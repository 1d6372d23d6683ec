"""The batch that a text beside a table states, ideal columns, and ratios on a number of devices in a header."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import audit_file
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.reading import read_published
from scalestudy.publish.audit import reading_view
from test_plain_tables import read, series

RATES = "| GPUs | it/s |\n|---|---|\n| 1 | 2.0 |\n| 2 | 1.96 |\n| 4 | 1.85 |\n"


@pytest.mark.parametrize(
    "sentence",
    [
        "Per-GPU batch fixed at 8.",
        "Batch size 32 per GPU",
        "The batch size is 16 per device.",
        "All runs use a batch of 64 images per GPU.",
    ],
)
@pytest.mark.parametrize("below", [True, False])
def test_a_batch_of_each_device_is_weak_scaling(tmp_path: Path, sentence: str, *, below: bool) -> None:
    (audit,), asked, _ = read(tmp_path, f"{RATES}\n{sentence}\n" if below else f"{sentence}\n\n{RATES}")
    assert (series([audit]), asked) == ({"table": [(1, 1.0), (2, 1.96), (4, 3.7)]}, [])
    assert (audit.source.scaling, audit.source.scaling_by) == ("weak", "text")


def test_a_constant_global_batch_is_strong_scaling(tmp_path: Path) -> None:
    rates = RATES.replace("1.96", "3.8").replace("1.85", "7.2")
    (audit,), _, _ = read(tmp_path, f"Throughput with a fixed global batch of 256\n\n{rates}")
    assert series([audit]) == {"table": [(1, 1.0), (2, 1.9), (4, 3.6)]}
    assert audit.source.scaling == "strong"


@pytest.mark.parametrize("sentence", ["The batch size was tuned.", "Batch size 32, on 8 GPUs per node", ""])
def test_other_sentences_on_a_batch_leave_the_question(tmp_path: Path, sentence: str) -> None:
    audits, asked, _ = read(tmp_path, f"{sentence}\n\n{RATES}")
    assert (audits, len(asked)) == ([], 1)


def test_ideal_rates_are_not_measured(tmp_path: Path) -> None:
    text = """
| GPUs | Images/s | Images/s (ideal) |
|---|---|---|
| 1 | 402 | 402 |
| 8 | 3010 | 3216 |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert series([audit]) == {"table": [(1, 1.0), (8, 7.49)]}
    assert audit.source.unread == ("Images/s (ideal)",)


def test_a_speed_over_one_device_is_a_speedup(tmp_path: Path) -> None:
    text = """
| Experiment | GPUs | Duration / epoch | Speed vs 1 GPU |
|---|---|---|---|
| baseline | 1 | 31 min | - |
| mirrored | 2 | 17 min | 1.8x faster |
| mirrored | 4 | 9.5 min | 3.3x faster |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert series([audit]) == {"mirrored": [(1, 1.0), (2, 1.82), (4, 3.26)]}
    assert (audit.checked.speedups, audit.remarks) == (2, ())


def test_speedups_on_sizes_across_are_over_the_serial_time(tmp_path: Path) -> None:
    text = """
| Size | Seq (s) | 2 procs (s) | 4 procs (s) | S(2) | S(4) |
|---|---|---|---|---|---|
| 1024 | 8.2 | 4.3 | 2.4 | 1.91 | 3.42 |
| 2048 | 66.0 | 33.9 | 17.8 | 1.95 | 3.71 |
"""
    audits, _, _ = read(tmp_path, text)
    assert [(audit.checked.speedups, audit.remarks) for audit in audits] == [(2, ()), (2, ())]


def test_a_baseline_of_printed_speedups_is_said_as_a_time_if_the_table_has_times(tmp_path: Path) -> None:
    text = """
| Threads | Time (s) | Speedup |
|---|---|---|
| 1 | 10.00 | 1.10 |
| 2 | 5.10 | 2.16 |
| 4 | 2.60 | 4.23 |
"""
    (audit,), _, _ = read(tmp_path, text)
    sentences = [remark.sentence for remark in audit.remarks]
    assert (
        "all printed speedups are relative to a time of 11, which the table does not have; line 4 has 10"
        in sentences
    )


def test_a_time_beside_a_throughput_is_said_to_give_no_speedup(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text("| Workers | img/s | Mean wall (s) |\n|---|---|---|\n| 1 | 10 | 0.2 |\n| 2 | 19 | 0.21 |\n")
    file = read_published(path)
    (view,) = reading_view(file, *audit_file(file, "table"))
    assert view["columns"]["Mean wall (s)"] == "a time; speedups are recomputed from another column"


@pytest.mark.parametrize(
    ("header", "role"),
    [
        ("Training time per epoch (fixed total batch of 48)", "total_time_s"),
        ("Time per epoch (390 iterations)", "total_time_s"),
        ("Time per global batch (s)", "step_time_s"),
        ("Time per batch of 48 (s)", "step_time_s"),
        ("Step time with a total batch of 48 (ms)", "step_time_s"),
    ],
)
def test_a_batch_beside_the_time_of_an_epoch_is_no_step(header: str, role: str) -> None:
    assert meaning_of(header).role == role


def test_the_caption_says_that_a_time_is_that_of_an_epoch_with_a_batch(tmp_path: Path) -> None:
    text = """
Table 3: Training time per epoch for the network (fixed total batch of 48)

| GPUs | Time (s) |
|---|---|
| 1 | 1810.0 |
| 2 | 963.8 |
| 4 | 510.7 |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert [one.role for one in audit.source.columns] == ["gpus", "total_time_s"]
    assert series([audit]) == {"table": [(1, 1.0), (2, 1.88), (4, 3.54)]}


@pytest.mark.parametrize("words", ["bs 24/gpu, fp16", "bs=24 per GPU", "bsz/GPU: 24"])
def test_bs_of_each_device_is_that_of_growing_work(tmp_path: Path, words: str) -> None:
    rows = "| GPUs | sec/iter | epoch |\n|---|---|---|\n| 1 | 0.86 | 4m36s |\n| 2 | 0.92 | 2m26s |\n"
    (audit,), asked, _ = read(tmp_path, f"Measured with {words}.\n\n{rows}")
    assert not asked
    assert series([audit]) == {"table": [(1, 1.0), (2, 1.87)]}
    assert [one.role for one in audit.source.columns] == ["gpus", "step_time_s", "total_time_s"]


def test_a_number_of_epochs_is_no_time(tmp_path: Path) -> None:
    text = "| GPUs | sec/iter | epoch |\n|---|---|---|\n| 1 | 0.86 | 12 |\n| 2 | 0.46 | 12 |\n"
    (audit,), _, _ = read(tmp_path, text)
    assert [one.role for one in audit.source.columns] == ["gpus", "step_time_s"]
