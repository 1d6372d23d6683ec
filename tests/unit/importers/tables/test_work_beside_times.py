"""What other columns say of the work that a time is for: sizes, epochs, batches, powers of ten."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import audit_file
from scalestudy.errors import UserError
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.numbers.printed import plain, read_cell
from scalestudy.importers.reading import read_published
from scalestudy.publish.audit import question_of
from test_printed_habits import audited, speedups, table

GROWING = ("1;836;257", "2;1182;185", "24;4096;65", "48;5793;49")


@pytest.mark.parametrize("size", ["N", "Grid size", "Number of cells"])
def test_a_time_that_falls_while_the_work_grows_is_asked_for(size: str, tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table(f"P;{size};Time (s)", *GROWING), encoding="utf-8")
    found, asked = audit_file(read_published(path), "table")
    assert not found
    assert f"falls from 1 to 48 devices (257 to 49), and {size} grows too" in question_of(asked[0])


def test_a_size_that_stays_leaves_the_time_of_constant_work(tmp_path: Path) -> None:
    rows = [row.replace(row.split(";")[1], "836") for row in GROWING]
    (found,) = audited(tmp_path, table("P;N;Time (s)", *rows))
    assert speedups(found)[1] == (2, pytest.approx(1.39, abs=0.01))


def test_a_time_relative_to_another_is_no_base_of_printed_speedups(tmp_path: Path) -> None:
    rows = ("1;1.0x;Baseline", "2;1.8x;0.9x", "4;3.2x;0.8x")
    (found,) = audited(tmp_path, table("GPUs;Training Speedup;Analysis Time", *rows))
    assert [gpus for gpus, _ in speedups(found)] == [1, 2, 4]
    assert not any("printed 3.2" in remark for remark in map(str, found.remarks))


def test_a_row_with_the_global_batch_of_the_base_is_compared(tmp_path: Path) -> None:
    rows = ("1;128;11.8", "8;1024;12.6", "8;128;18.6")
    found = audited(tmp_path, table("GPUs;Global batch size;Epoch time (s)", *rows))
    assert [speedups(one) for one in found] == [[(1, 1.0), (8, 0.94)], [(1, 1.0), (8, 0.63)]]


def test_times_of_other_numbers_of_epochs_are_divided_by_them_in_chinese(tmp_path: Path) -> None:
    rows = ("1;8;9:51:20", "4;5;1:48:17")
    (found,) = audited(tmp_path, table("GPU数;Epochs;训练时长", *rows))
    assert speedups(found)[1] == (4, pytest.approx(3.41, abs=0.01))


def test_accumulation_keeps_the_batch_of_a_step(tmp_path: Path) -> None:
    text = "| 指标 | 单卡 | 8卡 | 提升 |\n|---|---|---|---|\n| device_batch_size | 8 | 32 | 4x |\n"
    text += "| 梯度累积步数 | 32 | 1 | 32x |\n| 训练时间 | 16h | 2h | 8x |\n"
    (found,) = audited(tmp_path, text)
    assert (speedups(found), found.remarks) == ([(1, 1.0), (8, 8.0)], ())


def test_sizes_may_differ_in_their_power_of_ten_alone(tmp_path: Path) -> None:
    rows = ("1;10³;45", "2;10³;25", "4;10³;15", "1;10⁶;4500", "2;10⁶;2500", "4;10⁶;1500")
    found = audited(tmp_path, table("Threads;Taille du tableau;Time (ms)", *rows))
    assert [len(speedups(one)) for one in found] == [3, 3]


@pytest.mark.parametrize(("text", "value"), [("10³", 1000.0), ("10⁶", 1e6), ("10¹²", 1e12), ("10¹", 10.0)])
def test_a_raised_number_is_a_power_of_ten_or_a_note(text: str, value: float) -> None:
    assert read_cell(text).printed.value == value
    assert plain("84⁴") == "84"


def test_a_serial_run_in_brackets_is_of_one_process(tmp_path: Path) -> None:
    rows = ("(Serial);55.9;5.96x", "2 processes;49.0;6.80x", "4 processes;46.0;7.25x")
    (found,) = audited(tmp_path, table("Setup;Total (s);Speedup vs Serial", *rows))
    assert [gpus for gpus, _ in speedups(found)] == [1, 2, 4]


def test_a_file_of_bare_numbers_is_told_to_get_names(tmp_path: Path) -> None:
    path = tmp_path / "strong.txt"
    path.write_text("1 72.64\n2 30.67\n4 15.83\n", encoding="utf-8")
    with pytest.raises(
        UserError, match="its first line is one of numbers: write the names of the columns above it"
    ):
        read_published(path)


@pytest.mark.parametrize(
    ("header", "role"),
    [
        ("Efektywność", "printed_efficiency"),
        ("Účinnost", "printed_efficiency"),
        ("Zrychlení", "printed_speedup"),
        ("Počet vláken", "gpus"),
        ("Nº Threads/Processos", "gpus"),
        ("# Pr.", "gpus"),
        ("device_batch_size", "batch_per_gpu"),
        ("梯度累积步数", "accumulation"),
    ],
)
def test_words_of_other_languages(header: str, role: str) -> None:
    assert meaning_of(header).role == role


@pytest.mark.parametrize(
    ("header", "unit"), [("Время (мс), медиана (min-max)", "ms"), ("Время (мин)", "min"), ("Время (сек)", "s")]
)
def test_the_unit_of_a_time_in_russian(header: str, unit: str) -> None:
    assert meaning_of(header).unit == unit


@pytest.mark.parametrize("size", ["samples", "# training images", "Examples"])
def test_samples_that_grow_as_the_devices_are_weak_scaling(size: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table(f"GPUs;{size};s/epoch", "1;100 000;8", "2;200 000;14"))
    assert speedups(found)[1] == (2, pytest.approx(1.14, abs=0.01))


def test_a_time_that_grows_is_of_the_scaling_that_the_text_names(tmp_path: Path) -> None:
    rows = "| Nodes | Time (s) |\n|---|---|\n| 1 | 10.7 |\n| 4 | 35.4 |\n"
    path = tmp_path / "table.md"
    path.write_text(f"* Weak scaling on a cluster\n  one run each\n{rows}", encoding="utf-8")
    ((found,), _) = audit_file(read_published(path), "table")
    assert speedups(found)[1] == (4, pytest.approx(1.21, abs=0.01))
    path.write_text(f"* Runs on a cluster\n  one run each\n{rows}", encoding="utf-8")
    assert audit_file(read_published(path), "table")[1]  # it is asked for


def test_a_part_of_a_node_has_a_part_of_its_devices(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    rows = "| Nodes | Time (s) |\n|---|---|\n| 1/4 | 80 |\n| 1 | 25 |\n| 4 | 8 |\n"
    path.write_text(f"Each node has 4 GPUs.\n\n{rows}", encoding="utf-8")
    ((found,), _) = audit_file(read_published(path), "table")
    assert [gpus for gpus, _ in speedups(found)] == [1, 4, 16]
