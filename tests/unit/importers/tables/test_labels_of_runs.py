"""Labels of runs that hold the devices, their kind and the strategy together: 2-CPU DDP, gpu2_tp."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.reading import read_published
from test_more_printed_habits import kinds
from test_printed_habits import audited, speedups, table


def test_processors_and_gpus_of_one_number_are_other_hardware(tmp_path: Path) -> None:
    rows = ("2-CPU DDP;3273 s", "4-CPU DDP;3056 s", "2-GPU DDP;2848 s", "4-GPU DDP;1500 s")
    found = audited(tmp_path, table("Configuration;Training Time", *rows))
    assert [speedups(one) for one in found] == [[(2, 1.0), (4, 1.07)], [(2, 1.0), (4, 1.9)]]
    assert kinds(found) == []


def test_processors_alone_are_no_hardware(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Configuration;Training Time", "2-CPU DDP;100 s", "4-CPU DDP;60 s"))
    assert (speedups(found), found.table.scales[0].row.label("hardware")) == ([(2, 1.0), (4, 1.67)], "")


def test_devices_and_a_strategy_that_an_underscore_joins(tmp_path: Path) -> None:
    rows = ("gpu1_ddp;1/1/1;3837", "gpu2_ddp;2/1/1;2029", "gpu4_ddp;4/1/1;7674")
    (found,) = audited(tmp_path, table("case;dp/tp/pp;tok/s", *rows))
    assert speedups(found) == [(1, 1.0), (2, 0.53), (4, 2.0)]
    assert found.table.scales[1].row.label("strategy") == "ddp"


def test_the_largest_and_the_smallest_memory_are_no_rate_per_minute(tmp_path: Path) -> None:
    rows = ("single;1;7436;12013 / 12013", "ddp;2;13671;14286 / 14286")
    path = tmp_path / "table.md"
    path.write_text(table("strategy;GPUs;tok/s;alloc max/min MiB", *rows))
    (read,) = read_published(path).tables
    assert "alloc max/min MiB" in read.unread


def test_memory_of_one_card_is_no_number_of_devices(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("策略;单卡显存 alloc;总吞吐", "single;12013 MiB;7409 tok/s", "ddp;14286 MiB;7750 tok/s"))
    with pytest.raises(UserError, match="add a column with the number of devices of each row"):
        read_published(path)


def test_degrees_of_two_kinds_with_one_size_are_two_strategies(tmp_path: Path) -> None:
    rows = ("single GPU;79 samples/s", "TP=2;64 samples/s", "DP=2;150 samples/s", "DP=4;290 samples/s")
    found = audited(tmp_path, table("setup;throughput", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 0.81)], [(1, 1.0), (2, 1.9), (4, 3.67)]]


def test_a_degree_beside_other_devices_than_all_has_a_baseline_of_its_own(tmp_path: Path) -> None:
    """DP is the number of devices here, and PP is 1 to 8 in the rows of DP 1 too."""
    rows = ("1;1;100", "2;1;104", "8;1;108", "1;2;160", "2;2;183", "8;2;205")
    found = audited(tmp_path, table("PP;GPUs;samples/s", *rows))
    assert [speedups(one)[-1] for one in found] == [(2, 1.6), (2, 1.76), (2, 1.9)]


def test_a_strategy_behind_the_hardware_is_none(tmp_path: Path) -> None:
    rows = (
        "1xA100, baseline;410 img/s",
        "2xA100, DDP;779 img/s",
        "2xA100, ZeRO-2;700 img/s",
        "4xA100, DDP;1435 img/s",
    )
    found = audited(tmp_path, table("Config;Throughput", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.9), (4, 3.5)], [(1, 1.0), (2, 1.71)]]


def test_strategies_with_their_devices_across(tmp_path: Path) -> None:
    text = table("metric;single;ddp-2;ddp-4;fsdp-2", "tokens/s;1000;1900;3500;1700", "step ms;100;105;111;118")
    found = audited(tmp_path, text)
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.9), (4, 3.5)], [(1, 1.0), (2, 1.7)]]
