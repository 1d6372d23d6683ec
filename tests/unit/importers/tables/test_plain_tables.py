"""Tables as READMEs and issues print them, with what a careful reader reads of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import Asked, Audit, audit_file
from scalestudy.errors import UserError
from scalestudy.importers.columns.meanings import Corrections
from scalestudy.importers.reading import read_published
from scalestudy.publish.audit import reading_view
from scalestudy.publish.quantity import quantity_of


def read(tmp_path: Path, text: str, **columns: str) -> tuple[list[Audit], list[Asked], str]:
    """Return the audits, the questions and the notes of a file."""
    path = tmp_path / "table.md"
    path.write_text(text, encoding="utf-8")
    file = read_published(path, Corrections(columns))
    audits, asked = audit_file(file, "table")
    notes = " ".join(note for view in reading_view(file, audits, asked) for note in view["notes"])
    return audits, asked, notes


def series(audits: list[Audit]) -> dict[str, list[tuple[int, float]]]:
    """Return the recomputed speedups of each case."""
    return {
        audit.case: [(scale.row.gpus, round(scale.speedup.value, 2)) for scale in audit.table.scales]
        for audit in audits
    }


def test_a_ratio_in_brackets_says_what_numbers_below_an_unknown_header_are(tmp_path: Path) -> None:
    text = """
| GPUs | strong, 128^3 total | weak, 128^3 per GPU |
|---|---|---|
| 1x H100 | 210.0 | 208.1 |
| 4x H100 | 588.1 (2.80x) | 782.5 (94 % eff.) |
"""
    audits, asked, _ = read(tmp_path, text)
    assert not asked
    assert list(series(audits).values()) == [[(1, 1.0), (4, 2.8)], [(1, 1.0), (4, 3.76)]]
    assert [(audit.checked.speedups, audit.checked.efficiencies) for audit in audits] == [(1, 0), (0, 1)]
    assert not any(audit.remarks for audit in audits)


def test_scaling_in_a_header_is_that_of_the_ratios_in_its_brackets(tmp_path: Path) -> None:
    text = """
| Threads | Encode tok/s (scaling) | Decode tok/s (scaling) |
|--------:|-----------------------:|-----------------------:|
| 1 | 21.0 (1.0x) | 6.1 (1.0x) |
| 2 | 41.2 (2.0x) | 11.0 (1.8x) |
"""
    audits, _, _ = read(tmp_path, text)
    assert series(audits) == {"encode": [(1, 1.0), (2, 1.96)], "decode": [(1, 1.0), (2, 1.8)]}
    assert [audit.checked.speedups for audit in audits] == [2, 2]
    assert not any(audit.remarks for audit in audits)


def test_a_mean_of_speedups_is_not_held_against_mean_times(tmp_path: Path) -> None:
    text = """
| Workers | Mean Time (s) | Mean Speedup |
| ---: | ---: | ---: |
| 1 | 70.2 | 1.000 baseline |
| 2 | 47.9 | 1.181 |
| 4 | 36.9 | 1.529 |
"""
    (audit,), _, notes = read(tmp_path, text)
    assert not audit.remarks
    assert "Mean Speedup is a mean of speedups" in notes
    (audit,), _, notes = read(tmp_path, text.replace("1.181", "1.466").replace("1.529", "1.902"))
    assert (audit.checked.speedups, notes) == (3, "")


def test_efficiencies_above_100_percent_that_follow_as_speedups_are_speedups(tmp_path: Path) -> None:
    text = """
jobName | CPUs | timeOfOneRun(s) | efficiency | utilization
-- | -- | -- | -- | --
a | 1 | 210.4 | 100% | 100%
b | 2 | 110.2 | 191% | 95%
c | 4 | 60.1 | 350% | 88%
d | 8 | 36.3 | 580% | 72%
"""
    (audit,), _, _ = read(tmp_path, text)
    assert not audit.remarks
    assert (audit.checked.speedups, audit.checked.efficiencies) == (4, 4)


def test_a_column_that_the_user_ignores_is_no_label(tmp_path: Path) -> None:
    text = """
