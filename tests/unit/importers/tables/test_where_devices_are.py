"""Words that say where the devices are, cells beyond the headers, and ratios in brackets: no table is misread."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import audit_file
from scalestudy.errors import UserError
from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.reading import read_published
from test_more_printed_habits import kinds
from test_printed_habits import ONCE, audited, speedups, table


@pytest.mark.parametrize("joint", ["across", "on", "over", "spread over"])
def test_nodes_behind_the_devices_are_no_hardware(joint: str, tmp_path: Path) -> None:
    rows = (f"1 GPU {joint} 1 node;50", f"2 GPUs {joint} 1 node;95", f"4 GPUs {joint} 2 nodes;175")
    (found,) = audited(tmp_path, table("Setup;Throughput (tokens/s)", *rows))
    assert (speedups(found), kinds([found])) == (ONCE, [])


def test_single_and_multi_are_no_strategies(tmp_path: Path) -> None:
    blocks = (
        "Single GPU:\n  Average time: 70 s\n  Speedup: 1.0x\n\n"
        "Multi-GPU (2 GPUs, 1 node):\n  Average time: 36.84 s\n  Speedup: 1.9x\n\n"
        "Multi-Node (4 GPUs, 2 nodes):\n  Average time: 20 s\n  Speedup: 3.5x\n"
    )
    (found,) = audited(tmp_path, blocks)
    assert (speedups(found), kinds([found])) == (ONCE, [])


def test_machines_and_their_devices_are_no_hardware(tmp_path: Path) -> None:
    text = "".join(f"{n:3d} GPUs -- {where}: {rate} img/s\n" for n, where, rate in PLACED)
    (found,) = audited(tmp_path, text)
    assert (speedups(found), kinds([found])) == (ONCE, [])


PLACED = ((1, "1M/1G", 50), (2, "1M/2G", 95), (4, "2M/2G", 175))


def test_nodes_in_words_with_devices_each(tmp_path: Path) -> None:
    rows = (
        "One node with 2 GPUs each: 50 samples/s on each machine = 50 samples/s",
        "Two nodes with 2 GPUs each: 47.5 samples/s on each machine = 95 samples/s",
        "Four nodes with 2 GPUs each: 43.75 samples/s on each machine = 175 samples/s",
    )
    (found,) = audited(tmp_path, "\n".join(rows) + "\n")
    assert speedups(found) == [(2, 1.0), (4, 1.9), (8, 3.5)]


def test_a_rate_that_never_grows_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("GPUs;img/s", "1;200", "2;190", "4;170", "6;90", "8;150", "16;9"))
    found, (asked,) = audit_file(read_published(path), "table")
    assert (found, asked.question.kind) == ([], "throughput")


def test_more_cells_than_headers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("GPUs;MFU;Batch;Throughput (img/s)", "1;41;3e14;8;50", "2;40;3e14;16;95"))
    with pytest.raises(UserError, match="5 cells below 4 headers"):
        read_published(path)


@pytest.mark.parametrize("cell", ["{} ({:.2f})", "{}({:.2f})", "{} ({:.2f}x)"])
@pytest.mark.parametrize("head", ["images/sec({}gpu)", "{} GPUs", "images/s ({} GPUs)"])
def test_ratios_in_brackets_below_devices_across(cell: str, head: str, tmp_path: Path) -> None:
    header = ";".join(("model", *(head.format(n) for n in (1, 2, 4))))
    rows = [
        ";".join((name, str(one), cell.format(two, two / one), cell.format(four, four / one)))
        for name, one, two, four in (("a", 50, 95, 175), ("b", 40, 76, 140), ("c", 80, 152, 280))
    ]
    found = audited(tmp_path, "Throughput in images/s\n\n" + table(header, *rows))
    assert [speedups(one) for one in found] == [ONCE] * 3
    assert kinds(found) == []
    assert [one.checked.speedups for one in found] == [2] * 3


def test_a_wrong_ratio_in_brackets_is_reported(tmp_path: Path) -> None:
    rows = ("a;50;95(1.90);175(3.20)", "b;40;76(1.90);140(3.50)", "c;80;152(1.90);280(3.50)")
    found = audited(tmp_path, table("model;images/sec(1gpu);images/sec(2gpu);images/sec(4gpu)", *rows))
    assert kinds(found) == ["speedup"]


def test_models_with_devices_of_their_own_are_apart(tmp_path: Path) -> None:
    rows = ("big;16;100", "big;32;190", "small;8;400")
    (found,) = audited(tmp_path, table("Model;GPUs;tokens/s", *rows))
    assert (speedups(found), kinds([found])) == ([(16, 1.0), (32, 1.9)], [])


def test_processors_of_a_list(tmp_path: Path) -> None:
    (found,) = audited(
        tmp_path, "num_cpu:1 Time taken 70.0\nnum_cpu:2 Time taken 36.84\nnum_CPU:4 Time taken 20.0\n"
    )
    assert speedups(found) == ONCE


def test_nodes_by_devices_in_headers_with_an_accuracy(tmp_path: Path) -> None:
    head = "Model;8 GPU training time / Accuracy;2x8 GPU training time / Accuracy;Speedup"
    (found,) = audited(tmp_path, table(head, "a;38h/71.20%;20h/70.90%;**1.9**"))
    assert (speedups(found), kinds([found])) == ([(8, 1.0), (16, 1.9)], [])


def test_a_run_without_a_comment_on_the_fewest_devices_is_the_baseline_of_all(tmp_path: Path) -> None:
    rows = ("1;70;1.0", "2 (same node);36.84;2.9", "4 (same node);20;3.5", "4 (2 nodes, 2 per node);28;2.5")
    found = audited(tmp_path, table("Processes;Time (s);Speedup", *rows))
    assert [(kinds([one]), [scale.row.gpus for scale in one.table.scales]) for one in found] == [
        ([], [1, 4]),
        (["speedup"], [1, 2, 4]),
    ]


def test_one_efficiency_on_the_fewest_of_several_devices_is_not_held_against_itself(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;img/s;Efficiency", "16;9000;83%", "32;17000;"))
    assert kinds([found]) == []


def test_devices_and_processes_of_each_node(tmp_path: Path) -> None:
    rows = ("1 V100 x1 x 1 node;50", "1 V100 x1 x 2 node;95", "2 V100 x 2 nodes;175")
    (found,) = audited(tmp_path, table("GPUs and nodes;Throughput (img/s)", *rows))
    assert speedups(found) == ONCE
    path = tmp_path / "other.md"
    path.write_text(table("GPUs and nodes;Throughput (img/s)", *rows, "2 V100 x4 x 4 node;300"))
    (read,) = read_published(path).tables
    assert [row.gpus for row in read.rows] == [1, 2, 4], "2 devices or 4 of each node?"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("- before the change: 80 img/s\n{}", 1),
        ("{}- the same with the old loader: 150 img/s\n", 4),
        ("{}- the same with the old loader: 6 hours\n", None),
        ("A run took 80 img/s.\n\n{}", None),
    ],
)
def test_a_line_of_a_list_that_is_no_row_is_named(text: str, line: int | None, tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text(
        text.format("".join(f"- {n} GPUs: {rate} img/s\n" for n, rate in ((1, 50), (2, 95), (4, 175))))
    )
    (found,) = read_published(path).tables
    assert [row.gpus for row in found.rows] == [1, 2, 4]
    expected = [] if line is None else [f"line {line} has a measurement too, but it was not read as a row"]
    assert [note for note in found.notes if "measurement too" in note] == expected


def test_a_list_in_two_spellings_of_a_unit_is_one(tmp_path: Path) -> None:
    lines = (
        "1x1 GPU: 50 img/sec",
        "1x2 GPU: 95 img/sec (the new loader seems 1-2% faster)",
        "2x2 GPU: ~175 imgs/sec.",
    )
    (found,) = audited(tmp_path, "\n".join(lines) + "\n")
    assert (speedups(found), kinds([found])) == (ONCE, [])


@pytest.mark.parametrize(
    "rows",
    [
        ("1 V100;365", "4 V100s (one node);1390", "16 V100s (4 nodes);5210"),
        ("8 A100s (1 node);2300", "32 A100s (four nodes);8800"),
    ],
)
def test_the_nodes_behind_devices_are_no_hardware(tmp_path: Path, rows: tuple[str, ...]) -> None:
    (found,) = audited(tmp_path, table("Setup;img/s", *rows))
    assert kinds([found]) == []
    assert found.table.scales[-1].row.number("nodes") == 4


def test_devices_that_the_nodes_behind_them_do_not_divide_keep_their_number(tmp_path: Path) -> None:
    assert read_count("15 GPUs (2 nodes)").gpus == 15 and read_count("15 GPUs (2 nodes)").nodes is None
    assert read_count("8 GPUs (0 nodes)").gpus == 8


def test_columns_of_models_with_rows_of_devices_and_their_ratio(tmp_path: Path) -> None:
    rows = ("1 GPU (img/s);210;130", "16 GPUs (img/s);3100;1500", "Scaling efficiency;92%;80%")
    found = audited(tmp_path, table(";Net A;Net B", *rows))
    assert [one.checked.efficiencies for one in found] == [1, 1]
    assert kinds(found) == ["efficiency"]  # 1500 / 130 / 16 is 72 %


@pytest.mark.parametrize("header", ["Rel. to 8 GPUs", "Relative to 8 GPUs", "vs. 8 GPUs", "x over 8 GPUs"])
def test_a_ratio_to_a_number_of_devices_is_a_speedup(tmp_path: Path, header: str) -> None:
    (found,) = audited(tmp_path, table(f"GPUs;tok/s;{header}", "8;24100;1.00", "16;47000;1.95", "64;176000;7.3"))
    assert found.checked.speedups == 3 and kinds([found]) == []


def test_a_scaling_factor_is_a_ratio_and_that_of_a_learning_rate_is_none(tmp_path: Path) -> None:
    rows = ("small;372;2830;7.61", "large;141;1001;7.4")
    found = audited(tmp_path, table("Model;1 GPU (img/s);8 GPUs (img/s);Scaling factor", *rows))
    assert [kinds([one]) for one in found] == [[], ["speedup"]]
    assert meaning_of("LR scaling factor").role == "ignore"


def test_a_clock_of_hours_and_minutes_is_read_as_its_header_says(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;Wall-clock (hh:mm)", "1;24:10", "8;3:41"))
    assert [scale.row.number("whole_time_s") for scale in found.table.scales] == [87000, 13260]
