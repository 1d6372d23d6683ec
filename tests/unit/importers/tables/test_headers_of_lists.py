"""Lists with a header, blocks below a sentence, dictionaries of programs, processes with a letter: own numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import audit_file
from scalestudy.errors import UserError
from scalestudy.importers.reading import read_published
from test_more_printed_habits import kinds
from test_printed_habits import ONCE, audited, speedups, table


@pytest.mark.parametrize("letter", ["P", "p", "T"])
def test_a_letter_behind_the_processes_and_the_best_of_their_speedups(letter: str, tmp_path: Path) -> None:
    """The best is that of the shortest time, relative to the serial run; the file has none that contradicts."""
    header = ";".join(f"MPI-{n}{letter} (ms)" for n in (1, 2, 4))
    rows = ("1,000;190;200;105.3;57.1;3.3x", "5,000;900;1000;500;600;1.8x")
    text = table(f"Items;Serial Time (ms);{header};Best Speedup", *rows)
    first, second = audited(tmp_path, text)
    assert (speedups(first), speedups(second)) == (ONCE, [(1, 1.0), (2, 2.0), (4, 1.67)])
    assert [scale.row.printed_speedup is not None for scale in second.table.scales] == [False, True, False]
    assert set(kinds([first, second])) == {"turns back"}


def test_a_size_with_its_letter_is_no_number_of_devices(tmp_path: Path) -> None:
    text = "ranks p   total size N   timings\n p=1   N=100   0.2\n p=4   N=200   0.21\n p=16   N=400   0.25\n"
    found, asked = audit_file(read_published(_written(tmp_path, text)), "table")
    tables = [one.source for one in asked] or [one.source for one in found]
    assert [row.gpus for row in tables[0].rows] == [1, 4, 16]


def test_chinese_headers_with_latin_letters(tmp_path: Path) -> None:
    text = table("模型架构;单GPU性能;64 GPU性能;线性扩展效率", "GoshawkNet;20 img/sec;1,152 img/sec;90.0%")
    (found,) = audited(tmp_path, text)
    assert (speedups(found), found.checked.efficiencies, kinds([found])) == ([(1, 1.0), (64, 57.6)], 1, [])


def test_headers_and_times_in_brackets(tmp_path: Path) -> None:
    rows = ("egret;[1:00];[3:10]", "stilt;[2:00/epoch];[5:00/epoch]", "crane;[1:10,0:48];[2:00,1:30]")
    found = audited(tmp_path, table("Notebook;[4-GPUs timing];[Single-GPU timing]", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 3.17)], [(1, 1.0), (4, 2.5)]]
    assert any("several numbers that differ" in note for note in found[0].source.notes)


def test_a_sentence_with_the_devices_in_front_of_a_block(tmp_path: Path) -> None:
    block = "\n\nreal    0m{}s\nuser    0m19.6s\nsys 0m0.02s\n\n"
    text = "For comparison, this is what we have on the sample data with 1 thread:" + block.format("24.000")
    text += "and with 8 threads:" + block.format("6.000") + "The important one is real.\n"
    (found,) = audited(tmp_path, text)
    assert (speedups(found), kinds([found])) == ([(1, 1.0), (8, 4.0)], [])


@pytest.mark.parametrize("sign", ["#", "", "num_"])
def test_a_line_that_names_both_columns_of_a_list(sign: str, tmp_path: Path) -> None:
    text = f"It is slower than before.\n\n```\n{sign}threads: run time\n4: 11.43s\n2: 21.05s\n1: 40s\n```\nWhy?\n"
    (found,) = audited(tmp_path, text)
    assert (speedups(found), kinds([found])) == (ONCE, [])


def test_a_line_with_another_name_is_no_header(tmp_path: Path) -> None:
    with pytest.raises(UserError):
        read_published(_written(tmp_path, "```\nlessons: run time\n4: 11.43s\n2: 21.05s\n1: 40s\n```\n"))


def test_dictionaries_whose_names_say_that_the_keys_are_devices(tmp_path: Path) -> None:
    text = (
        "TIME_PER_EPOCH_BY_GPUS_HERON = {1: 40.0, 2: 21.05, 4: 11.43}\n"
        "TIME_PER_EPOCH_BY_GPUS_STORK = {2: 90.0, 4: 50.0}\n\ndef plot(times):\n    return times\n"
    )
    heron, stork = audited(tmp_path, text)
    assert (heron.case, speedups(heron)) == ("heron", ONCE)
    assert (stork.case, speedups(stork)) == ("stork", [(2, 1.0), (4, 1.8)])


def test_a_dictionary_of_another_quantity_is_another_table(tmp_path: Path) -> None:
    text = "LOSS_BY_GPUS = {1: 0.9, 2: 0.8}\nSECONDS_BY_GPUS = {1: 40.0, 2: 21.05, 4: 11.43}\n"
    (found,) = audited(tmp_path, text)
    assert (speedups(found), kinds([found])) == (ONCE, [])


def test_dictionaries_of_other_keys_are_no_table(tmp_path: Path) -> None:
    with pytest.raises(UserError):
        read_published(
            _written(tmp_path, "TIME_BY_LAYERS = {1: 40.0, 2: 21.05, 4: 11.43}\nX = {1: 2.0, 2: 3.0}\n")
        )


def test_cores_of_two_kinds_are_counted_together(tmp_path: Path) -> None:
    rows = ("1;40;1.0", "2;21.05;1.9", "2+2;11.43;3.5")
    (found,) = audited(tmp_path, table("Threads;Time (s);Speedup", *rows))
    assert (speedups(found), kinds([found])) == (ONCE, [])


def _written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "table.md"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("cells", ["4+2;8+3;12+4", "p=1;p=2;p=4", "p50;p90;p99"])
def test_codes_and_orders_are_no_devices(cells: str, tmp_path: Path) -> None:
    rows = (f"{cell};{time}" for cell, time in zip(cells.split(";"), (40, 21, 11), strict=True))
    with pytest.raises(UserError):
        read_published(_written(tmp_path, table("Scheme;Time (s)", *rows)))


def test_a_performance_in_a_unit_of_time_is_a_time(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;Performance (ms)", "1;40", "2;21.05", "4;11.43"))
    assert (speedups(found), kinds([found])) == (ONCE, [])


def test_devices_of_workers_with_servers_are_the_devices(tmp_path: Path) -> None:
    text = (
        "1 ps, 1 worker, 1 GPU: 50 img/s\n1 ps, 2 workers, 2 GPUs: 95 img/s\n2 ps, 4 workers, 4 GPUs: 175 img/s\n"
    )
    (found,) = audited(tmp_path, text)
    assert (speedups(found), kinds([found])) == (ONCE, [])


def test_equal_times_in_one_cell_are_one_time(tmp_path: Path) -> None:
    rows = ("egret;[1:00,1:00,1:00];[3:10, 3:10, 3:10]", "stilt;[1:00,2:00];[5:00,9:00]")
    (found,) = audited(tmp_path, table("Notebook;4 GPUs time;1 GPU time", *rows))
    assert speedups(found) == [(1, 1.0), (4, 3.17)]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("1 GPU: median 50 img/s, p90 60 img/s\n2 GPUs: median 95 img/s, p90 99 img/s\n", True),
        ("- 1 GPU: 50 img/s (best 60 img/s)\n- 2 GPUs: 95 img/s (best 99 img/s)\n", True),
        ("run.py --gpus 1 # takes 190 s, setup is 17 s\nrun.py --gpus 2 # takes 100 s, setup is 17 s\n", True),
        ("1 GPU: 50 img/s\n2 GPUs: 95 img/s\n", False),
    ],
)
def test_the_first_of_several_numbers_is_named(text: str, named: bool, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, text)
    assert speedups(found) == [(1, 1.0), (2, 1.9)]
    assert named == ("of several numbers of one quantity in a line the first is read" in found.source.notes)