| GPUs | note | img/s |
|---|---|---|
| 1 | warm | 100 |
| 2 | warm | 190 |
| 2 | cold | 180 |
| 4 | cold | 350 |
"""
    audits, _, _ = read(tmp_path, text)
    assert sorted(series(audits)) == ["cold", "warm"]
    (audit,), _, _ = read(tmp_path, text, note="ignore")
    assert [scale.row.gpus for scale in audit.table.scales] == [1, 2, 4]


def test_numbers_below_unknown_headers_that_fall_are_offered_as_times(tmp_path: Path) -> None:
    text = "| number of threads | gcc | clang |\n|---|---|---|\n| 1 | 4.1 | 6.2 |\n| 2 | 2.3 | 3.4 |\n"
    text += "| 4 | 1.4 | 2.0 |\n"
    with pytest.raises(UserError) as refused:
        read(tmp_path, text)
    assert "--column 'gcc=total_time_s' --column 'clang=total_time_s'" in str(refused.value)
    audits, _, _ = read(tmp_path, text, gcc="total_time_s", clang="total_time_s")
    assert [found[-1] for found in series(audits).values()] == [(4, 2.93), (4, 3.1)]


def test_headers_in_the_frame_of_a_drawn_table(tmp_path: Path) -> None:
    text = """
\u250c\u2500threads\u2500\u252c\u2500median time [s]\u2500\u2510
\u2502       1 \u2502           21.29 \u2502
\u2502       2 \u2502           11.58 \u2502
\u2502       4 \u2502            6.98 \u2502
\u2514\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2534\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2500\u2518
It does not scale.
"""
    (audit,), _, _ = read(tmp_path, text)
    assert series([audit]) == {"table": [(1, 1.0), (2, 1.84), (4, 3.05)]}


def test_the_rate_of_one_simulation_in_weak_scaling_is_that_of_each_device(tmp_path: Path) -> None:
    text = """
## Weak scaling

| num_gpus | atoms | ns/day | Matoms_step/s |
|---|---|---|---|
| 1 | 50000 | 2.80 | 3.24 |
| 2 | 100000 | 2.74 | 6.34 |
| 8 | 400000 | 2.61 | 24.2 |
"""
    audits, asked, _ = read(tmp_path, text)
    assert not asked
    assert [found[-1] for found in series(audits).values()] == [(8, 7.46), (8, 7.47)]


def test_the_batch_of_a_label_is_a_batch(tmp_path: Path) -> None:
    text = """
| Config | Throughput |
|---|---|
| 1 node, 8xH100, bs=256 | 90,203 tok/s |
| 2 nodes, 16xH100, bs=512 | 175,417 tok/s |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert not audit.remarks
    assert [(scale.row.gpus, scale.row.global_batch) for scale in audit.table.scales] == [(8, 256), (16, 512)]


def test_hardware_beside_instances_that_says_the_same_devices_is_no_other_hardware(tmp_path: Path) -> None:
    text = """
| Instance | GPU | Epoch time |
|---|---|---|
| p3.2xlarge | 1x V100 | 40 min |
| p3.8xlarge | 4x V100 | 11 min 20 s |
"""
    (audit,), _, notes = read(tmp_path, text)
    assert not audit.remarks
    assert "'p3.2xlarge' has 1 device by its provider's list" in notes


def test_one_process_without_a_backend_is_the_baseline_of_each(tmp_path: Path) -> None:
    text = """
| World Size | Backend | Total Time (s) |
|---|---|---|
| 1 | - | 300.4 |
| 2 | gloo | 202.7 |
| 2 | nccl | 161.9 |
| 4 | gloo | 168.2 |
| 4 | nccl | 86.8 |
"""
    audits, _, _ = read(tmp_path, text)
    assert series(audits) == {
        "gloo": [(1, 1.0), (2, 1.48), (4, 1.79)],
        "nccl": [(1, 1.0), (2, 1.86), (4, 3.46)],
    }


@pytest.mark.parametrize("below", ["(images/second, fp16)", "All numbers are images/s.", "Units: images/second"])
def test_a_line_below_a_table_says_what_its_numbers_are(tmp_path: Path, below: str) -> None:
    text = f"| | T4 x1 | T4 x2 | T4 x4 |\n|---|---|---|---|\n| ResNet-50 | 301 | 580 | 1101 |\n\n{below}\n"
    (audit,), asked, _ = read(tmp_path, text)
    assert not asked
    assert [scale.row.gpus for scale in audit.table.scales] == [1, 2, 4]


