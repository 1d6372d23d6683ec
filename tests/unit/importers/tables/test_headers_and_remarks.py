"""Headers that are moved or marked, cells with named values, and ratios that end with zeros."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.analyse.published.series import series_of
from scalestudy.diagnose.remark import apart
from scalestudy.errors import UserError
from scalestudy.importers.columns.meanings import Corrections
from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.counts.headers import count_of_header
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.reading import read_published
from scalestudy.publish.audit import audit_view
from test_groups_and_quantities import rows_of
from test_printed_habits import audited, speedups, table


def test_prefixes_of_units_may_differ_between_rows(tmp_path: Path) -> None:
    rows = ("64;312 PFLOPS", "128;598 PFLOPS", "256;1.13 EFLOPS")
    (found,) = audited(tmp_path, table("GPUs;Model FLOPS", *rows))
    assert speedups(found) == [(1 * 64, 1.0), (128, 1.92), (256, 3.62)]


def test_two_precisions_of_one_measurement_are_no_repeats(tmp_path: Path) -> None:
    rows = ("64;1761.3 / 2339.8", "128;3410.2 / 4502.0")
    found, _ = rows_of(tmp_path, table("#GPUs;Sequences/Sec (bf16 / fp8)", *rows))
    assert found == [[(64, 1761.3), (128, 3410.2)], [(64, 2339.8), (128, 4502.0)]]


@pytest.mark.parametrize("header", ["Goal", "Change from batch 1,024", "Delta vs. baseline"])
def test_goals_and_changes_are_not_read(header: str) -> None:
    assert meaning_of(header).role == "ignore"


def test_the_number_behind_p_is_that_of_devices_beside_another(tmp_path: Path) -> None:
    rows = ("p=1, d=3840;58 ms;100%", "p=2, d=5440;60 ms;97%", "p=4, d=7680;62 ms;94%")
    (found,) = audited(tmp_path, table("配置;MLP时间;效率", *rows))
    assert (speedups(found)[-1], found.checked.efficiencies, found.remarks) == ((4, 3.74), 3, ())


def test_words_with_devices_are_read_if_the_user_says_that_they_are_devices(tmp_path: Path) -> None:
    rows = ("run A with p=1 on x;10 s", "run A with p=2 on x;5.2 s")
    found, _ = rows_of(tmp_path, table("what;time", *rows), what="gpus")
    assert [[gpus for gpus, _ in one] for one in found] == [[1, 2]]


def test_a_speedup_in_another_language_is_of_the_devices_in_its_header(tmp_path: Path) -> None:
    rows = ("8;127K;228K;396K;3.1x", "16;250K;457K;774K;3.1x")
    found = audited(tmp_path, table("BS/GPU;1 GPU;2 GPU;4 GPU;4GPU加速比", *rows))
    assert [(one.settled.rate, one.checked.speedups) for one in found] == [("throughput", 1)] * 2


@pytest.mark.parametrize(
    ("header", "role"), [("副本", "gpus"), ("墙钟", "time_s"), ("每个线程的吞吐量", "throughput_per_gpu")]
)
def test_further_words_in_chinese(header: str, role: str) -> None:
    assert meaning_of(header).role == role


def test_ratios_that_end_with_zeros_are_rounded_before_them(tmp_path: Path) -> None:
    rows = ("1;6202.87;100%", "2;4156.21;74.70%", "4;3103.72;50.00%", "6;1789.43;57.80%", "8;1149.19;67.50%")
    (found,) = audited(tmp_path, table("Processos;Tempo (ms);Eficiência", *rows))
    assert (found.checked.efficiencies, found.remarks) == (5, ())
    wrong = [row.replace("57.80", "58.30") for row in rows]
    (found,) = audited(tmp_path, table("Processos;Tempo (ms);Eficiência", *wrong))
    assert [(remark.kind, remark.gpus) for remark in found.remarks] == [("efficiency", 6)]


def test_two_zeros_by_chance_round_nothing(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;Time (s);Speedup", "1;10.00;1.00", "2;5.43;1.80", "4;2.86;3.51"))
    assert [remark.gpus for remark in found.remarks if remark.kind == "speedup"] == [2]


def test_speedups_in_per_cent_that_are_the_time_saved(tmp_path: Path) -> None:
    rows = ("Serial;1;50s;-", "Safe;2;35s;30% ⬆️", "Fast;4;25s;50% ⬆️", "Max;6;20s;60% ⬆️")
    (found,) = audited(tmp_path, table("Mode;Threads;Time;Speedup", *rows))
    assert (found.checked.speedups, [r.kind for r in found.remarks if r.kind == "speedup"]) == (3, [])


def test_a_mean_of_all_threads_is_no_time_of_its_own(tmp_path: Path) -> None:
    rows = ("1;1.778s;1.778s", "2;1.754s;0.877s", "4;1.751s;0.438s")
    found, _ = rows_of(tmp_path, table("Threads;Temps de calcul;Temps moyen par thread", *rows))
    assert found == [[(1, 1.778), (2, 1.754), (4, 1.751)]]


def test_whole_times_are_divided_by_the_steps_that_the_time_of_a_step_shows(tmp_path: Path) -> None:
    rows = ("1;7812;2.69976;0.000345592", "16;78125;1.80166;2.30613e-05")
    (found,) = audited(tmp_path, table("procs;n_iterations;total_time;iteration_time", *rows))
    assert speedups(found)[-1] == (16, pytest.approx(14.99, abs=0.01))


def test_jobs_and_thousands_as_devices(tmp_path: Path) -> None:
    assert [read_count(cell).gpus for cell in ("-j4", "10K", "1M")] == [4, 10_000, 1_000_000]
    (found,) = audited(tmp_path, table("Jobs;Wall time", "-j1;27.03 s", "-j2;14.45 s"))
    assert speedups(found) == [(1, 1.0), (2, 1.87)]


def test_serial_and_parallel_columns_in_french(tmp_path: Path) -> None:
    (found,) = audited(
        tmp_path, table("Métrique;Parallèle (4x);Séquentiel;Accélération", "Temps total;0.201s;0.730s;3.62x")
    )
    assert (speedups(found), found.checked.speedups, found.remarks) == ([(1, 1.0), (4, 3.63)], 1, ())


def test_numbers_right_of_two_labels_are_devices_if_the_user_says_so(tmp_path: Path) -> None:
    text = "### exec time (unit: ms)\n\n" + table(
        "**Scheduling**;Chunk;1;2;4", "static;default;47;33;28", "static;1;45;32;29"
    )
    path = tmp_path / "table.md"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="Scheduling=gpus"):
        read_published(path)
    found = read_published(path, Corrections({"Scheduling": "gpus"})).tables
    assert [row.gpus for row in found[0].rows] == [1, 2, 4, 1, 2, 4]


def test_a_column_of_devices_without_a_number_is_left_out(tmp_path: Path) -> None:
    text = table(
        "Processes \\ Threads;1 Thread;2 Threads;Max Threads",
        "1 Process;244 s;115 s;28 s",
        "2 Processes;116 s;77 s;21 s",
    )
    found, notes = rows_of(tmp_path, text)
    assert found == [[(1, 244), (2, 115), (1, 116), (2, 77)]]
    assert "Max Threads is of no number of devices" in notes


def test_a_remark_behind_one_of_the_devices(tmp_path: Path) -> None:
    found, notes = rows_of(tmp_path, table("Metric;TP=1;TP=2;TP=4 (합성)", "Mean TTFT (ms);45.6;32.4;22.6"))
    assert [gpus for gpus, _ in found[0]] == [1, 2, 4]
    assert "the remark of 'TP=4 (합성)' is not read" in notes


def test_devices_that_were_not_measured_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("Model;1 GPU;4 GPUs (estimated)", "a;6.2s/step;~1.6s/step"), encoding="utf-8")
    with pytest.raises(UserError, match=r"'4 GPUs \(estimated\)' is not measured"):
        read_published(path)
    text = table("Model;1 GPU;2 GPUs;4 GPUs (estimated)", "a;6.2s/step;3.3s/step;~1.6s/step")
    found, notes = rows_of(tmp_path, text)
    assert [gpus for gpus, _ in found[0]] == [1, 2]
    assert "'4 GPUs (estimated)' is not measured" in notes


@pytest.mark.parametrize("header", ["4 GPUs (ms)", "4 GPUs (img/s)", "4 GPUs (A100)"])
def test_units_and_hardware_in_brackets_are_no_remarks(header: str, tmp_path: Path) -> None:
    text = "## Step time\n\n" + table(f"Model;{header.replace('4 GPUs', '1 GPU')};{header}", "a;62;33", "b;61;32")
    path = tmp_path / "table.md"
    path.write_text(text, encoding="utf-8")
    assert not any("remark" in note for one in read_published(path).tables for note in one.notes)


def test_headers_that_are_moved_by_one(tmp_path: Path) -> None:
    text = "| 1 DGX Spark node TP1 | 2 DGX Spark nodes TP2 | 4 DGX Spark nodes TP4 | |\n"
    text += "| Learning time | 40.9 s | 41.4 s | 42.3 s |\n| FPS | 630 | 1241 | 2,520 |\n"
    found, notes = rows_of(tmp_path, text)
    assert found == [[(1, 630), (2, 1241), (4, 2520)]]
    assert "the headers were moved by one column to the right" in notes


@pytest.mark.parametrize("header", ["2 DGX Spark nodes TP2 (ms)", "2 DGX Spark nodes"])
def test_nodes_with_a_name(header: str) -> None:
    found = count_of_header(header)
    assert found
    assert (found[0].gpus, found[0].nodes) == (2, 2)


def test_named_values_in_cells_are_columns(tmp_path: Path) -> None:
    rows = (
        "single card;Acc@1=76.02,FPS=330,Time=4d3h，BatchSize=280",
        "4 cards;Acc@1=75.89,FPS=1233,Time=1d2h，BatchSize=300",
    )
    found, _ = rows_of(tmp_path, table(";FP32", *rows))
    assert found == [[(1, 330), (4, 1233)]]


def test_settings_in_cells_stay_if_their_names_differ(tmp_path: Path) -> None:
    rows = ("1;lr=1, wd=2;10 s", "2;lr=1, momentum=3;5.2 s")
    found, _ = rows_of(tmp_path, table("GPUs;settings;time", *rows))
    assert [[gpus for gpus, _ in one] for one in found] == [[1, 2]]


def test_products_that_stay_name_the_devices_first(tmp_path: Path) -> None:
    rows = ("1 × 8;104.2", "2 × 4;137.6", "4 × 2;154.3", "8 × 1;166.7", "12 × 1;181.2")
    found, notes = rows_of(tmp_path, table("workers × ORT threads;img/s", *rows))
    assert [gpus for gpus, _ in found[0]] == [1, 2, 4, 8, 12]
    assert "most rows have one product of workers and ORT threads" in notes


def test_two_bars_behind_each_line_are_none_of_a_table(tmp_path: Path) -> None:
    text = "nthreads elapsed_time_seconds | |\n1 0.3313 | |\n2 0.2817 | |\n4 0.1880 |"
    assert rows_of(tmp_path, text)[0] == [[(1, 0.3313), (2, 0.2817), (4, 0.188)]]


def test_a_rule_with_bare_colons_is_one(tmp_path: Path) -> None:
    text = "| Build | time (s) | |\n|:---|:---|:|\n| -j1 | 64 | a |\n| -j2 | 37 | b |\n"
    assert rows_of(tmp_path, text)[0] == [[(1, 64), (2, 37)]]


def test_rows_that_cannot_be_one_configuration_are_called_so(tmp_path: Path) -> None:
    rows = ("1;1000", "2;1786357", "2;382")
    (found,) = audited(tmp_path, table("Threads;ops/s", *rows))
    twice = next(str(remark.sentence) for remark in found.remarks if remark.kind == "printed twice")
    assert "differ 4,676 times, so they are of different work" in twice


@pytest.mark.parametrize(
    ("value", "other", "text"), [(0.5003, 0.5, "0.5003"), (1.43, 0.3, "1.430"), (0.5, 0.5, "0.500")]
)
def test_two_numbers_are_printed_so_that_they_differ(value: float, other: float, text: str) -> None:
    assert apart(value, other, 3) == text


def test_fractions_below_scale_are_no_sizes(tmp_path: Path) -> None:
    rows = ("1;8.78 (7.24–10.45);11.14", "2;7.50 (6.95–7.86);7.00")
    found, _ = rows_of(tmp_path, table("Threads;Triad GB/s (IQR);Scale", *rows))
    assert found == [[(1, 8.78), (2, 7.5)]]


def test_karp_flatt_is_printed_for_times_of_constant_work(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Threads;Time (s)", "1;10.0", "2;5.5", "4;3.25"))
    assert [row["karp_flatt"] for row in audit_view([found])[0]["rows"]] == ["--", "0.100", "0.100"]
    (found,) = audited(tmp_path, "Weak scaling\n\n" + table("Threads;Time (s)", "1;10.0", "2;10.5", "4;11.2"))
    assert {row["karp_flatt"] for row in audit_view([found])[0]["rows"]} == {"--"}


def test_a_long_sentence_names_no_ratios(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    said = "I used ResNet101, but speedup seems very similar - (p3.16xlarge)\n\n"
    path.write_text(said + table("GPUs;4;8;16", "Horovod;792.41;1523;2958"), encoding="utf-8")
    with pytest.raises(UserError, match="value=throughput"):
        read_published(path)


def test_the_nodes_behind_devices_are_where_they_are(tmp_path: Path) -> None:
    text = "Scaling to 32 GPUs (4nodes, 8 GPUs per node):\n\n1GPU: 5 images/s\n8GPUs: 25 images/s\n"
    found, _ = rows_of(tmp_path, text + "16GPUs(2 nodes): 41 images/s\n32GPUs(4nodes): 80 images/s\n")
    assert found == [[(1, 5), (8, 25), (16, 41), (32, 80)]]


def test_an_accuracy_behind_a_time_is_no_efficiency(tmp_path: Path) -> None:
    rows = ("A;8.9h/80.91%;5.33h/80.13%;**1.67**", "B;5.61h/76.73%;2.6h/75.86%;**2.16**")
    found = audited(tmp_path, table("模型;单机8卡耗时/精度;3机8卡耗时/精度;加速比", *rows))
    assert [(speedups(one)[-1], one.remarks) for one in found] == [((24, 1.67), ()), ((24, 2.16), ())]


def test_a_share_of_the_data_is_no_efficiency(tmp_path: Path) -> None:
    rows = ("1;12.5% / ~150,000;6.473", "2;25% / ~300,000;7.532", "4;50% / ~600,000;7.156")
    (found,) = audited(
        tmp_path, "### Weak Scaling Study\n\n" + table("Ranks/Threads;Data Points;OpenMP (s)", *rows)
    )
    assert (found.checked.efficiencies, found.remarks) == (0, ())


def test_a_baseline_with_a_dash_for_its_devices(tmp_path: Path) -> None:
    rows = ("**Baseline**;-;112.5s;1.0x", "SP;2;65.2s;1.73x", "SP;4;39.6s;2.84x")
    path = tmp_path / "table.md"
    path.write_text(table("Configuration;Ulysses degree;Generation Time;Speedup", *rows), encoding="utf-8")
    (found,) = read_published(path, Corrections({"Ulysses degree": "gpus"})).tables
    assert [row.line for row in found.outside] == [3]
    assert not any("line 3" in note for note in found.notes)


def test_data_sets_are_not_compared_with_each_other(tmp_path: Path) -> None:
    rows = ("CC;8x V100;5hr", "COCO;8x V100;12min", "VQA;2x V100;32min", "Flickr30k;8x V100;3min")
    path = tmp_path / "table.md"
    path.write_text(table("Dataset;GPUs;Time per Epoch", *rows), encoding="utf-8")
    tables = read_published(path).tables
    assert not any(len({row.gpus for row in one.rows}) > 1 for table_ in tables for one in series_of(table_))


def test_hardware_without_a_number_is_one_beside_several(tmp_path: Path) -> None:
    found, _ = rows_of(tmp_path, table("GPU type&num;Throughput", "V100;332/s", "2 V100;583/s", "4 V100;818/s"))
    assert found == [[(1, 332), (2, 583), (4, 818)]]


def test_slices_of_tpus_are_counted_in_chips() -> None:
    assert [read_count(cell).gpus for cell in ("v4-128", "1x v4-128", "4x v4-128")] == [64, 64, 256]


def test_shared_memory_is_no_memory_of_a_device(tmp_path: Path) -> None:
    header = "Threads / Ranks;Serial Time (s);Shared Memory (OpenMP) Time (s);OpenMP Speedup"
    (found,) = audited(tmp_path, table(header, "1;53.2;54.6;0.974", "2;53.2;25.8;2.062", "4;53.2;12.8;4.156"))
    assert (found.speedups.kind, found.checked.speedups) == ("serial", 3)


def test_a_time_that_grows_is_printed_as_the_mean_of_its_rows(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Threads;Time (s)", "1;100", "4;68", "4;40", "8;64"))
    back = next(str(remark.sentence) for remark in found.remarks if remark.kind == "turns back")
    assert "(52.15 to 64)" in back


def test_three_numbers_in_a_cell_by_the_names_in_the_header(tmp_path: Path) -> None:
    header = "#GPU;throughput (GPU/CPU/Python)"
    found, _ = rows_of(tmp_path, table(header, "1;228/228/219", "2;427/423/415"))
    assert found == [[(1, 228), (2, 427)], [(1, 228), (2, 423)], [(1, 219), (2, 415)]]


def test_labels_that_differ_in_a_footnote_mark(tmp_path: Path) -> None:
    rows = ("B0;5.61h;2.6h;**2.16**", "B0<sup>*</sup>;5.61h;3.5h;**1.60**")
    found = audited(tmp_path, table("模型;单机8卡耗时;3机8卡耗时;加速比", *rows))
    assert [(one.case, speedups(one)[-1], one.remarks) for one in found] == [
        ("B0", (24, 2.16), ()),
        ("B0 (with a mark)", (24, 1.6), ()),
    ]


def test_rates_of_data_in_a_list_are_named(tmp_path: Path) -> None:
    text = "# Times\n1 threads 5.459 sec (179451 lines/s) 9.10 MB/s\n"
    text += "2 threads 3.057 sec (320484 lines/s) 16.26 MB/s\n"
    found, notes = rows_of(tmp_path, text)
    assert found == [[(1, 179451), (2, 320484)]]
    assert "numbers with other units in these lines are not read, such as 9.10 MB/s" in notes


def test_rows_too_far_apart_for_one_configuration_are_not_averaged(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("GPUs;Training time (min)", "1;80", "8;18", "8;65"))
    assert speedups(found) == [(1, 1.0), (8, 4.44), (8, 1.23)]
    (found,) = audited(tmp_path, table("GPUs;img/s", "1;100", "1;900", "2;180", "2;1700"))
    assert len(found.table.scales) == 2
    assert "differ 9.0 times" in " ".join(remark.sentence for remark in found.remarks)
