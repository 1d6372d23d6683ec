"""Devices across in headers of hardware: pieces (8p), machines with all of their devices, and slices of a TPU."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from test_plain_tables import read, series

PIECES = """
| | {first} | {second} |
|---|---|---|
| Speed | 317 ms/step | 332 ms/step |
| Throughput | 24.8 fps | {fps} fps |
"""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Ascend 910 (1p)", "Ascend 910 (8p)"),
        ("Ascend 910-1p", "Ascend 910-8p"),
        ("A100 (1pcs)", "A100 (8pcs)"),
        ("1p", "8p"),
    ],
)
def test_pieces_of_hardware_are_devices(tmp_path: Path, first: str, second: str) -> None:
    audits, _, _ = read(tmp_path, PIECES.format(first=first, second=second, fps="189.3"))
    assert [one[-1] for one in series(audits).values()] == [(8, 7.63)]


@pytest.mark.parametrize(("first", "second"), [("720p", "1080p"), ("A100 (720p)", "A100 (1080p)")])
def test_lines_of_a_picture_are_no_devices(tmp_path: Path, first: str, second: str) -> None:
    with pytest.raises(UserError, match="no column of devices"):
        read(tmp_path, PIECES.format(first=first, second=second, fps="11.3"))


MACHINES = """
**Time to train, minutes**

| Benchmark | {headers} | Best other |
|---|---|---|---|---|
| SSD | 111.0 | 31.2 | 9.9 | 12.3 |
| GNMT | 94.2 | 26.1 | 8.1 | 9.0 |
"""


@pytest.mark.parametrize(
    "headers",
    ["DGX-1 (8) | 4x DGX-1 (32) | 16x DGX-1 (128)", "DGX A100 (8) | 4 x DGX A100 (32) | 16 x DGX A100 (128)"],
)
def test_machines_with_all_of_their_devices_in_brackets(tmp_path: Path, headers: str) -> None:
    audits, _, _ = read(tmp_path, MACHINES.format(headers=headers))
    assert series(audits) == {
        "SSD": [(8, 1.0), (32, 3.56), (128, 11.21)],
        "GNMT": [(8, 1.0), (32, 3.61), (128, 11.63)],
    }
    assert not any(audit.remarks for audit in audits)


def test_numbers_in_brackets_that_are_not_of_the_machines_are_no_devices(tmp_path: Path) -> None:
    headers = "DGX-1 (8) | 4x DGX-1 (30) | 16x DGX-1 (100)"
    audits, _, _ = read(tmp_path, MACHINES.format(headers=headers))
    assert {scale.row.gpus for audit in audits for scale in audit.table.scales} == {4, 16}


SLICES = """
TFLOP/s/chip{words}

| Model | {first} | {second} |
|---|---|---|
| 32B | 284{mfu[0]} | 281{mfu[1]} |
| 64B | 296{mfu[2]} | 290{mfu[3]} |
"""


def test_slices_of_a_tpu_with_their_chips_are_one_series_for_each_row(tmp_path: Path) -> None:
    text = SLICES.format(words=" by model", first="v5p-128 (64 chips)", second="v5p-256 (128 chips)", mfu=[""] * 4)
    audits, _, _ = read(tmp_path, text)
    assert series(audits) == {"32B": [(64, 1.0), (128, 1.98)], "64B": [(64, 1.0), (128, 1.96)]}


@pytest.mark.parametrize(
    ("first", "second"),
    [("v4-128 (64 chips)", "v5p-256 (128 chips)"), ("bert-128 (64 chips)", "bert-256 (128 chips)")],
)
def test_kinds_of_tpus_and_other_names_stay_apart(tmp_path: Path, first: str, second: str) -> None:
    text = SLICES.format(words=" by model", first="{first}", second="{second}", mfu=[""] * 4)
    audits, _, _ = read(tmp_path, text.format(first=first, second=second))
    assert {len(rows) for rows in series(audits).values()} == {1}


def test_per_cents_beside_words_on_utilization_are_shares_of_the_peak(tmp_path: Path) -> None:
    words = " with model FLOPs utilization"
    shares = [" (61.8%)", " (61.2%)", " (64.4%)", " (63.1%)"]
    text = SLICES.format(words=words, first="v5p-128 (64 chips)", second="v5p-256 (128 chips)", mfu=shares)
    audits, _, _ = read(tmp_path, text)
    assert [audit.checked.efficiencies for audit in audits] == [0, 0]
    assert not any(audit.remarks for audit in audits)
    shares = [" (100%)", " (98.9%)", " (100%)", " (98.0%)"]
    text = SLICES.format(words=words, first="v5p-128 (64 chips)", second="v5p-256 (128 chips)", mfu=shares)
    audits, _, _ = read(tmp_path, text)
    assert [audit.checked.efficiencies for audit in audits] == [2, 2]
