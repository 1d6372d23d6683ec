"""Columns that count devices twice, and ratios and labels that change what a row is compared with."""

from __future__ import annotations

from pathlib import Path

from test_plain_tables import read, series


def kinds(tmp_path: Path, text: str) -> list[tuple[str, str]]:
    """Return the remarks of all cases of a text: (kind, sentence)."""
    return [(remark.kind, remark.sentence) for audit in read(tmp_path, text)[0] for remark in audit.remarks]


def test_ranks_beyond_the_gpus_of_a_node_are_the_devices(tmp_path: Path) -> None:
    text = """
| num_gpus | num_ranks | total_time (s) |
|---|---|---|
| 1 | 1 | 800 |
| 2 | 2 | 410 |
| 4 | 4 | 210 |
| 4 | 8 | 109 |
| 4 | 16 | 58 |
"""
    audits, _, _ = read(tmp_path, text)
    assert series(audits) == {"table": [(1, 1.0), (2, 1.95), (4, 3.81), (8, 7.34), (16, 13.79)]}


def test_ranks_that_share_gpus_are_not(tmp_path: Path) -> None:
    text = """
| GPUs | ranks | time (s) |
|---|---|---|
| 1 | 1 | 800 |
| 1 | 2 | 790 |
| 2 | 2 | 410 |
| 2 | 4 | 405 |
"""
    audits, _, _ = read(tmp_path, text)
    assert {scale.row.gpus for audit in audits for scale in audit.table.scales} == {1, 2}


def test_ratios_of_durations_on_the_same_devices_are_no_scaling(tmp_path: Path) -> None:
    text = """
| #GPU | Loader | AMP | Training Time | img/s | Speed Up |
|---|---|---|---|---|---|
| 1 | A | no | 40:00:00 | 30 | --- |
| 8 | A | no | 11:30:00 | 131 | 1x (base) |
| 8 | B | no | 6:24:00 | 210 | 1.8x |
| 8 | B | yes | 3:50:00 | 360 | 3x |
| 8 | C | yes | 3:17:00 | 425 | 3.5x |
"""
    audits, _, notes = read(tmp_path, text)
    assert not [remark for audit in audits for remark in audit.remarks if remark.kind == "speedup"]
    assert "Speed Up compares rows on the same number of devices" in notes


def test_the_time_and_the_throughput_of_strong_scaling_are_of_the_same_work(tmp_path: Path) -> None:
    text = """
Strong scaling

| GPUs | Epoch time (s) | Samples/s |
|---|---|---|
| 1 | 0.77 | 31.3 |
| 2 | 0.78 | 61.4 |
| 4 | 0.82 | 117.2 |
"""
    ((kind, sentence),) = kinds(tmp_path, text)
    assert kind == "label"
    assert "throughput times time, the work of a run, grows with the devices" in sentence
    assert not kinds(tmp_path, text.replace("0.78", "0.39").replace("0.82", "0.206"))
    assert not kinds(tmp_path, text.replace("Strong", "Weak"))


def test_a_sequence_length_that_changes_with_the_devices_is_another_work(tmp_path: Path) -> None:
    text = """
| SeqLen (K) | GPUs | TFLOPS / GPU |
|---|---|---|
| 8 | 2 | 671 |
| 16 | 4 | 667 |
| 32 | 8 | 660 |
"""
    ((kind, sentence),) = kinds(tmp_path, text)
    assert (kind, "the sequence length changes between rows (8 on 2, 16 on 4, 32 on 8)" in sentence) == (
        "confounded",
        True,
    )


def test_a_batch_that_does_not_say_whose_is_not_called_per_device(tmp_path: Path) -> None:
    text = "| GPUs | Batch size | img/s |\n|---|---|---|\n| 1 | 64 | 400 |\n| 2 | 96 | 780 |\n| 4 | 256 | 1500 |\n"
    ((kind, sentence),) = kinds(tmp_path, text)
    assert (kind, sentence.startswith("the batch changes between rows (64 on 1, 96 on 2")) == ("confounded", True)


def test_units_below_a_batch_are_what_a_column_measures(tmp_path: Path) -> None:
    text = """
| | Batch size = 16 |
|---|---|
| 1 node | 1.05 it/s |
| 2 nodes | 1.98 it/s |
| 4 nodes | 3.60 it/s |
"""
    (audit,), _, _ = read(tmp_path, text, **{"Batch size = 16": "steps_per_s"})
    assert series([audit]) == {"table": [(1, 1.0), (2, 1.89), (4, 3.43)]}
    (audit,), _, _ = read(tmp_path, text)
    assert series([audit]) == {"table": [(1, 1.0), (2, 1.89), (4, 3.43)]}


def test_the_parts_of_a_time_are_left_out_beside_their_total(tmp_path: Path) -> None:
    text = """
| procs | T_comp (s) | T_comm (s) | T_total (s) | S | E |
|---|---|---|---|---|---|
| 1 | 58.1 | 0 | 58.1 | 1.00 | 1.00 |
| 4 | 14.7 | 1.2 | 15.9 | 3.65 | 0.91 |
| 16 | 3.8 | 1.9 | 5.7 | 10.2 | 0.64 |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert series([audit]) == {"table": [(1, 1.0), (4, 3.65), (16, 10.19)]}
    assert (audit.checked.speedups, audit.checked.efficiencies, audit.remarks) == (3, 3, ())
