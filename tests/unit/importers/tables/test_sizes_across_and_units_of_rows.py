"""Sizes as headers beside devices in the rows, letters of threads, units that one cell or a sentence states."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import Audit
from scalestudy.errors import UserError
from scalestudy.publish.quantity import quantity_of
from test_printed_habits import audited

SIZES = """**Execution Time**

| Threads | 10000 | 20000 | 30000 |
|---|---|---|---|
| 1 | 1.34 | 5.25 | 11.64 |
| 2 | 0.72 | 2.68 | 5.96 |
| 3 | 0.49 | 1.76 | 3.98 |

**Speedup**

![speedup](speedup.png)
"""
LETTERS = """#### Median Execution Time (ms)

| Config | 1T | 2T | 4T | 6T | 8T |
|---|---|---|---|---|---|
| plain | 4082 | 2066 | 1082 | 775 | 1074 |
| traced | 4101 | 2161 | 1108 | 812 | 996 |
"""
EACH_STEP = """The forward run with every probe, milliseconds per step. A shared machine:

| Backend | 1 thread | 2 threads | 4 threads |
|---|---|---|---|
| native | 0.92 | 0.68 | 0.44 |
"""
QUOTED = """### Strong scaling

Here 'total time of the kernels' in seconds, is reported.

| Cores | arm | gcc |
|---|---|---|
| 1 | 2.66 | 2.31 |
| 4 | 1.47 | 1.40 |
"""
LAST_CELL = """| Workload | 1 thread | 2 threads | 4 threads |
|---|---|---|---|
| GET | 14.5M | 26.9M | 51.5M ops/sec |
| PUT | 41.9M | 74.3M | 132.1M ops/sec |
"""
SAVED = """| Cores | Speedup | Time |
|---|---|---|
| 1 | 0% | 100ms |
| 2 | ~8% | 92ms |
| 4 | ~12% | 88ms |
"""
POINTS = """| Number of points | Threads | Runtime (s) |
|---|---|---|
| 1e4 | 1 | 0.23 |
| 1e5 | 5 | 4.9 |
| 1e5 | 10 | 2.6 |
| 1e5 | 20 | 1.4 |
"""
SETTING = """| ROW_MAX | Runtime (s) |
|---|---|
| 1e4 | 2.6 |
| 2e4 | 2.8 |
| 3e4 | 3.1 |
"""
DIRECTIVE = """.. table:: Weak scaling on one system
   :align: center

   +-------+------------+
   | procs | solve time |
   +-------+------------+
   |   512 |   51.05    |
   +-------+------------+
   |  2048 |   53.35    |
   +-------+------------+
"""
HARDWARE = """| System | Nodes | Time | Speedup |
|---|---|---|---|
| Single GPU (V100) | 1 | 2.14s | 1.0x |
| 4 GPU Nodes | 4 | 1.23s | 1.74x |
| 16 GPU Nodes | 16 | 0.78s | 2.74x |
"""
RANGE = """Forward speedup vs 1 GPU:

| N | mode2 | mode4 |
|---|---|---|
| 1 | 0.33-0.35x | 2.08x |
| 8 | 1.86x | 3.10x |
"""
OF_ANOTHER_ROW = """| | 1 GPU | 2 GPUs | speedup |
|---|---|---|---|
| compute (resident) | 21.7 s | 11.3 s | 1.93x |
| throughput | 15.4 Mcells/s | 28.2 Mcells/s | - |
"""
HOURLY = """| GPUs | Throughput |
|---|---|
| 1 | 15.2/hr |
| 2 | 25.3/hr |
"""


def _devices(audit: Audit) -> list[int]:
    return [scale.row.gpus for scale in audit.table.scales]


def test_numbers_as_headers_beside_devices_are_sizes(tmp_path: Path) -> None:
    found = audited(tmp_path, SIZES)
    assert [(one.case, _devices(one)) for one in found] == [
        (size, [1, 2, 3]) for size in ("10000", "20000", "30000")
    ]
    assert {one.settled.rate for one in found} == {"time_s"}


def test_a_letter_behind_numbers_is_that_of_threads(tmp_path: Path) -> None:
    plain, _ = audited(tmp_path, LETTERS)
    assert _devices(plain) == [1, 2, 4, 6, 8]
    assert plain.source.column("threads") is None
    assert [one.header for one in plain.source.columns if one.role == "gpus"] == ["threads"]


@pytest.mark.parametrize(("text", "first"), [(EACH_STEP, 0.92e-3), (QUOTED, 2.66)])
def test_a_sentence_states_the_unit(tmp_path: Path, text: str, first: float) -> None:
    audit = audited(tmp_path, text)[0]
    times = [row.number(audit.settled.rate) for row in audit.source.rows]
    assert times[0] == pytest.approx(first)


def test_the_last_cell_of_each_row_has_the_unit(tmp_path: Path) -> None:
    get, put = audited(tmp_path, LAST_CELL)
    assert _devices(get) == _devices(put) == [1, 2, 4]
    assert quantity_of(get).header == "ops/s"


def test_about_signs_do_not_hide_the_share_of_the_time_that_is_saved(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, SAVED)
    assert audit.checked.speedups == 3
    assert not audit.remarks


def test_sizes_of_most_rows_are_labels(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, POINTS)
    assert _devices(audit) == [5, 10, 20]


@pytest.mark.parametrize(
    ("text", "lacks"), [(SETTING, "no column of devices"), (RANGE, "no column of a throughput")]
)
def test_tables_without_devices(tmp_path: Path, text: str, lacks: str) -> None:
    with pytest.raises(UserError, match=lacks):
        audited(tmp_path, text)


def test_the_caption_of_a_directive(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, DIRECTIVE, "t.rst")
    assert audit.source.scaling == "weak"


def test_numbers_of_devices_are_no_kind_of_hardware(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, HARDWARE)
    assert not audit.remarks


def test_a_ratio_of_another_row_is_named(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, OF_ANOTHER_ROW)
    assert any("speedup has no value for throughput" in note for note in audit.source.notes)


def test_a_rate_per_hour_keeps_its_unit(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, HOURLY)
    assert quantity_of(audit).header == "work/hr"


def test_speedups_of_other_runs_are_left_out(tmp_path: Path) -> None:
    text = """| N | 1 GPU | 2 GPUs | speedup before fix | speedup after fix |
|---|---|---|---|---|
| 64 | 20.0 s | 15.5 s | 0.80x | 1.29x |
| 128 | 24.5 s | 14.0 s | 0.93x | 1.75x |
| 256 | 394.0 s | 213.0 s | 0.95x | 1.95x |
"""
    audits = audited(tmp_path, text)
    assert [len(one.remarks) for one in audits] == [0, 0, 1]  # 394 / 213 is 1.85
    assert audits[0].source.unread == ("speedup before fix",)


def test_frames_per_second_keep_their_name(tmp_path: Path) -> None:
    (audit,) = audited(tmp_path, HOURLY.replace("/hr", " fps"))
    assert quantity_of(audit).header == "fps"
