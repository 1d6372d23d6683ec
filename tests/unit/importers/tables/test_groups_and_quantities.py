"""Labels above groups of rows, two quantities in a cell, and what is left out with a note."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.columns.meanings import Corrections
from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.reading import read_published
from scalestudy.publish.audit import audit_view
from test_printed_habits import audited, speedups, table


def rows_of(tmp_path: Path, text: str, **columns: str) -> tuple[list[list[tuple[int, float]]], str]:
    """Return (devices, best measurement) of each table of a text, and its notes."""
    path = tmp_path / "table.md"
    path.write_text(text, encoding="utf-8")
    tables = read_published(path, Corrections(columns)).tables
    kinds = ("throughput", "throughput_per_gpu", "step_time_s", "total_time_s", "time_s", "printed_speedup")
    found = [[(row.gpus, next(filter(None, map(row.number, kinds)))) for row in one.rows] for one in tables]
    return found, "; ".join(note for one in tables for note in one.notes)


def test_labels_like_times_are_no_parts_of_the_time(tmp_path: Path) -> None:
    text = "Generation Time\n\n" + table("Video Length;1 GPU;2 GPU;4 GPU", "5s;60s;35s;25s", "10s;85s;48s;32s")
    assert [speedups(one)[-1] for one in audited(tmp_path, text)] == [(4, 2.4), (4, 2.66)]


def test_words_beside_the_devices_across_are_labels_like_times_too(tmp_path: Path) -> None:
    header = "Server and GPU number;1S - 1GPU;1S - 2GPU;2S - 2GPU;2S - 4GPU"
    found = audited(tmp_path, table(header, "Training time(s/1 epoch);121.4;83.1;82.5;49.9"))
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.46)], [(2, 1.0), (4, 1.65)]]


def test_numbers_above_groups_of_rows_are_labels(tmp_path: Path) -> None:
    groups = [
        (f"{size};;;;;", f";Serial;1;-;{t} s;-", f";static;2;1;{t / 2} s;2.0", f";static;2;4;{t / 1.6} s;1.6")
        for size, t in (("512 32", 9.6), ("512 64", 18.4))
    ]
    rows = [row for group in groups for row in group]
    found = audited(tmp_path, table("Entrada;Schedule;Threads;Chunk;Tempo;Speedup", *rows))
    assert [speedups(one)[-1] for one in found] == [(2, 2.0), (2, 1.6)] * 2
    assert not any(one.remarks for one in found)


def test_a_row_without_its_first_bar_has_an_empty_first_cell(tmp_path: Path) -> None:
    text = "Test | Devices | A (ns/day) | B (ns/day)\n-- | -- | -- | --\n"
    text += "x | 1 | 135.3 | 268.6\n  | 2 | 186.8 | 318.2\n"
    assert rows_of(tmp_path, text)[0] == [[(1, 135.3), (2, 186.8)], [(1, 268.6), (2, 318.2)]]


def test_a_rate_in_brackets_behind_a_time(tmp_path: Path) -> None:
    rows = (
        "1 m5.4xlarge node (1 actor);275 s (94.5k rows/s)",
        "10 m5.4xlarge nodes (10 actors);331 s (786k rows/s)",
    )
    (found,) = audited(tmp_path, table("**Setup**;**Performance**", *rows))
    assert (speedups(found), found.remarks) == ([(1, 1.0), (10, 8.32)], ())


@pytest.mark.parametrize(
    ("cell", "hardware"), [("5 m5.4xlarge nodes (5 actors)", "m5.4xlarge"), ("4 g3.16xlarge nodes", "g3.16xlarge")]
)
def test_the_kind_of_nodes_is_hardware(cell: str, hardware: str) -> None:
    assert read_count(cell).hardware == hardware


def test_devices_of_each_node_in_chinese_headers(tmp_path: Path) -> None:
    (found,) = audited(
        tmp_path, table("模型;精度;单机8卡耗时;2机8卡耗时;加速比", "CRNN;67.0%;2.50d;1.67d;**1.5**")
    )
    assert (speedups(found), found.checked.speedups, found.remarks) == ([(8, 1.0), (16, 1.5)], 1, ())


def test_a_precision_in_per_cent_is_an_accuracy(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("机器;精度;耗时", "单机8卡;42.7%;39h", "4机8卡;42.1%;13h"))
    assert (speedups(found), found.remarks) == ([(8, 1.0), (32, 3.0)], ())


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("processes;threads;time (s);speedup", "processes threads"),
        ("nodes;tasks_per_node;cpus_per_task;time (s)", "tasks_per_node cpus_per_task"),
    ],
)
def test_factors_of_the_devices_are_read(header: str, names: str, tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    wide = header.count(";") - 2
    rows = ["1;1;" + "4;" * wide + "8.0", "1;2;" + "4;" * wide + "4.1", "2;2;" + "4;" * wide + "2.1"]
    rows = rows if "tasks" in header else ["1;1;8.0;1.0", "1;2;4.1;1.95", "2;4;1.3;6.15"]
    path.write_text(table(header, *rows), encoding="utf-8")
    (found,) = read_published(path).tables
    assert not {*names.split()} & {*found.unread}
    assert [row.gpus for row in found.rows][-1] in (8, 16)


def test_a_switch_counts_no_devices() -> None:
    assert [meaning_of(name).role for name in ("use_gpu", "is_gpu", "num_gpu")] == ["ignore", "ignore", "gpus"]


def test_a_header_with_commas_above_rows_with_spaces(tmp_path: Path) -> None:
    text = '"Num MPI ranks","Num nodes","zone-cycles/cpu_second"\n1 1 6.4e+07\n4 1 1.8e+08\n8 2 3.6e+08\n'
    assert rows_of(tmp_path, text)[0] == [[(1, 6.4e7), (4, 1.8e8), (8, 3.6e8)]]


def test_a_list_with_decimal_commas(tmp_path: Path) -> None:
    text = "Tempo em segundos:\nSequencial: 81,784912\n2 Threads: 43,664932\n4 Threads: 23,663893\n"
    assert rows_of(tmp_path, text)[0] == [[(1, 81.784912), (2, 43.664932), (4, 23.663893)]]


def test_commas_between_thousands_stay(tmp_path: Path) -> None:
    text = "Training, images/sec:\n1 GPU: 1,460\n2 GPUs: 2,780\n"
    assert rows_of(tmp_path, text)[0] == [[(1, 1460), (2, 2780)]]


def test_a_list_of_speedups_by_its_title(tmp_path: Path) -> None:
    assert rows_of(tmp_path, "Speedup:\n2 threads: 1.87\n4 threads: 3.46\n")[0] == [[(2, 1.87), (4, 3.46)]]


def test_ratios_of_another_column_of_the_row_are_no_speedups(tmp_path: Path) -> None:
    rows = ("1;121.5 ms;92.5 ms (1.31×);", "2;83.3 ms;65.2 ms (1.28×);59.6 ms (1.40×)")
    rows += ("4;61.8 ms;54.2 ms (1.14×);43.5 ms (1.42×)", "8;53.3 ms;48.7 ms (1.09×);44.7 ms (1.19×)")
    found = audited(tmp_path, table("GPUs;A;B, sync;B, overlap", *rows))
    assert not [remark for one in found for remark in one.remarks if remark.kind in ("speedup", "no base case")]
    assert [one.checked.speedups for one in found] == [0, 0, 0]


def test_times_that_may_be_0_show_no_ratio(tmp_path: Path) -> None:
    rows = ("1;4 ms;1 ms (4.0×);1 ms", "2;3 ms;1 ms (3.0×);1 ms (3.0×)", "4;4 ms;2 ms (2.0×);1 ms (4.0×)")
    assert len(audited(tmp_path, table("GPUs;A;B;C", *rows))) == 3


def test_speedups_of_all_columns_are_over_the_first_of_one(tmp_path: Path) -> None:
    text = "| | OMP | | MPI | |\n|---|---|---|---|---|\n| Threads | Time (s) | Speedup | Time (s) | Speedup |\n"
    text += "| 1 | 27.0686 | 1 | | |\n| 2 | 13.9216 | 1.944 | 26.4343 | 1.024 |\n"
    text += "| 3 | 9.63876 | 2.808 | 13.2307 | 2.046 |\n"
    found = audited(tmp_path, text)
    assert [(one.checked.speedups, [r for r in one.remarks if r.kind == "no base case"]) for one in found] == [
        (3, []),
        (2, []),
    ]
    assert [view["relative"] for view in audit_view(found)] == ["", "omp in line 4"]


def test_a_ratio_of_two_columns_in_seconds_by_their_last_letter(tmp_path: Path) -> None:
    rows = ("1;0.5686;0.0386;14.7x", "2;0.4210;0.0270;15.6x", "4;0.2786;0.0189;14.7x")
    found = audited(tmp_path, table("MPI ranks;Old scan CPU s;Current CPU s;Speedup", *rows))
    assert [speedups(one)[-1] for one in found] == [(4, 2.04), (4, 2.04)]


def test_a_rate_times_the_devices_is_that_of_all(tmp_path: Path) -> None:
    rows = ("1;18335;18335", "2;10349;20698", "4;6399;25595")
    found, _ = rows_of(tmp_path, table("Devices;SPS;Env-SPS", *rows))
    assert found == [[(1, 18335), (2, 20698), (4, 25595)]]


def test_rates_of_each_device_by_the_sentence_above(tmp_path: Path) -> None:
    text = "The numbers below show the **per-GPU** training throughput.\n\n"
    text += "1M/1G: p50:  122/s  p75:  121/s\n1M/2G: p50:  115/s  p75:  114/s\n2M/2G: p50:   80/s  p75:   79/s\n"
    path = tmp_path / "table.md"
    path.write_text(text, encoding="utf-8")
    (found,) = read_published(path).tables
    assert [(row.gpus, row.number("throughput_per_gpu")) for row in found.rows] == [(1, 122), (2, 115), (4, 80)]
    assert any("the first is read" in note for note in found.notes)


def test_a_unit_is_no_part_of_a_sum_in_a_header(tmp_path: Path) -> None:
    found, _ = rows_of(tmp_path, table("workers;m+2s", "1;50.4", "2;31.4"), **{"m+2s": "total_time_s"})
    assert found == [[(1, 50.4), (2, 31.4)]]


def test_rows_without_a_measurement_are_named(tmp_path: Path) -> None:
    _, notes = rows_of(tmp_path, table("Cores;State;s/step", "3;RUNNING;—", "12;DONE;8.3", "24;DONE;4.5"))
    assert "line 3 has no measurement" in notes


def test_a_correction_that_changes_nothing_is_named(tmp_path: Path) -> None:
    text = table("GPUs;Mean time (s);Best time (s)", "1;10;9", "2;5;4.5")
    _, notes = rows_of(tmp_path, text, **{"best time (s)": "step_time_s"})
    assert "changes nothing" not in notes
    rows = ("1;10;400;900", "2;5;780;1700")
    _, notes = rows_of(tmp_path, table("GPUs;T (s);img/s;Other", *rows), **{"t (s)": "time_s", "other": "time_s"})
    assert "--column 'Other=time_s' changes nothing" in notes


def test_a_serial_run_beside_one_thread_is_named_and_not_averaged(tmp_path: Path) -> None:
    rows = ("Serial;12.4 s", "1 Rayon thread;12.6 s", "2 Rayon threads;6.4 s", "4 Rayon threads;3.3 s")
    (found,) = audited(tmp_path, table("Backend;Time", *rows))
    assert (speedups(found), found.remarks) == ([(1, 1.0), (2, 1.97), (4, 3.82)], ())
    rows = ("Serial;12.4 s;1.0", "1 thread;12.6 s;0.98", "2 threads;6.4 s;1.94", "4 threads;3.3 s;3.76")
    (found,) = audited(tmp_path, table("Version;Time;Speedup", *rows))
    assert found.checked.speedups == 3
    assert "line 3 is a serial run or on no device" in "; ".join(found.source.notes)


def test_a_step_in_front_of_its_ratio(tmp_path: Path) -> None:
    rows = ("1;400;-", "2;780;1->2: 1.95x", "4;1500;2->4: 1.92x", "8;2800;4->8: 1.87x")
    (found,) = audited(tmp_path, table("GPUs;img/s;Gain", *rows))
    assert (found.checked.speedups, found.remarks) == (3, ())


def test_pairs_of_quantities_by_the_names_in_the_header(tmp_path: Path) -> None:
    rows = ("1;120 / 20.1;130 / 15.2", "2;62 / 20.3;68 / 9.4", "4;33 / 20.5;36 / 6.0")
    found, _ = rows_of(tmp_path, table("#GPU;DDP (time/mem);FSDP (time/mem)", *rows))
    assert found == [[(1, 120), (2, 62), (4, 33)], [(1, 130), (2, 68), (4, 36)]]


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        (("1;1.00;1", "2;1.93;2", "4;3.61;4"), "printed_speedup"),
        (("1;100%;100%", "2;96%;100%", "4;90%;100%"), "printed_efficiency"),
    ],
)
def test_actual_beside_ideal_is_what_the_ideal_is_of(rows: tuple[str, ...], kind: str, tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("Threads;Actual;Ideal", *rows), encoding="utf-8")
    (found,) = read_published(path).tables
    assert all(kind in row.numbers for row in found.rows)


def test_actual_beside_another_ideal_is_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("Threads;Actual;Ideal", "1;12.1;12", "2;6.6;6", "4;3.9;3"), encoding="utf-8")
    with pytest.raises(UserError, match="Actual=total_time_s"):
        read_published(path)


def test_sections_with_rules_and_remarks(tmp_path: Path) -> None:
    rule = "-" * 60
    text = "\n\n".join(
        f"{title}\n{rule}\nNetwork Name         Inference Latency         Time / FPS\n{rule}\n"
        f"resnet50             {ms} ms                  {ms} ms / {fps} fps"
        for title, ms, fps in (("8 threads - as checked in", 39.49, 25.33), ("28 threads", 23.27, 42.97))
    )
    assert rows_of(tmp_path, text)[0] == [[(8, 25.33), (28, 42.97)]]


def test_the_cpu_time_of_a_benchmark_program_is_named(tmp_path: Path) -> None:
    text = "".join(
        f"BM_threaded/threads:{n}         {t} ns     {t} ns            1\n" for n, t in ((1, 9), (2, 5), (4, 3))
    )
    assert "the CPU time and the iterations of each line are not read" in rows_of(tmp_path, text)[1]


def test_a_ditto_of_a_number_is_the_number_above(tmp_path: Path) -> None:
    found, _ = rows_of(tmp_path, table("GPUs;Batch;Time (s)", "1;32;10", '2;";5.1', '4;";2.7'))
    assert found == [[(1, 10), (2, 5.1), (4, 2.7)]]