def test_gradient_accumulation_by_its_short_name(tmp_path: Path) -> None:
    text = """
| GPUs | micro bs | grad acc | tokens/s/GPU |
|---|---|---|---|
| 8 | 2 | 8 | 3410 |
| 16 | 2 | 4 | 3300 |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert audit.strong


def test_names_of_hosts_are_no_numbers_of_nodes(tmp_path: Path) -> None:
    text = "| Host | Cores | small |\n|---|---|---|\n| our box | 4 | 80 min |\n| our box | 16 | 24 min |\n"
    (audit,), _, notes = read(tmp_path, text)
    assert (series([audit]), notes) == ({"table": [(4, 1.0), (16, 3.33)]}, "")


def test_a_rate_below_wall_speed_is_no_time(tmp_path: Path) -> None:
    text = """
| Processes/runners | Per-runner speed | Aggregate wall speed |
| ---: | ---: | ---: |
| 1 | 810.00 ns/day | 450.5 ns/day |
| 2 | 750.50 ns/day | 880.2 ns/day |
"""
    audits, asked, _ = read(tmp_path, text)
    assert not asked
    assert (2, 1.95) in [found[-1] for found in series(audits).values()]


def test_the_unit_of_the_cells_is_shown(tmp_path: Path) -> None:
    text = "| #GPU | Throughput |\n|---|---|\n| 8 | 1375 img/s |\n| 16 | 2658 img/s |\n"
    (audit,), _, _ = read(tmp_path, text)
    assert quantity_of(audit).header == "img/s"


def test_a_number_of_consumer_cards_and_a_unit_as_header(tmp_path: Path) -> None:
    text = "| Model | 1x3090 (s/epoch) | 2x3090 (s/epoch) |\n|---|---|---|\n| ViT-S | 190 | 99 |\n"
    audits, _, _ = read(tmp_path, text)
    assert series(audits) == {"table": [(1, 1.0), (2, 1.92)]}


def test_numbered_hosts_beside_another_device(tmp_path: Path) -> None:
    text = """
| Backend | Min [s] | Med [s] | Speedup |
|---|---|---|---|
| CPUx01 | 0.98 | 1.06 | 1.00 |
| CPUx04 | 0.33 | 0.35 | 2.97 |
| GPU-A | 0.10 | 0.11 | 9.80 |
"""
    audits, _, notes = read(tmp_path, text, Backend="gpus")
    assert list(series(audits).values()) == [[(1, 1.0), (4, 2.97)], [(1, 1.0), (4, 3.03)]]  # of minima and medians
    assert [(audit.checked.speedups, audit.remarks) for audit in audits] == [(2, ()), (0, ())]
    assert "GPU-A is not a number of devices" in notes


def test_cells_of_several_numbers_are_refused_as_such(tmp_path: Path) -> None:
    text = (
        "| arm | step |\n|---|---|\n| 4 workers | 212 / 215 / 211 s: green |\n| 6 workers | 164 / 97 / 183 s |\n"
    )
    with pytest.raises(UserError) as refused:
        read(tmp_path, text)
    assert "the cells of 'step' have several numbers each, such as '212 / 215 / 211 s: green'" in str(
        refused.value
    )


def test_a_rate_of_each_device_and_one_of_all_in_a_cell(tmp_path: Path) -> None:
    text = """
| GPUs | Tokens/s (per GPU / total) |
|---|---|
| 8 | 3,170 / 25,360 |
| 16 | 3,020 / 48,320 |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert [scale.throughput.value for scale in audit.table.scales] == pytest.approx([25360, 48320])
    (audit,), _, _ = read(tmp_path, text.replace("48,320", "50,720"))
    assert [remark.kind for remark in audit.remarks] == ["throughput per device"]


def test_steps_per_second_that_grow_are_of_a_constant_batch(tmp_path: Path) -> None:
    text = "| GPUs | DDP it/s |\n|---|---|\n| 1 | 3.2 |\n| 2 | 6.1 |\n"
    (audit,), _, _ = read(tmp_path, text)
    assert series([audit]) == {"table": [(1, 1.0), (2, 1.91)]}
    _, (asked,), _ = read(tmp_path, text.replace("6.1", "3.1"))
    assert asked.question.kind == "steps_per_s"


