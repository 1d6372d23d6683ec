"""Numbers relative to another system, and gains below the name of a rate, are no speedups of scaling."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.reading import read_published
from test_more_printed_habits import kinds
from test_printed_habits import audited, speedups, table


def refused(tmp_path: Path, text: str) -> str:
    path = tmp_path / "table.md"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as error:
        read_published(path)
    return str(error.value)


@pytest.mark.parametrize(
    "header", ["Speedup vs TorchServe", "Speedup over Spark", "Throughput edge (A vs B)", "Throughput vs Ray"]
)
def test_numbers_relative_to_another_system_are_refused(tmp_path: Path, header: str) -> None:
    text = refused(tmp_path, table(f"Nodes;{header}", "2;1.79x", "8;2.39x"))
    assert f"'{header}' is relative to another system, not to fewer devices; add a column of" in text


@pytest.mark.parametrize(
    "header",
    [
        *("Speedup vs 1 GPU", "Speedup vs single GPU", "Speedup over serial", "Speedup vs baseline"),
        *("Speedup (vs. 4 GPU)", "Speedup vs. sequential", "Speedup over one node", "Speedup vs the smallest run"),
    ],
)
def test_speedups_over_fewer_devices_are_read(tmp_path: Path, header: str) -> None:
    (found,) = audited(tmp_path, table(f"GPUs;{header}", "1;1.0x", "2;1.9x", "4;3.5x"))
    assert speedups(found) == [(1, 1.0), (2, 1.9), (4, 3.5)]


def test_percents_below_speed_are_no_rates(tmp_path: Path) -> None:
    rows = ["2 threads;0.060s;-;70%", "8 threads;0.040s;33% faster;90%"]
    (found,) = audited(tmp_path, table("Configuration;Time;Speed;CPU", *rows))
    assert (speedups(found), kinds([found])) == ([(2, 1.0), (8, 1.5)], [])


def test_a_rate_in_percent_of_that_of_one_device_is_a_ratio(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;Time (s);Throughput", "1;10;100 %", "2;5.0;200 %", "4;2.5;400 %"))
    assert (speedups(found), found.checked.speedups) == ([(1, 1.0), (2, 2.0), (4, 4.0)], 3)


def test_a_rate_on_one_scale_does_not_replace_a_time(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;Time (s);img/s", "1;10;-", "2;5.0;27", "4;2.5;-"))
    assert speedups(found) == [(1, 1.0), (2, 2.0), (4, 4.0)]


def test_speedups_over_a_row_of_as_many_devices_are_no_scaling(tmp_path: Path) -> None:
    rows = ["A;1;9.0s/it;1x", "B;1;8.0s/it;1.1x", "C;1;5.0s/it;1.8x", "A;8;3.0s/it;1x", "B;8;2.4s/it;1.2x"]
    found = audited(tmp_path, table("Framework;GPUs;Step Time;Speedup", *rows, "C;8;0.8s/it;3.8x"))
    assert [speedups(one)[-1] for one in found] == [(8, 3.0), (8, 3.33), (8, 6.25)]
    assert kinds(found) == []
    assert any("not with fewer devices" in note for note in found[0].source.notes)


def test_speedups_of_two_frameworks_over_one_device_are_checked(tmp_path: Path) -> None:
    rows = ["A;1;9.0 s;1x", "A;8;3.0 s;3x", "B;1;8.0 s;1x", "B;8;2.0 s;8x"]
    found = audited(tmp_path, table("Framework;GPUs;Step Time;Speedup", *rows))
    assert [(remark.kind, remark.gpus) for one in found for remark in one.remarks] == [("speedup", 8)]


def test_throughput_over_time_is_a_throughput(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;Throughput over the epoch (img/s)", "1;100", "2;190", "4;350"))
    assert speedups(found) == [(1, 1.0), (2, 1.9), (4, 3.5)]


@pytest.mark.parametrize("header", ["sim/wallclock time", "Simulated time / run time", "iRTF", "inverse RTF"])
def test_a_rate_over_a_time_is_no_time(tmp_path: Path, header: str) -> None:
    (found,) = audited(tmp_path, table(f"MPI tasks;{header}", "80;30x", "160;51x"))
    assert speedups(found) == [(80, 1.0), (160, 1.7)]


def test_a_relative_throughput_is_that_of_the_speedup_beside_it(tmp_path: Path) -> None:
    rows = ["Single;1;1.00x;baseline", "DDP;4;3.70x;3.70x", "ZeRO-2;4;3.50x;3.90x"]
    found = audited(tmp_path, table("Method;GPUs;Throughput;Speedup", *rows))
    assert [(remark.kind, remark.gpus) for one in found for remark in one.remarks] == [("speedup", 4)]


def test_a_gain_of_one_column_over_another_is_no_speedup_of_scaling(tmp_path: Path) -> None:
    rows = ["1;4100;2000;105%", "4;12000;5000;140%", "8;22000;9000;144%"]
    found = audited(tmp_path, table("GPUs;Ours tokens/s;Torch tokens/s;Speedup", *rows))
    assert [speedups(one)[-1] for one in found] == [(8, 5.37), (8, 4.5)]
    assert [one.checked.speedups for one in found] == [0, 0]
    assert kinds(found) == []
