"""Columns behind those of devices, ratios over something else, percentiles, and names in headers."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.reading import read_published
from test_printed_habits import audited, speedups, table


def test_one_name_behind_each_number_of_devices(tmp_path: Path) -> None:
    rows = ("weighted sum;123.0;45.7;67.5;14.6", "column sums;9.8;10.7;5.1;5.4")
    found = audited(
        tmp_path, table("scenario;1 thread before (ms);after (ms);8 threads before (ms);after (ms)", *rows)
    )
    assert sorted(speedups(one)[1] for one in found) == [(8, 1.82), (8, 1.92), (8, 1.98), (8, 3.13)]


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("Speedup over 1 node", "Speedup over GAPBS (median)"),
        ("Speed-up", "Speed-up vs 109.9 s"),
        ("Speedup", "Speedup vs PyTorch"),
    ],
)
def test_a_ratio_over_something_else_beside_that_over_fewer_devices(tmp_path: Path, own: str, other: str) -> None:
    rows = ("1;56;131.4;1.00×;0.19–0.20×", "2;112;70.1;1.87×;0.33–0.34×", "4;224;32.7;4.02×;0.92×")
    (found,) = audited(tmp_path, table(f"Nodes;PEs;Time (s);{own};{other}", *rows))
    assert found.checked.speedups == 3
    assert not [one for one in found.remarks if one.kind in ("speedup", "no base case")]
    assert other in found.source.unread


def test_ranges_of_ratios_are_above_one(tmp_path: Path) -> None:
    rows = ("1;1.71;1.00×;100%", "2;0.99;1.71–1.73×;85–87%", "4;0.58;2.93–2.97×;73–74%")
    (found,) = audited(tmp_path, table("Nodes;Time (s);Speedup over 1 node;Efficiency", *rows))
    assert (found.checked.speedups, found.checked.efficiencies) == (3, 3)


@pytest.mark.parametrize(
    "text",
    [
        table("Percentile;Latency", "P50;42 ns", "P90;84 ns", "P99;90 ns"),
        table("Platform;CPU total (s);GPU total (s)", "small;10.0;6", "large;4068;79"),
    ],
)
def test_what_is_no_number_of_devices(tmp_path: Path, text: str) -> None:
    (tmp_path / "table.md").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="no column of devices"):
        read_published(tmp_path / "table.md")


def test_a_batch_in_letters_is_not_read(tmp_path: Path) -> None:
    rows = ("Effective batch size;B;2B;4B", "Time (s);100;52;27")
    (found,) = audited(tmp_path, table("Metric;1 GPU;2 GPUs;4 GPUs", *rows))
    assert "Effective batch size" in found.source.unread
    assert speedups(found) == [(1, 1.0), (2, 1.92), (4, 3.7)]


def test_programs_in_headers_of_devices_are_named(tmp_path: Path) -> None:
    text = table("Metric;Nproxy (1 worker);Nginx (16 workers)", "Requests/sec;106,669;566,999")
    (found,) = audited(tmp_path, text)
    assert [one.kind for one in found.remarks] == ["confounded"]
    text = table("Metric;1 worker;16 workers (warm)", "Requests/sec;106,669;566,999")
    assert not audited(tmp_path, text)[0].remarks


def test_all_times_of_constant_work_per_rank_are_of_growing_work(tmp_path: Path) -> None:
    rows = [
        *("2;1 MiB;0.0826;0.5473", "2;16 MiB;0.4068;0.8919"),
        *("4;1 MiB;0.0877;0.6830", "4;16 MiB;0.2430;1.0479"),
        *("8;1 MiB;0.0526;1.0009", "8;16 MiB;0.1794;1.3688"),
    ]
    found = audited(tmp_path, table("Ranks;Input/rank;Native (ms);Deterministic (ms)", *rows))
    assert {one.scaling for one in found} == {"weak"}
    assert sorted(speedups(one)[1] for one in found) == [(4, 1.6), (4, 1.7), (4, 1.88), (4, 3.35)]


BOTH = "From the report, format: Time (s) / Peak Memory (GB).\n\n"


def test_two_numbers_in_each_cell_as_a_sentence_says(tmp_path: Path) -> None:
    rows = ("T2V;534.7/22.9;231.3/22.6;157.2/22.6", "I2V;524.8/22.8;227.3/22.6;160.1/22.6")
    found = audited(tmp_path, BOTH + table("Model;1 GPU;4 GPUs;8 GPUs", *rows))
    assert [speedups(one) for one in found] == [
        [(1, 1.0), (4, 2.31), (8, 3.4)],
        [(1, 1.0), (4, 2.31), (8, 3.28)],
    ]
    assert "the second number of each cell, Peak Memory (GB), is not read" in found[0].source.notes
    two = BOTH.replace("Peak Memory (GB)", "Throughput (img/s)")
    with pytest.raises(UserError):
        audited(tmp_path, two + table("Model;1 GPU;4 GPUs;8 GPUs", *rows))


def test_models_of_other_sizes_are_no_series(tmp_path: Path) -> None:
    rows = ("7 B;Llama 2;2;100", "7 B;Llama 2;4;190", "13 B;Llama 2;8;140")
    (found,) = audited(tmp_path, table("Size;Model;GPUs;tokens/s", *rows))
    assert speedups(found) == [(2, 1.0), (4, 1.9)]


def test_another_number_in_brackets_is_named_as_not_read(tmp_path: Path) -> None:
    rows = ("256;0.115 (0.334);0.101 (0.140)", "512;0.97 (1.99);0.81 (0.98)")
    text = "Seconds per step, and in brackets those of the code before:\n\n"
    found = audited(tmp_path, text + table("grid;1 x A100;4 x A100", *rows))
    assert any(note.startswith("what is in brackets behind numbers") for note in found[0].source.notes)
    (found,) = audited(tmp_path, table("Threads;Time", "1;9:25 (565 s)", "2;5:00 (300 s)"))
    assert not found.source.notes
