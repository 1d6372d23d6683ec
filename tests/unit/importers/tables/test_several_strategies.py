"""Tables of trainings with several strategies beside several numbers of devices."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.reading import read_published
from test_more_printed_habits import kinds
from test_printed_habits import ONCE, audited, speedups, table


def test_the_time_of_kernels_is_no_time_of_a_step_beside_one(tmp_path: Path) -> None:
    """DataParallel halves the time of the kernels, and its epoch becomes longer."""
    rows = ("DP;1;30.0;96.0", "DP;2;33.3;52.0", "DDP;1;30.0;96.0", "DDP;2;16.0;51.0")
    found = audited(tmp_path, table("Mode;GPU;epoch [s];kernel ms/it (per GPU)", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 0.9)], [(1, 1.0), (2, 1.88)]]
    assert kinds(found) == ["negative scaling"]


@pytest.mark.parametrize("header", ["epoch [s]", "Epoch (min)", "epoch (seconds)"])
def test_an_epoch_with_a_unit_is_its_time(tmp_path: Path, header: str) -> None:
    (found,) = audited(tmp_path, table(f"GPUs;{header}", "1;100", "2;52.6", "4;28.57"))
    assert speedups(found) == ONCE


def test_a_ratio_of_two_columns_below_a_caption_is_no_throughput(tmp_path: Path) -> None:
    rows = ("1;12.5;12.5;100%", "2;24.8;24.6;99.2%", "4;49.2;48.5;98.6%")
    found = audited(tmp_path, "**Throughput** (samples/sec):\n\n" + table("DP;DDP;DistOpt;compared", *rows))
    assert [speedups(one)[-1] for one in found] == [(4, 3.94), (4, 3.88)]


def test_nodes_times_devices_across(tmp_path: Path) -> None:
    header = "model \\ num_node * num_gpus;1*1;1*8;4*8"
    rows = ("large;40.0;240.0;800.0", "large with zero3;4.0;OOM;96.0")
    found = audited(tmp_path, "Number of samples trained per second\n\n" + table(header, *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (8, 6.0), (32, 20.0)], [(1, 1.0), (32, 24.0)]]


def test_products_across_that_are_as_many_devices_are_not_read_as_one(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("time (s), nodes x GPUs;1x1;1x4;2x2", "large;100;28.57;30"))
    with pytest.raises(UserError, match="no column of devices"):
        read_published(path)


def test_a_batch_is_not_offered_as_the_number_of_devices(tmp_path: Path) -> None:
    rows = ("native;32;200 ms/step", "native;64;380 ms/step", "mirrored;64;246 ms/step")
    path = tmp_path / "table.md"
    path.write_text(table("approach;batch size;mean time", *rows))
    with pytest.raises(UserError, match="add a column with the number of devices of each row") as error:
        read_published(path)
    assert "batch size=gpus" not in str(error.value)


BLOCK = "## On {} GPUs\n\n{}\n"


def of_one_size(gpus: int, header: str, *rows: str) -> str:
    return BLOCK.format(gpus, table(header, *(row.format(gpus) for row in rows)))


def test_tables_of_one_number_of_devices_each_are_one(tmp_path: Path) -> None:
    """The second has a column that the first does not have, and a note says which rows are of the first."""
    single = of_one_size(1, "Model;Accuracy;GPUs;Time", "small;0.7;{};100 min", "large;0.8;{};200 min")
    four = of_one_size(4, "Model;GPUs;Time;Speedup", "small;{};28.57 min;3.50x", "large;{};80 min;3.00x")
    found = audited(tmp_path, single + four)
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 3.5)], [(1, 1.0), (4, 2.5)]]
    assert kinds(found) == ["speedup"]
    assert found[0].source.notes == (
        "lines 5 to 6 are of tables with other numbers of devices, which this one continues",
    )


def test_tables_in_one_line_of_html_stay_as_many(tmp_path: Path) -> None:
    head = "<table><tr><th>Model</th><th>GPUs</th><th>Time</th></tr>"
    row = "<tr><td>{}</td><td>{}</td><td>{} s</td></tr>"
    one, four = (
        head + row.format("small", gpus, small) + row.format("large", gpus, large) + "</table>"
        for gpus, small, large in ((1, 100, 200), (4, 25, 80))
    )
    other = (
        head + "".join(row.format("other", gpus, time_s) for gpus, time_s in ((1, 100), (2, 52.6))) + "</table>"
    )
    found = audited(tmp_path, one + four + other + "\n")
    assert [speedups(each)[-1] for each in found] == [(4, 4.0), (4, 2.5), (2, 1.9)]


def test_two_settings_on_as_many_devices_are_joined_with_one_device_one_by_one(tmp_path: Path) -> None:
    header, rows = "Model;GPUs;Time", ("small;{};100 s", "large;{};200 s")
    text = of_one_size(1, header, *rows) + "".join(
        of_one_size(4, header, f"small;{{}};{small} s", f"large;{{}};{large} s")
        for small, large in ((25, 50), (40, 80))
    )
    assert [speedups(one)[-1][1] for one in audited(tmp_path, text)] == [4.0, 4.0, 2.5, 2.5]


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("Model;GPUs;Time", ("small;{};25 s", "other;{};50 s")),
        ("Model;GPUs;Throughput", ("small;{};25", "large;{};50")),
    ],
    ids=["other-rows", "another-measurement"],
)
def test_tables_of_other_rows_or_measurements_are_not_joined(
    tmp_path: Path, header: str, rows: tuple[str, str]
) -> None:
    path = tmp_path / "table.md"
    path.write_text(
        of_one_size(1, "Model;GPUs;Time", "small;{};100 s", "large;{};200 s") + of_one_size(4, header, *rows)
    )
    with pytest.raises(UserError, match="only one number of devices"):
        read_published(path)


@pytest.mark.parametrize(
    ("sizes", "cells"),
    [
        ("1 / 2 / 4 GPUs", "100 / 52.6 / 28.57"),
        ("1/2/4 GPU", "100/52.6/28.57"),
        ("(1 | 2 | 4 ranks)", "100 | 52.6 | 28.57"),
    ],
)
def test_a_cell_with_a_time_for_each_number_of_devices_of_its_header(
    tmp_path: Path, sizes: str, cells: str
) -> None:
    text = table(f"Mode;busy [%] {sizes};epoch time [s] {sizes}", f"DDP;90 / 80 / 70;{cells}")
    (found,) = audited(
        tmp_path, text.replace(" | 2 | 4 r", " \\| 2 \\| 4 r").replace("0 | 52.6 | 28", "0 \\| 52.6 \\| 28")
    )
    assert speedups(found) == ONCE


def test_a_cell_without_a_number_for_each_is_not_taken_apart(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("Mode;epoch time [s] 1 / 2 / 4 GPUs", "DP;30.4 / 32.2", "DDP;32.6 / 17.7"))
    with pytest.raises(UserError, match="no column of devices"):
        read_published(path)


def test_the_run_on_one_device_is_the_baseline_of_each_degree(tmp_path: Path) -> None:
    rows = ("Single GPU;1;1;218.0", "Two GPUs, DP;1;2;366.2", "Two GPUs, TP;2;1;219.1")
    found = audited(tmp_path, table("Mode;TP;DP;samples/s", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.68)], [(1, 1.0), (2, 1.01)]]


@pytest.mark.parametrize("name", ["Single Device", "one device", "1 device", "One GPU"])
def test_one_device_is_a_run_without_a_strategy(tmp_path: Path, name: str) -> None:
    rows = (f"{name};1;100", "Data Parallel;2;190", "Data Parallel;4;350")
    (found,) = audited(tmp_path, table("Strategy;Devices;samples/s", *rows))
    assert (speedups(found), kinds([found])) == (ONCE, [])


def test_a_header_of_one_device_is_named_before_a_column_of_numbers_is(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("width;1 GPU;DDP;FSDP", "1024;55783;44039;35755", "2048;18429;12579;9764"))
    with pytest.raises(UserError, match="only '1 GPU' names a number of devices"):
        read_published(path)


def test_the_size_of_data_parallelism_follows_from_the_devices(tmp_path: Path) -> None:
    """DP grows with the nodes if the other degrees are constant, and SP beside them is no speedup S_p."""
    rows = ("2;16;1;5,703", "2;8;2;5,528", "4;32;1;7,913", "4;16;2;7,769", "8;64;1;12,473")
    found = audited(tmp_path, table("Nodes;DP;SP;TPS", *rows))
    assert [speedups(one) for one in found] == [[(2, 1.0), (4, 1.39), (8, 2.19)], [(2, 1.0), (4, 1.41)]]


def test_degrees_that_do_not_multiply_to_the_devices_are_labels(tmp_path: Path) -> None:
    rows = ("2;1;2;100", "4;1;2;180", "2;1;4;90", "4;1;4;170")
    found = audited(tmp_path, table("Nodes;TP;DP;TPS", *rows))
    assert [speedups(one)[-1] for one in found] == [(4, 1.8), (4, 1.89)]


def test_a_strategy_with_a_setting_behind_the_devices_is_no_hardware(tmp_path: Path) -> None:
    rows = (
        "small;1 GPU;100",
        ";2 GPUs, DDP;170",
        ";2 GPUs, DDP + `no_sync()`;190",
        "large;1 GPU;10",
        ";2 GPUs, DDP;18",
    )
    found = audited(tmp_path, table("Model;Setup;Tokens per second", *rows))
    assert [speedups(one)[-1][1] for one in found] == [1.7, 1.9, 1.8]


@pytest.mark.parametrize("place", ["", "2-node, "])
def test_comments_on_one_number_of_devices_share_the_rows_without_one(tmp_path: Path, place: str) -> None:
    rows = ("1;100;1.00x", "2;90;0.45x", f"4 ({place}sockets);40;0.10x", f"4 ({place}RDMA);160;0.40x")
    found = audited(tmp_path, table("GPUs;DDP throughput;DDP scaling eff.", *rows))
    assert [speedups(one)[1:] for one in found] == [[(2, 0.9), (4, 0.4)], [(2, 0.9), (4, 1.6)]]


def test_a_comma_in_brackets_does_not_split_a_header(tmp_path: Path) -> None:
    rows = (
        "1;485 ms / 67.6k tok/s;442 ms / 74.1k",
        "4;753 ms / 174.2k;680 ms / 192.8k",
        "8;528 ms / 248.4k;520 ms / 251.9k",
    )
    found = audited(tmp_path, table("GPUs;Megatron (fused, bf16);other", *rows))
    assert [speedups(one)[-1] for one in found] == [(8, 3.67), (8, 3.4)]


def test_printed_ratios_of_the_baseline_s_strategy_are_checked_beside_another_strategy(tmp_path: Path) -> None:
    rows = ("1;DDP;100;100%", "2;DDP;190;95%", "4;DDP;350;97%", "8;FSDP;600;75%")
    (found,) = audited(tmp_path, table("GPUs;Strategy;img/s;Efficiency", *rows))
    assert [(remark.kind, remark.gpus) for remark in found.remarks] == [("efficiency", 4), ("confounded", None)]


def test_a_speedup_is_that_of_the_measurement_whose_words_it_has(tmp_path: Path) -> None:
    rows = ("1;100 s;1.0;110 s;1.0", "2;52.6 s;1.9;60 s;1.83", "4;28.57 s;3.5;33 s;2.5")
    found = audited(tmp_path, table("GPUs;DDP epoch time;DDP speedup;FSDP epoch time;FSDP speedup", *rows))
    assert [one.checked.speedups for one in found] == [3, 3]
    assert [(remark.kind, remark.gpus) for one in found for remark in one.remarks] == [("speedup", 4)]


def test_an_efficiency_behind_devices_across_shows_what_the_numbers_are(tmp_path: Path) -> None:
    rows = ("DDP;fp32;100;380;740;92.5%", "DDP;bf16;220;800;1500;85.2%", "FSDP;bf16;-;760;1450;-")
    found = audited(tmp_path, table("Strategy;Precision;1 GPU;4 GPUs;8 GPUs;Scaling (8)", *rows))
    assert [speedups(one)[-1] for one in found] == [(8, 7.4), (8, 6.82), (8, 1.91)]
    assert (kinds(found), [one.checked.efficiencies for one in found]) == ([], [1, 1, 0])
    path = tmp_path / "of_each.md"
    path.write_text(table("PP;1 GPU;2 GPUs;Efficiency", "1;63.8;51.2;80.3%", "2;64.8;57.1;88.1%"))
    with pytest.raises(UserError, match="what are the numbers below the devices"):
        read_published(path)


@pytest.mark.parametrize("unit", ["images/s", "step time (ms)"])
def test_a_ratio_behind_each_strategy_is_its_own(unit: str, tmp_path: Path) -> None:
    header = f"GPUs;DDP {unit};Speedup;Efficiency;DDP+AMP {unit};Speedup;Efficiency;FSDP {unit};Speedup;Efficiency"
    rates = ((50, 80, 40), (95, 152, 76), (175, 240, 140))
    rows = []
    for gpus, own in zip((1, 2, 4), rates, strict=True):
        cells = [str(gpus)]
        for rate, first in zip(own, rates[0], strict=True):
            number = rate if unit == "images/s" else round(20000 / rate, 2)
            cells += [str(number), f"{rate / first:.2f}x", f"{100 * rate / first / gpus:.1f}%"]
        rows.append(";".join(cells))
    found = audited(tmp_path, table(header, *rows))
    assert [speedups(one) for one in found] == [ONCE, [(1, 1.0), (2, 1.9), (4, 3.0)], ONCE]
    assert [one.checked.speedups + one.checked.efficiencies for one in found] == [6, 6, 6]
    assert kinds(found) == []


def test_one_device_with_an_addition_is_the_baseline_of_a_strategy_with_it(tmp_path: Path) -> None:
    header = "Metric;1 GPU;1 GPU + AMP;DDP (4 GPUs);DDP + AMP (4 GPUs);FSDP (4 GPUs)"
    found = audited(tmp_path, table(header, "Throughput (img/s);50;80;175;240;140"))
    assert [speedups(one)[-1] for one in found] == [(4, 3.5), (4, 3.0), (4, 2.8)]
    assert kinds(found) == []


def test_an_addition_without_a_baseline_of_its_own_has_that_of_all(tmp_path: Path) -> None:
    rows = ("Baseline;1;50", "DDP;4;175", "DDP+AMP;4;190")
    found = audited(tmp_path, table("Strategy;GPUs;img/s", *rows))
    assert [speedups(one)[-1] for one in found] == [(4, 3.5), (4, 3.8)]


@pytest.mark.parametrize(
    "ratios", [("1.0", "1.3", "1.0", "1.37"), ("1.0", "1.3", "1.9", "2.6"), ("-", "1.3", "-", "1.37")]
)
def test_ratios_with_one_header_that_are_not_1_on_the_fewest_devices_are_not_read(
    ratios: tuple[str, ...], tmp_path: Path
) -> None:
    """They are relative to another column."""
    first, second, third, fourth = ratios
    rows = (f"1;100;{first};130;{second}", f"2;190;{third};260;{fourth}")
    found = audited(tmp_path, table("GPUs;Heron (img/s);Speedup;Ours (img/s);Speedup", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.9)], [(1, 1.0), (2, 2.0)]]
    assert (kinds(found), found[0].source.unread) == ([], ("Speedup", "Speedup"))
