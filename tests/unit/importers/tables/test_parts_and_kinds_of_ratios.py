"""Cells with parts, efficiencies above 1, ratios of a named measurement, and labels with degrees in brackets."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import audit_file
from scalestudy.errors import UserError
from scalestudy.importers.counts.labels import count_in_words
from scalestudy.importers.reading import read_published
from test_plain_tables import read, series


def test_efficiencies_far_above_one_are_fractions_beside_that_of_the_baseline(tmp_path: Path) -> None:
    text = """
| Processes | Elapsed Time (s) | Speedup | Efficiency |
|---|---|---|---|
| 1 | 200 | 1.00x | 1.00 |
| 2 | 71 | 2.82x | 1.41 |
| 8 | 9 | 22.22x | 2.78 |
| 16 | 2 | 100.00x | 6.25 |
"""
    audits, _, _ = read(tmp_path, text)
    (audit,) = audits
    assert {remark.kind for remark in audit.remarks} == {"faster than its devices"}
    assert audit.checked.efficiencies == 4


def test_a_spread_may_have_the_unit_of_its_number(tmp_path: Path) -> None:
    text = """
| Workers | Mean time | Speedup |
|---|---|---|
| 1 | 468.9 ms ± 7.6 ms | 1.00x |
| 2 | 334.1 ms ± 1.9 ms | 1.40x |
| 4 | **266.4 ms ± 4.2 ms** | **1.76x** |
"""
    audits, _, notes = read(tmp_path, text)
    assert [*series(audits).values()] == [[(1, 1.0), (2, 1.4), (4, 1.76)]]
    assert notes == "the spread behind numbers, such as '± 7.6', is not read"
    assert not audits[0].remarks


def test_ratios_name_the_measurement_that_they_are_of(tmp_path: Path) -> None:
    text = """
| threads | nps | nps × | time-to-depth × |
|---|---|---|---|
| 1 | 2.91 M | 1.00 | 1.00 |
| 2 | 5.98 M | 2.06 | 1.96 |
| 4 | 11.95 M | 4.11 | 1.98 |
"""
    audits, _, _ = read(tmp_path, text)
    assert [*series(audits).values()] == [[(1, 1.0), (2, 2.05), (4, 4.11)]]
    assert audits[0].checked.speedups == 3 and not audits[0].remarks


def test_printed_ratios_decide_what_a_step_with_a_batch_of_each_device_is_of(tmp_path: Path) -> None:
    text = """
| n gpus | per-device-batch-size | batch time (s) | speedup | efficiency |
|---|---|---|---|---|
| 1 | 1 | 71.6 | 1 | 100.00% |
| 2 | 1 | 42.7 | 1.7 | 83.84% |
| 4 | 1 | 26.8 | 2.7 | 66.79% |
| 7 | 1 | - | #VALUE! | #VALUE! |
"""
    audits, _, notes = read(tmp_path, text)
    assert [*series(audits).values()] == [[(1, 1.0), (2, 1.68), (4, 2.67)]]
    assert not audits[0].remarks
    assert "VALUE" not in notes


def test_two_times_with_a_plus_sign_are_their_sum(tmp_path: Path) -> None:
    text = """
| Model | GPUs | Time per epoch (s) |
|---|---|---|
| AlexNet | 1 | 20.50 |
| AlexNet | 2 | 10.35+0.78 |
| AlexNet | 4 | 5.13+0.54 |
"""
    audits, _, notes = read(tmp_path, text)
    assert [*series(audits).values()] == [[(1, 1.0), (2, 1.84), (4, 3.62)]]
    assert "such as '10.35+0.78' as 11.13" in notes


def test_a_method_and_its_devices_may_share_a_column(tmp_path: Path) -> None:
    text = """
| Method / GPUs | time per step (ms) |
|---|---|
| DP / 1 | 310 |
| DP / 2 | 328 |
| DDP / 1 | 333 |
| DDP / 2 | 180 |
"""
    audits, _, _ = read(tmp_path, text)
    assert [*series(audits).values()] == [[(1, 1.0), (2, 0.95)], [(1, 1.0), (2, 1.85)]]


def test_degrees_in_brackets_are_devices() -> None:
    found = {text: count_in_words(text) for text in ("DP(4)", "PP(4) 1F1B", "TP(2) PP(2)", "FSDP(8)")}
    assert [count.gpus for count in found.values()] == [4, 4, 4, 8]
    assert [count.words for count in found.values()] == ["DP", "PP 1F1B", "", "FSDP"]
    with pytest.raises(ValueError, match="names no number of devices"):
        count_in_words("ZeRO(3)")


def test_the_only_serial_run_is_the_baseline_of_cpus_and_gpus(tmp_path: Path) -> None:
    text = """
| Configuration | Training Time |
|---|---|
| Serial CNN (CPU) | 5530 s |
| 2-CPU DDP | 3273 s |
| 4-CPU DDP | 3056 s |
| 2-GPU DDP | 2848 s |
| 3-GPU DDP | 2308 s |
"""
    audits, _, _ = read(tmp_path, text)
    assert [*series(audits).values()] == [[(1, 1.0), (2, 1.69), (4, 1.81)], [(1, 1.0), (2, 1.94), (3, 2.4)]]


def test_a_pair_of_other_things_is_no_devices(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no column of devices"):
        read(tmp_path, "| Method / version | time (s) |\n|---|---|\n| DP / 1 | 310 |\n| DP / 2 | 328 |\n")


def test_of_two_speedups_the_one_that_is_1_on_the_fewest_devices_is_of_scaling(tmp_path: Path) -> None:
    text = """