@pytest.mark.parametrize(
    ("label", "many"), [("1 DGX-1 (8x V100)", "4 DGX-1 (32x V100)"), ("DP=1, TP=8", "DP=4, TP=8")]
)
def test_labels_of_boxes_and_of_degrees_change_nothing_else(tmp_path: Path, label: str, many: str) -> None:
    text = f"| System | img/s |\n|---|---|\n| {label} | 6050 |\n| {many} | 23400 |\n"
    (audit,), _, _ = read(tmp_path, text)
    assert ([scale.row.gpus for scale in audit.table.scales], audit.remarks) == ([8, 32], ())


def test_a_sharding_is_a_strategy(tmp_path: Path) -> None:
    rows = [
        (8, "18.6", "FULL_SHARD"),
        (8, "18.4", "HYBRID_SHARD"),
        (16, "35.9", "FULL_SHARD"),
        (16, "36.4", "HYBRID_SHARD"),
    ]
    text = "| #GPUs | Samples/s | MBS | GradAccm | Sharding | MFU |\n|---|---|---|---|---|---|\n"
    text += "".join(f"| {gpus} | {rate} | 2 | 1 | {how} | 0.5 |\n" for gpus, rate, how in rows)
    audits, _, _ = read(tmp_path, text)
    assert series(audits) == {"FULL_SHARD": [(8, 1.0), (16, 1.93)], "HYBRID_SHARD": [(8, 1.0), (16, 1.98)]}
    assert not any(audit.remarks for audit in audits)


def test_the_batch_of_replicas_of_several_devices(tmp_path: Path) -> None:
    text = """
| GPUs | GBS | MBS | TP | PP | GA | Tokens / sec / GPU |
|---|---|---|---|---|---|---|
| 64 | 64 | 1 | 2 | 4 | 8 | 990 |
| 128 | 128 | 1 | 2 | 4 | 8 | 970 |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert not audit.remarks
    (audit,), _, _ = read(tmp_path, text.replace("| 128 | 128 |", "| 128 | 256 |"))
    assert "8 samples on each of 16 replicas of the model are 128" in audit.remarks[0].sentence


def test_as_many_devices_beside_more_and_more_nodes_are_those_of_each(tmp_path: Path) -> None:
    text = "| Nodes | GPUs | Samples per minute |\n|---|---|---|\n| 2 | 8 | 2900 |\n| 4 | 8 | 5010 |\n"
    (audit,), _, _ = read(tmp_path, text)
    assert series([audit]) == {"table": [(16, 1.0), (32, 1.73)]}


def test_devices_with_their_batch_in_one_column(tmp_path: Path) -> None:
    text = """
| Num_GPUs x Images_Per_GPU | Training time |
|---|---|
| 8x4 | 5h 12 |
| 16x4 | 2h 48 |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert series([audit]) == {"table": [(8, 1.0), (16, 1.86)]}


@pytest.mark.parametrize("cell", ["2x8xH100", "16 c5.xlarge nodes (16 actors)", "2 x 8 x A100"])
def test_nodes_devices_and_hardware_in_a_cell(tmp_path: Path, cell: str) -> None:
    few = "8 c5.xlarge nodes (8 actors)" if "actors" in cell else "8xH100"
    text = f"| Config | tok/s |\n|---|---|\n| {few} | 1000 |\n| {cell} | 1900 |\n"
    (audit,), _, _ = read(tmp_path, text)
    assert [scale.row.gpus for scale in audit.table.scales] == [8, 16]


def test_sizes_of_models_below_size_are_models(tmp_path: Path) -> None:
    text = """
| GPUs | Size | TFLOPs |
|---|---|---|
| 8 | 20B | 108.4 |
| 80 | 200B | 98.8 |
| 160 | 200B | 97.0 |
"""
    audits, _, _ = read(tmp_path, text, TFLOPs="throughput_per_gpu")
    assert series(audits)["200B"] == [(80, 1.0), (160, 1.96)]
    assert quantity_of(audits[-1]).header == "tflop/s"


