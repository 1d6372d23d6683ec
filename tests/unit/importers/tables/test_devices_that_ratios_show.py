"""Devices and strategies that ratios show, devices among other words, and numbers that are no devices."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import Audit
from scalestudy.errors import UserError
from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.counts.headers import count_of_header
from scalestudy.importers.counts.labels import count_or_none
from test_printed_habits import audited

MULTI = """| Elements | Single GPU (ms) | Multi-GPU (ms) | Speedup | Efficiency |
|---|---|---|---|---|
| 1000 | 0.90 | 1.50 | 0.60x | 20.0% |
| 9000 | 9.00 | 3.60 | 2.50x | 83.3% |
"""
WAYS = """| Size | Serial (ms) | OpenMP-8 (ms) | MPI-8 (ms) | OpenMP Speedup | MPI Speedup |
|---|---|---|---|---|---|
| small | 8.0 | 3.2 | 2.5 | 2.50x | 3.20x |
| large | 3245.0 | 405.6 | 324.5 | 8.00x | 9.00x |
"""
LETTER = """| Version | $n$ | $T$ | $S(T)$ | $s$ |
|---|---|---|---|---|
| V3 | 500 | 8 | 3.46x | 18.8% |
| V3 | 1000 | 16 | 9.28x | 4.8% |
"""
HOST = """| Node | Wall time (s) |
|---|---|
| 40 CPU cores (MPI) | 235 |
| 8 CPU cores + 1 GPU | 60 |
| 8 CPU cores + 2 GPUs | 36 |
"""
IDS = """| GPU | images/s |
|---|---|
| 0 | 1561 |
| 1 | 1321 |
| 2 | 1543 |
"""
CHOSEN = """| Program | 1→4 Speedup | Optimal Thread Count |
|---|---|---|
| A | 3.13x | 16 |
| B | 3.01x | 8 |
"""
BINARY = """| Threads | Rate |
|---|---|
| 1 | 512 MiB/s |
| 16 | 6.4 GiB/s |
"""
SERIAL = """$$\\text{Sequential Time } (T_{\\text{seq}}) = 1.80\\text{ seconds}$$

| Threads | Time (s) | Speedup |
|---|---|---|
| 1 | 1.71 | 1.053x |
| 2 | 0.90 | 2.000x |
| 4 | 0.60 | 3.000x |
"""
PARTS = """| case | serial | np=2 | np=4 |
|---|---|---|---|
| plain | 44 its, 4.2 s | 57 its, 2.5 s | 58 its |
| blocks | 33 its, 4.5 s | 46 its, 2.4 s | 47 its, 1.5 s |
"""
GROWING = """### Strong scaling