| Threads | Render time (ms) | Speedup vs BVH 1T | Speedup vs Naive 1T |
|---|---|---|---|
| 1 | 2164 | 1.00x | 2.47x |
| 2 | 1495 | 1.45x | 3.58x |
| 4 | 712 | 3.04x | 7.51x |
"""
    audits, _, _ = read(tmp_path, text)
    assert len(audits) == 1
    assert audits[0].checked.speedups == 3 and not audits[0].remarks


def test_ratios_of_builds_are_no_speedups_of_threads(tmp_path: Path) -> None:
    text = """
| Build | 8 threads | 16 threads | 16 threads vs serial-vector build |
|---|---:|---:|---:|
| Serial vectors | 724 s | 494 s | 1.00× |
| Default | 553 s | 292 s | 1.41× |
"""
    audits, _, _ = read(tmp_path, text)
    assert [found[-1] for found in series(audits).values()] == [(16, 1.47), (16, 1.89)]
    assert not any(audit.remarks for audit in audits)


def test_where_the_devices_are_is_no_other_measurement(tmp_path: Path) -> None:
    text = """
| Grid | 1 rank | 2 ranks (one node) | 4 ranks (node1 + node2) |
|---|---|---|---|
| A | 6.6 ms | 3.9 ms | 2.4 ms |
| B | 152 ms | 88 ms | 50 ms |
"""
    audits, _, _ = read(tmp_path, text)
    assert [found[-1] for found in series(audits).values()] == [(4, 2.75), (4, 3.04)]


@pytest.mark.parametrize("header", ["1 GPU | 2 GPUs | 4 GPUs", "local[1] | local[2] | local[4]"])
def test_the_first_column_may_be_one_of_devices_too(header: str, tmp_path: Path) -> None:
    audits, _, _ = read(tmp_path, f"| {header} |\n|---|---|---|\n| 100 s | 52 s | 27 s |\n")
    assert list(series(audits).values()) == [[(1, 1.0), (2, 1.92), (4, 3.7)]]


def test_nodes_tasks_and_processors_of_a_job_are_multiplied(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(
        "nodes,tasks_per_node,cpus_per_task,throughput\n1,1,1,100\n1,1,8,740\n1,2,8,1400\n2,2,8,2600\n"
    )
    found, _ = audit_file(read_published(path), "runs")
    assert [(scale.row.gpus, round(scale.speedup.value, 2)) for scale in found[0].table.scales] == [
        (1, 1.0),
        (8, 7.4),
        (16, 14.0),
        (32, 26.0),
    ]


def test_a_column_that_tells_rows_on_the_same_devices_apart_is_a_label(tmp_path: Path) -> None:
    text = """
| run | ranks | tau | tokens/s (global) |
|---|---|---|---|
| A | 1 | 1 | 1640 |
| B | 2 | 1 | 2759 |
| C | 1 | 100 | 1695 |
| D | 2 | 100 | 2999 |
"""
    audits, _, notes = read(tmp_path, text)
    assert [found[-1] for found in series(audits).values()] == [(2, 1.68), (2, 1.77)]
    assert "tau tells rows on the same devices apart, so it is read as a label" in notes


def test_batches_that_are_products_are_those_of_all_devices(tmp_path: Path) -> None:
    text = """
| batch size | gpus | samples/s |
|---|---|---|
| 64x1 | 1 | 900 |
| 64x4 (lr=0.2) | 4 | 3500 |
| 64x8=512 | 8 | 6200 |
"""
    audits, _, _ = read(tmp_path, text)
    assert [*series(audits).values()] == [[(1, 1.0), (4, 3.89), (8, 6.89)]]
    assert [scale.row.number("batch_per_gpu") for scale in audits[0].table.scales] in ([64, 64, 64], [None] * 3)


def test_a_row_may_list_devices_and_a_measurement_of_each(tmp_path: Path) -> None:
    text = """
| dataset | GPUs | AUC | TFLOPS |
|---|---|---|---|
| A | 1 / 2 / 4 | 0.70 / 0.71 | ~26 / ~71 / ~184 |
| B | 1 | 0.72 | 0.12 |
"""
    audits, _, _ = read(tmp_path, text)
    assert [found for found in series(audits).values() if len(found) > 1] == [[(1, 1.0), (2, 2.73), (4, 7.08)]]


def test_an_efficiency_is_of_the_column_whose_words_it_has(tmp_path: Path) -> None:
    text = """
| workers | OLD transitions/s | NEW transitions/s | NEW scaling efficiency |
|---|---|---|---|
| 1 | 7,414 | 29,717 | 1.000 |
| 2 | 12,852 | 57,053 | 0.960 |
| 4 | 23,745 | 100,324 | 0.844 |
"""
    audits, _, _ = read(tmp_path, text)
    assert [audit.checked.efficiencies for audit in audits] == [0, 3]
    assert not any(audit.remarks for audit in audits)