def test_one_process_per_gpu_in_a_caption_is_no_rate_of_each(tmp_path: Path) -> None:
    text = """
It runs under `torchrun`, one process per GPU. Samples per second:

| processes | batch/proc | ddp | manual |
| ---: | ---: | ---: | ---: |
| 1 | 4 | 8.5 | 8.1 |
| 2 | 4 | 15.2 | 13.9 |
"""
    audits, _, _ = read(tmp_path, text)
    assert [found[-1] for found in series(audits).values()] == [(2, 1.79), (2, 1.72)]


def test_rows_of_batches_beside_one_without_and_a_placement_that_is_not_read(tmp_path: Path) -> None:
    text = """
| batch/GPU | 1 GPU | 2 GPUs one node | 2 GPUs two nodes |
| :--- | ---: | ---: | ---: |
| 4 | 11.2 | 21.5 (1.92x) | 1.6 (0.14x) |
| 32 | 88.7 | 163.2 (1.84x) | 13.3 (0.15x) |
| 32, bf16 | | 165.1 (1.86x) | 23.7 (0.27x) |
"""
    audits, _, notes = read(tmp_path, text)
    assert [found[-1] for found in series(audits).values()] == [(2, 1.92), (2, 1.84)]
    assert not any(audit.remarks for audit in audits)
    assert "'32, bf16' is not a number" in notes


def test_a_size_of_a_model_and_a_number_are_two_labels(tmp_path: Path) -> None:
    text = """
| Size | Cx | Target tokens | 4 GPUs | 8 GPUs |
|---|---:|---:|---:|---:|
| 480M | 1 | 8.4B | 4.3h | 2.6h |
| 480M | 2 | 16.9B | 7.1h | 4.0h |
| 810M | 1 | 15.1B | 9.3h | 5.3h |
| 810M | 2 | 30.2B | 21.6h | 11.7h |
"""
    audits, _, _ = read(tmp_path, text)
    assert [found[-1] for found in series(audits).values()] == [(8, 1.65), (8, 1.77), (8, 1.75), (8, 1.85)]


def test_rows_with_units_of_their_own_are_quantities(tmp_path: Path) -> None:
    text = """
| Benchmark | 8 GPUs | 16 GPUs | Status |
|---|---|---|---|
| GPU health | 8/8 PASS | 16/16 PASS | PASS |
| Step | 310 ms | 325 ms | PASS |
| Training | 331,842 tok/s | 632,970 tok/s | PASS |
"""
    audits, _, _ = read(tmp_path, text)
    assert (16, 1.91) in [found[-1] for found in series(audits).values()]
    assert all(scale.throughput.value != 16 for audit in audits for scale in audit.table.scales)


def test_a_rate_an_efficiency_and_other_rows(tmp_path: Path) -> None:
    text = """
| metric | 1 worker | 8 workers |
|---|---|---|
| aggregate rate | 80 /hr | **292 /hr** |
| time of one | 45.0 s | 98.6 s |
| scaling efficiency | \N{EM DASH} | **46 %** (292 against 640) |
| OOM kills | \N{EM DASH} | **0** |
"""
    audits, _, _ = read(tmp_path, text)
    assert (8, 3.65) in [found[-1] for found in series(audits).values()]
    assert not any(remark.kind == "efficiency" for audit in audits for remark in audit.remarks)


def test_rows_that_differ_in_a_column_that_was_not_read_are_named(tmp_path: Path) -> None:
    text = """
| GPUs | img/s | buckets | streams |
|---|---|---|---|
| 1 | 100 | 4 | 1 |
| 2 | 190 | 4 | 1 |
| 2 | 195 | 8 | 1 |
| 2 | 196 | 8 | 2 |
"""
    (audit,), _, notes = read(tmp_path, text)
    assert [remark.kind for remark in audit.remarks] == ["printed twice"]
    assert "lines 5 and 6 and 7 are one configuration by all columns that were read" in notes
    assert "differ in buckets, streams" in notes


def test_an_efficiency_of_weak_scaling_stays_one(tmp_path: Path) -> None:
    """It follows from the times as a speedup of constant work would."""
    text = """
## Weak scaling

| CPUs | time (s) | efficiency |
|---|---|---|
| 1 | 50.0 | 100% |
| 2 | 51.2 | 97.7% |
| 4 | 52.1 | 96.0% |
| 8 | 53.9 | 92.8% |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert (audit.checked.speedups, audit.checked.efficiencies, audit.remarks) == (0, 4, ())