| Vertices | 50 | 100 | 200 | 400 |
|---|---|---|---|---|
| Threads | 1 | 2 | 4 | 8 |
| Time (s) | 1.0 | 2.2 | 4.1 | 9.0 |
"""
KINDS = """| GPUs | Throughput | vs Single |
|---|---|---|
| 1 × RTX 3090 | 124.6 tok/s | baseline |
| RTX 3090 + RTX 5070 Ti | 92.0 tok/s | -26.2% |
"""
NODES = """| Nodes | DP | TP | MBS | GBS | Sec/it | TFLOPs/GPU |
|---|---|---|---|---|---|---|
| 4 | 4 | 8 | 1 | 2048 | 180.0 | 92.4 |
| 8 | 8 | 8 | 1 | 2048 | 92.0 | 90.4 |
"""
SEQUENCES = """| Configuration | Latency (s) |
|---|---|
| 1 GPU | 6.70 |
| Ulysses-2 | 4.40 |
| Ring-2 | 5.30 |
| Ulysses-2 x Ring-2 | 5.20 |
| Ulysses-4 | 4.20 |
"""
PACKED = """| Writer | Time (s) | Speedup |
|---|---|---|
| A (sequential) | 16.00 | 1.00x |
| A (parallel 4w) | 8.00 | 2.00x |
"""
CHINESE = """| 配置 | GPU 数量 | 吞吐量 (tokens/s) |
|---|---|---|
| FP8 单卡 | 1x H100 | 1,200 |
| FP8 2卡 | 2x H100 | 2,100 |
"""
MODELS = """| Config | Device | tokens/s |
|---|---|---|
| 7B MoE | 1x A100 | 175 |
| 7B MoE | 2x A100 | 315 |
| 14B MoE | 4x A100 | 225 |
"""
PRECISIONS = """| Variant | GPUs | Tokens/s |
|---|---|---|
| BF16 (tensor parallel) | 2 | 67.3 |
| INT4 AWQ | 1 | 44.3 |
"""


def _devices(audit: Audit) -> list[int]:
    return [scale.row.gpus for scale in audit.table.scales]


def _kinds(audit: Audit) -> list[str]:
    return [one.kind for one in audit.remarks]


def test_speedup_over_efficiency_gives_the_devices(tmp_path: Path) -> None:
    small, large = audited(tmp_path, MULTI)
    assert _devices(small) == _devices(large) == [1, 3]
    assert large.checked.speedups == large.checked.efficiencies == 1
    assert "on 3 devices" in " ".join(large.source.notes)
    with pytest.raises(UserError):  # 2 and 3 devices
        audited(tmp_path, MULTI.replace("20.0%", "30.0%"))


def test_ratios_belong_to_the_strategy_that_they_name(tmp_path: Path) -> None:
    remarks = [remark for audit in audited(tmp_path, WAYS) for remark in audit.remarks if remark.kind == "speedup"]
    assert [remark.sentence[:24] for remark in remarks] == ["printed 9, but the times"]


def test_the_letter_in_a_ratio_is_that_of_the_devices(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, LETTER)
    assert _devices(audit) == [8, 16]
    assert "s" in audit.source.unread


def test_cores_beside_gpus_are_those_of_the_host(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, HOST)
    assert _devices(audit) == [1, 2]
    assert not audit.remarks


@pytest.mark.parametrize("text", [IDS, CHOSEN])
def test_numbers_that_are_no_devices(tmp_path: Path, text: str) -> None:
    with pytest.raises(UserError, match="no column of devices"):
        audited(tmp_path, text)


def test_binary_prefixes_are_powers_of_1024(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, BINARY)
    assert audit.table.scales[1].speedup.value == pytest.approx(12.8)


def test_a_serial_time_in_a_formula(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, SERIAL)
    assert not audit.remarks
    assert any("serial time" in note for note in audit.source.notes)


def test_numbers_of_iterations_in_front_of_times(tmp_path: Path) -> None:
    _, blocks = audited(tmp_path, PARTS)
    assert _devices(blocks) == [2, 4]
    assert blocks.table.scales[1].speedup.value == pytest.approx(1.6)


def test_the_course_of_growing_work_is_no_negative_scaling(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, GROWING)
    assert _kinds(audit) == ["label"]


def test_two_kinds_of_gpus_and_a_loss(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, KINDS)
    assert _devices(audit) == [1, 2]
    assert _kinds(audit) == ["confounded"]
    assert audit.table.scales[1].row.number("printed_speedup") == pytest.approx(0.738)


def test_batches_are_not_checked_if_the_devices_of_a_node_are_unknown(tmp_path: Path) -> None:
    kinds = {kind for audit in audited(tmp_path, NODES) for kind in _kinds(audit)}
    assert not kinds & {"batch", "throughput against step time"}


def test_the_number_behind_multi_gpu_is_no_number_of_devices() -> None:
    assert count_or_none("Multi GPU: 25,426 images/s") is None
    assert count_or_none("Multi-GPU: 25") is None
    assert count_or_none("GPUs: 4, DDP") is not None


@pytest.mark.parametrize(("text", "gpus"), [("RTX 3090 + RTX 5070 Ti", 2), ("one process, 4 GPUs", 4)])
def test_phrases_of_devices(text: str, gpus: int) -> None:
    assert read_count(text).gpus == gpus


def test_one_core_in_brackets() -> None:
    assert (found := count_of_header("CPU (single)")) is not None
    assert found[0].gpus == 1


def test_degrees_of_sequence_parallelism_are_strategies(tmp_path: Path) -> None:
    found = {audit.case: _devices(audit) for audit in audited(tmp_path, SEQUENCES)}
    assert found == {"ULYSSES": [1, 2, 4], "RING": [1, 2], "ULYSSES x RING": [1, 4]}


@pytest.mark.parametrize(("text", "devices"), [(PACKED, [1, 4]), (CHINESE, [1, 2]), (MODELS, [1, 2])])
def test_labels_with_devices_and_models(tmp_path: Path, text: str, devices: list[int]) -> None:
    (audit,) = audited(tmp_path, text)
    assert _devices(audit) == devices
    assert not audit.remarks


def test_a_precision_that_only_the_label_names_is_another_setting(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, PRECISIONS)
    assert _kinds(audit) == ["confounded"]
