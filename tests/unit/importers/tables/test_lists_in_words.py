"""Measurements in lines without a table: each line has its number of devices and a measurement among words."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import audit_file
from scalestudy.errors import UserError
from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.reading import read_published
from test_printed_habits import RATES, TIMES, audited, speedups

ONCE = [(1, 1.0), (2, 1.9), (4, 3.5)]
N = ("1", "2", "4")


@pytest.mark.parametrize(
    "form",
    [
        "{n} GPU(s) took {t} s",
        "- with {n} GPUs, {t} sec/epoch",
        "mpirun -np {n}: time={t}",
        "> -n {n} took {t} seconds",
        "[bench] threads={n} took {t}s",
        "2024-01-02 10:00:00 N = {n} -> {t} s",
        "{n}x A100 reached {r} img/s",
        "* {n} A100s; throughput {r} img/s",
        "`{n} GPU` ... throughput={r}",
        "world_size={n} gives throughput={r}",
        "Execution with {n} threads: {t}",
        "With batch size 8, {n} GPUs take about {t} minutes per epoch.",
        "nGPU = {n}\n  an epoch takes {t} s",
        "{n} GPUs: {t}s (±2)",
    ],
)
def test_words_between_devices_and_measurement(tmp_path: Path, form: str) -> None:
    lines = [form.format(n=n, r=r, t=t) for n, r, t in zip(N, RATES, TIMES, strict=True)]
    (found,) = audited(tmp_path, "\n".join(lines))
    assert speedups(found) == ONCE


def test_ratios_behind_the_measurement_are_checked(tmp_path: Path) -> None:
    text = "1 node got 100 s\n2 nodes got 52.6 s, speedup=1.9\n4 nodes got 28.57 s, speedup=3.1\n"
    (found,) = audited(tmp_path, text)
    assert found.checked.speedups == 2
    assert [remark.kind for remark in found.remarks] == ["speedup"]


def test_the_way_to_train_may_differ(tmp_path: Path) -> None:
    text = "single GPU took 100 s\nDDP (2 GPUs) took 52.6 s\nDDP (4 GPUs) took 28.57 s\n"
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE


@pytest.mark.parametrize(
    ("low", "high"),
    [("1 GPU: ~40-60 img/s", "2 GPUs: ~70-90 img/s"), ("1 GPU got 40-60 s", "2 GPUs got 30-32.5 s")],
)
def test_a_range_is_not_its_upper_end(tmp_path: Path, low: str, high: str) -> None:
    (found,) = audited(tmp_path, f"- {low}\n- {high}\n")
    assert speedups(found) == [(1, 1.0), (2, 1.6)]


@pytest.mark.parametrize(
    "text",
    [
        "np=1 3803.676 1.637s 99.9%\nnp=2 4672.951 3.148s 199.9%\nnp=4 6830.864 7.323s 399.9%\n",
        "We trained on 4 GPUs for 12 hours.\nLater it ran on 8 GPUs and the epoch was 3 hours long.\n",
    ],
    ids=["unnamed-numbers", "sentences"],
)
def test_other_lines_are_no_list(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.txt"
    path.write_text(text)
    with pytest.raises(UserError):
        read_published(path)


def test_the_first_measurement_is_no_header(tmp_path: Path) -> None:
    """Two columns with spaces between them have no header here."""
    text = "1 rank  100 s\n2 ranks  52.6 s\n4 ranks  28.57 s\n"
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE
    path = tmp_path / "table.csv"
    path.write_text("1 GPU, 410 img/s\n2 GPUs, 779 img/s\n4 GPUs, 1435 img/s\n")
    audits, asked = audit_file(read_published(path), "table")
    assert not asked
    assert [speedups(one) for one in audits] == [ONCE]


def test_a_clock_is_no_name_with_a_value(tmp_path: Path) -> None:
    text = "GPU Config   Wall time\n1x A100      1:40:00\n2x A100      0:52:36\n4x A100      0:28:34\n"
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE


def test_times_in_different_units_are_one_measurement(tmp_path: Path) -> None:
    text = "# - 1 worker: 10,000 pages = 3 hours\n# - 4 workers: 10,000 pages = 45 minutes\n"
    (found,) = audited(tmp_path, text)
    assert speedups(found) == [(1, 1.0), (4, 4.0)]


def test_a_list_of_times_below_one_of_speedups_is_another_list(tmp_path: Path) -> None:
    text = (
        "**Speedup:**\n- 2 cores: 1.9x faster\n- 4 cores: 3.4x faster\n\n"
        "**Times:**\n- 1 worker: 100 s\n- 2 workers: 50 s\n- 4 workers: 25 s\n"
    )
    first, second = audited(tmp_path, text)
    assert speedups(first) == [(2, 1.9), (4, 3.4)]
    assert speedups(second) == [(1, 1.0), (2, 2.0), (4, 4.0)]


def test_a_line_of_the_devices_may_have_a_value_of_their_block(tmp_path: Path) -> None:
    """The batch of the first line gives the step time a throughput, which the printed one contradicts."""
    first = "- {} nodes, 4 GPUs each, batch size per GPU = 8."
    blocks = [
        f"{first.format(nodes)}\n\n20 s of setup\ntime: 2.0 s/it\nspeed: {speed} samples/s"
        for nodes, speed in ((2, 32), (4, 84))
    ]
    (found,) = audited(tmp_path, "\n\n".join(blocks))
    assert speedups(found) == [(8, 1.0), (16, 2.62)]
    assert ("throughput against step time", 16) in [(remark.kind, remark.gpus) for remark in found.remarks]


def test_devices_with_a_comma_behind_them_are_items(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, "1x TITAN XP\uff0c100s/epoch ( small )\n2x TITAN XP\uff0c52.6s/epoch ( small )\n")
    assert speedups(found) == [(1, 1.0), (2, 1.9)]


def test_named_measurements_with_one_unit_at_their_end_are_several_series(tmp_path: Path) -> None:
    text = "8 GPUs: forward 70.0, backward 80.0 ms\n16 GPUs: forward 40.0, backward 50.0 ms\n"
    assert [speedups(one) for one in audited(tmp_path, text)] == [[(8, 1.0), (16, 1.75)], [(8, 1.0), (16, 1.6)]]


@pytest.mark.parametrize(
    "text",
    [
        "np=1   elapsed 1m40s\nnp=2   elapsed   52.6s\nnp=4   elapsed   28.57s\n",
        "np=1, time 3m20s\nnp=2, time 1m45.2s\nnp=4, time 57.14s\n",
        "p=1  run time 1h40m\np=2  run time 52.6 min\np=4  run time 28.57 min\n",
    ],
)
def test_minutes_and_seconds_are_no_kind_of_device(tmp_path: Path, text: str) -> None:
    """The second part of 1m40s is written as the name of a GPU, M40, in the plural."""
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE


@pytest.mark.parametrize("label", ["4 M40s", "4x M40", "4xM40s", "4 x h20"])
def test_kinds_of_devices_that_look_like_parts_of_durations(label: str) -> None:
    assert read_count(label).gpus == 4


@pytest.mark.parametrize("text", ["37m05s", "1m40s", "1h40m"])
def test_durations_are_no_number_of_devices(text: str) -> None:
    with pytest.raises(ValueError, match="is not a number of devices"):
        read_count(text)
