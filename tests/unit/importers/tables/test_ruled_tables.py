"""Tables whose headers, of several lines, stand above a rule with gaps; the batch of a device beside a rate."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.headers.meaning import meaning_of
from test_groups_and_quantities import rows_of
from test_printed_habits import audited, speedups, table

RULED = """\
# Images per second for ResNet50
# Batch size per worker = 128


Number   DataParallel  Ray (PyTorch)
of GPUs                + Apex
=======  ============  =============
1        355.5         770
2        656           1346
8        2521          5862
"""


def test_headers_of_two_lines_above_a_rule(tmp_path: Path) -> None:
    one, other = audited(tmp_path, RULED)
    assert speedups(one) == [(1, 1.0), (2, 1.85), (8, 7.09)]
    assert other.case == "ray (pytorch) + apex"
    assert {row.number("throughput") for row in other.source.rows} == {770, 1346, 5862}


def test_words_over_two_columns_are_no_ruled_table(tmp_path: Path) -> None:
    text = RULED.replace("1        355.5         770", "1        355.5 and more, 770 of them")
    with pytest.raises(UserError):
        audited(tmp_path, text)


@pytest.mark.parametrize(
    "header",
    [
        "img/s (bs 64 per GPU)",
        "Images per second, batch size per GPU 64",
        "Throughput (batch size of 64 per worker)",
        "img/s (64 imgs per GPU)",
        "img/s (batch=64/GPU)",
        "Throughput, per-GPU batch 64",
        "img/s (local batch 64)",
        "Throughput (img/s, 1 process per GPU)",
        "images/s (2 dataloader workers per GPU)",
        "Throughput [samples/s] @ 32 per GPU",
        "tokens/s, 4k tokens per GPU",
        "env steps/s (64 envs per GPU)",
    ],
)
def test_the_batch_of_a_device_is_not_the_rate_of_a_device(header: str, tmp_path: Path) -> None:
    assert (meaning_of(header).role, meaning_of(header).per) == ("throughput", "")
    found, _ = rows_of(tmp_path, header + "\n\n" + table("GPUs;DDP", "1;355.5", "2;656", "4;1289"))
    assert found[0] == [(1, 355.5), (2, 656), (4, 1289)]


@pytest.mark.parametrize(
    "header",
    [
        "images/s/GPU (batch 64)",
        "Images per GPU per second",
        "Per-GPU images/s (batch size 64 per GPU)",
        "node-c1 TFLOP/s/GPU",
        "8 TFLOP/s/GPU",
    ],
)
def test_the_rate_of_a_device_beside_its_batch(header: str) -> None:
    assert meaning_of(header).role == "throughput_per_gpu"


@pytest.mark.parametrize(
    "header", ["Batch size per GPU", "batch/GPU", "local batch size", "Batch size / GPU (images)"]
)
def test_the_batch_of_a_device_alone(header: str) -> None:
    assert meaning_of(header).role == "batch_per_gpu"


@pytest.mark.parametrize(
    ("header", "role"),
    [
        ("Time per epoch (s), batch 256 per GPU", "total_time_s"),
        ("Step time (ms) at 8 samples per GPU", "step_time_s"),
        ("GPUs (batch 64 per GPU)", "gpus"),
        ("it/s with 16 samples per GPU", "steps_per_s"),
    ],
)
def test_other_headers_beside_the_batch_of_a_device(header: str, role: str) -> None:
    assert meaning_of(header).role == role


def test_columns_of_no_devices_beside_ratios(tmp_path: Path) -> None:
    header = "Precision;0 GPU;2 GPU;4 GPU;1->2;4 GPU efficiency"
    text = table(header, "fp32;106.347;108.178;166.446;1.017x;0.391", "fp16;106.8;105.1;162.2;0.985x;0.380")
    with pytest.raises(UserError):
        audited(tmp_path, text)
