"""Devices that headers and labels name with degrees, ids, options or nouns, and runs that are sequential."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import audit_file
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.reading import read_published
from scalestudy.publish.audit import reading_view
from test_plain_tables import read, series

TIMES = [(1, 1.0), (2, 1.9), (4, 3.5)]


@pytest.mark.parametrize(
    "header",
    ["GPU 0 | GPU 0,1 | GPU 0,1,2,3", "GPUs 0 | GPUs 0-1 | GPUs 0-3", "cuda:0 | cuda:0,1 | cuda:0,1,2,3"],
)
def test_lists_of_ids_across_are_counted(tmp_path: Path, header: str) -> None:
    text = f"Throughput in images/s\n\n| Model | {header} |\n|---|---|---|---|\n| small | 100 | 190 | 350 |\n"
    audits, asked, _ = read(tmp_path, text)
    assert (series(audits), asked) == ({"table": TIMES}, [])


def test_single_gpus_across_are_no_scaling(tmp_path: Path) -> None:
    text = "| Model | GPU 0 | GPU 1 | GPU 2 |\n|---|---|---|---|\n| small (images/s) | 100 | 101 | 99 |\n"
    with pytest.raises(ValueError, match="no column of devices"):
        read(tmp_path, text)


def test_degrees_of_parallelism_across_are_multiplied(tmp_path: Path) -> None:
    text = """
| Model | TP=1/DP=8 tokens/s | TP=2/DP=8 tokens/s | TP=2, PP=2, DP=8 tokens/s |
|---|---|---|---|
| small | 1000 | 1900 | 3500 |
"""
    audits, asked, _ = read(tmp_path, text)
    assert (series(audits), asked) == ({"table": [(8, 1.0), (16, 1.9), (32, 3.5)]}, [])


@pytest.mark.parametrize(
    ("command", "noun"),
    [
        ("OMP_NUM_THREADS={} ./solver", "threads"),
        ("$ time mpirun -np {} ./solver", "processes"),
        ("time make -j {}", "workers"),
        ("./solver --num-gpus {}", "gpus"),
    ],
)
def test_the_noun_of_devices_in_commands(tmp_path: Path, command: str, noun: str) -> None:
    text = "".join(
        f"{command.format(count)}\nreal\t{time}\n" for count, time in ((1, "1m35s"), (2, "0m50s"), (4, "0m27.14s"))
    )
    (audit,), _, _ = read(tmp_path, text)
    assert series([audit]) == {"table": TIMES}
    assert audit.source.columns[0].header == noun


def test_a_noun_that_only_the_header_names(tmp_path: Path) -> None:
    rows = "| **1 Shard** | 100 |\n| **2 Shards** | 190 |\n| **4 Shards** | 350 |\n"
    text = f"| Shards | Throughput (MB/s) |\n|---|---|\n{rows}"
    audits, asked, _ = read(tmp_path, text)
    assert (series(audits), asked) == ({"table": TIMES}, [])


@pytest.mark.parametrize(
    "word", ["Sequential", "Secuencial", "Séquentiel", "Sequentiell", "Sequen\u0063ial", "串行"]
)
def test_a_sequential_run_is_on_one_device(tmp_path: Path, word: str) -> None:
    across = (
        f"Time in ms\n\n| Size | {word} | 2 threads | 4 threads |\n|---|---|---|---|\n| big | 95 | 50 | 27.14 |\n"
    )
    down = f"| Version | Time (s) |\n|---|---|\n| {word} | 95 |\n| 2 threads | 50 |\n| 4 threads | 27.14 |\n"
    for text in (across, down):
        audits, asked, _ = read(tmp_path, text)
        assert (list(series(audits).values()), asked) == ([TIMES], [])


def test_an_ideal_speedup_in_brackets_is_left_out(tmp_path: Path) -> None:
    text = """
| Threads | Time (s) | Speedup (ideal) |
|---|---|---|
| 1 | 95 | 1.00 (1) |
| 2 | 50 | 1.90 (2) |
| 4 | 27.14 | 3.10 (4) |
"""
    (audit,), _, _ = read(tmp_path, text)
    assert series([audit]) == {"table": TIMES}
    assert [(remark.kind, remark.gpus) for remark in audit.remarks] == [("speedup", 4)]


@pytest.mark.parametrize("rows", [2, 3])
def test_few_efficiencies_far_above_one_that_follow_as_speedups(tmp_path: Path, rows: int) -> None:
    lines = ["| 1 | 100 | 100 % |", "| 2 | 190 | 190 % |", "| 4 | 350 | 350 % |"][:rows]
    text = "\n".join(["| GPUs | images/s | Efficiency |", "|---|---|---|", *lines])
    (audit,), asked, _ = read(tmp_path, text)
    assert (series([audit]), asked, audit.remarks) == ({"table": TIMES[:rows]}, [], ())
    assert audit.checked.speedups == rows


def test_times_below_the_word_of_a_label(tmp_path: Path) -> None:
    """`Fabric` may be an interconnect, but not if its cells have the unit of the next column."""
    text = """
| Run | Plain | Fabric |
|---|---|---|
| 1 GPU | 95 s | 190 s |
| 2 GPUs | 50 s | 100 s |
| 4 GPUs | 27.14 s | |
"""
    audits, asked, _ = read(tmp_path, text)
    assert (series(audits), asked) == ({"plain": TIMES, "fabric": TIMES[:2]}, [])


def test_percentages_below_the_word_of_a_label_are_settings(tmp_path: Path) -> None:
    rows = [
        f"| {gpus} | {rate} | {dropout} | 76% |"
        for dropout in ("0%", "10%")
        for gpus, rate in ((1, 100), (2, 190))
    ]
    text = "\n".join(["| GPUs | samples/s | Dropout | Accuracy |", "|---|---|---|---|", *rows])
    audits, _, _ = read(tmp_path, text)
    assert list(series(audits).values()) == [TIMES[:2]] * 2


def test_workers_of_a_program_are_of_all_nodes(tmp_path: Path) -> None:
    text = "| Run | Workers | Nodes | Time (s) |\n|---|---|---|---|\n| a | 4 | 1 | 30 |\n| b | 4 | 2 | 60 |\n"
    (audit,), _, _ = read(tmp_path, text)
    assert [(remark.kind, remark.gpus) for remark in audit.remarks] == [("one scale", 4)]


@pytest.mark.parametrize(
    ("header", "role", "unit"),
    [
        ("Step time (p50 ms)", "step_time_s", "ms"),
        ("Wall time p50 (s)", "time_s", "s"),
        ("Time, s (min of 3)", "time_s", "s"),
        ("Rel. throughput", "printed_speedup", ""),
        ("Norm. perf", "printed_speedup", ""),
        ("p99 step time (ms)", "ignore", ""),
        ("p50 latency (ms)", "ignore", ""),
    ],
)
def test_abbreviated_statistics(header: str, role: str, unit: str) -> None:
    meaning = meaning_of(header)
    assert (meaning.role, meaning.unit) == (role, unit)


def test_a_median_step_time_contradicts_no_throughput(tmp_path: Path) -> None:
    rows = "|---|---|---|---|\n| 1 | 100 | 200 | 400 |\n| 2 | 100 | 400 | 410 |\n| 4 | 100 | 700 | 520 |\n"
    header = "| GPUs | Batch per GPU | samples/s | {} step time (ms) |\n"
    for name, kinds in (("median", []), ("mean", ["throughput against step time"] * 3)):
        (audit,), _, _ = read(tmp_path, header.format(name) + rows)
        assert [remark.kind for remark in audit.remarks] == kinds


def test_a_column_without_a_result_is_named(tmp_path: Path) -> None:
    text = "| GPUs | tokens/s/GPU | total TFLOPS |\n|---|---|---|\n| 8 | 100 | 80 |\n| 16 | 95 | 152 |\n"
    (tmp_path / "table.md").write_text(text, encoding="utf-8")
    file = read_published(tmp_path / "table.md")
    (view,) = reading_view(file, *audit_file(file, "table"))
    assert "recomputed from another column" in view["columns"]["tokens/s/GPU"]


def test_the_row_of_printed_speedups_without_measurements(tmp_path: Path) -> None:
    text = "| Processes | Speedup |\n|---|---|\n| 1 | 1.00x |\n| 2 | 1.9x |\n"
    (audit,), _, _ = read(tmp_path, text)
    assert [remark.sentence.rpartition("the ")[2] for remark in audit.remarks] == [
        "printed speedups are relative to line 3 with 1x"
    ]


@pytest.mark.parametrize("cell", ["baseline", "**baseline**", "Reference", "(base)"])
def test_a_cell_that_says_baseline_needs_no_note(tmp_path: Path, cell: str) -> None:
    text = f"| Workers | Time (s) | vs 1 worker |\n|---|---|---|\n| 1 | 95 | {cell} |\n| 2 | 50 | 1.9x faster |\n"
    (audit,), asked, notes = read(tmp_path, text)
    assert (series([audit]), asked, notes, audit.remarks) == ({"table": TIMES[:2]}, [], "", ())


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("Threads", "1T 2T **4T**"),
        ("Threads", "T1 T2 T4"),
        ("GPU Num", "1p 2p 4p"),
        ("MPI Processes", "1 process|2 processes|4 processes"),
        ("Nodes", "1 N|2 N|4 N"),
    ],
)
def test_a_letter_beside_the_number_of_devices(tmp_path: Path, header: str, cells: str) -> None:
    counts = cells.split("|") if "|" in cells else cells.split()
    rows = "".join(f"| {count} | {rate} |\n" for count, rate in zip(counts, (100, 190, 350), strict=True))
    audits, asked, _ = read(tmp_path, f"| {header} | samples/s |\n|---|---|\n{rows}")
    assert (series(audits), asked) == ({"table": TIMES}, [])


@pytest.mark.parametrize("header", ["S", "GPU(s)", "", "#", "ss"])
def test_headers_without_a_noun_do_no_harm(tmp_path: Path, header: str) -> None:
    rows = "| 1 | 1s | 100 |\n| 2 | 2s | 190 |\n| 4 | 4s | 350 |\n"
    audits, asked, _ = read(tmp_path, f"| GPUs | {header} | samples/s |\n|---|---|---|\n{rows}")
    assert (series(audits), asked) == ({"table": TIMES}, [])


def test_letters_with_the_numbers_of_rows_are_names(tmp_path: Path) -> None:
    text = "| Threads | samples/s |\n|---|---|\n| T1 | 100 |\n| T2 | 101 |\n| T3 | 99 |\n"
    with pytest.raises(ValueError, match="no column of devices"):
        read(tmp_path, text)


@pytest.mark.parametrize("header", ["MB/s", "GB/s", "Encode MiB/s", "decode (MB/s)"])
def test_data_per_second_is_a_throughput_where_nothing_else_is_measured(tmp_path: Path, header: str) -> None:
    rows = "| 1 | 100 | 1.0 |\n| 2 | 190 | 1.9 |\n| 4 | 350 | 3.1 |\n"
    text = f"| Threads | {header} | Speedup |\n|---|---|---|\n{rows}"
    (audit,), asked, _ = read(tmp_path, text)
    assert (series([audit]), asked) == ({"table": TIMES}, [])
    assert [(remark.kind, remark.gpus) for remark in audit.remarks] == [("speedup", 4)]


@pytest.mark.parametrize("header", ["MB/s", "Network bandwidth (GB/s)"])
def test_data_per_second_beside_a_throughput_is_not_read(tmp_path: Path, header: str) -> None:
    text = f"| GPUs | samples/s | {header} |\n|---|---|---|\n| 1 | 100 | 9 |\n| 2 | 190 | 9 |\n| 4 | 350 | 9 |\n"
    (audit,), asked, _ = read(tmp_path, text)
    assert (series([audit]), asked, audit.source.unread) == ({"table": TIMES}, [], (header,))


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("CPU efficiency (%)", ("97", "80", "45")),
        ("Test duration sum", ("90 s", "99 s", "120 s")),
        ("Cumulative time (s)", ("90", "99", "120")),
    ],
)
def test_what_is_summed_over_workers_is_not_read_beside_the_clock(
    tmp_path: Path, header: str, cells: tuple[str, ...]
) -> None:
    rows = "".join(
        f"| {count} | {time} | {cell} |\n"
        for count, time, cell in zip((1, 2, 4), (95, 50, 27.14), cells, strict=True)
    )
    (audit,), asked, _ = read(tmp_path, f"| Workers | Wall time (s) | {header} |\n|---|---|---|\n{rows}")
    assert (series([audit]), asked, audit.source.unread, audit.remarks) == ({"table": TIMES}, [], (header,), ())


def test_of_several_statistics_of_a_step_the_middle_is_read(tmp_path: Path) -> None:
    text = """
| Phase | 1-GPU | 2-GPU | 4-GPU |
|---|---|---|---|
| Step Med (ms) | 100 | 105 | 112 |
| Step Min (ms) | 90 | 94 | 50 |
| Step Max (ms) | 150 | 900 | 400 |
| Backward Med (ms) | 60 | 61 | 62 |
| Scaling efficiency | 100% | 95.2% | 89.3% |
"""
    (audit,), asked, _ = read(tmp_path, text)
    assert (series([audit]), asked, audit.remarks) == ({"table": [(1, 1.0), (2, 1.9), (4, 3.57)]}, [], ())
    assert audit.checked.efficiencies == 3


@pytest.mark.parametrize("header", ["`run_training_batch` avg (ms)", "train_batch (ms)", "Step max (ms)"])
def test_a_batch_with_a_unit_of_time_is_a_step(header: str) -> None:
    meaning = meaning_of(header)
    assert (meaning.role, meaning.unit) == ("step_time_s", "ms")


@pytest.mark.parametrize(
    ("header", "shares", "kinds"),
    [
        ("MFU", ("40%", "38%", "35%"), []),
        ("MFU", ("40%", "38%", "42%"), ["utilization"]),
        ("MFU (%)", ("40", "38", "42"), ["utilization"]),
        ("MFU", ("0.40", "0.38", "0.42"), ["utilization"]),
        ("HFU", ("40%", "38%", "42%"), []),
    ],
)
def test_the_utilization_changes_as_the_throughput_of_a_device(
    tmp_path: Path, header: str, shares: tuple[str, ...], kinds: list[str]
) -> None:
    rows = zip((1, 2, 4), (1000, 1900, 3500), shares, strict=True)
    lines = "".join(f"| {gpus} | {rate} | {used} |\n" for gpus, rate, used in rows)
    (audit,), asked, _ = read(tmp_path, f"| GPUs | tokens/s | {header} |\n|---|---|---|\n{lines}")
    assert (series([audit]), asked) == ({"table": TIMES}, [])
    assert [remark.kind for remark in audit.remarks] == kinds
    if kinds:
        assert audit.remarks[0].sentence.startswith(
            "the share of the peak FLOP/s is 1.05 times that on 1, but the"
        )


def test_labels_that_repeat_their_devices_are_one_series(tmp_path: Path) -> None:
    text = """
| probe | threads | GB/s |
|---|---|---|
| xor (1 thread) | 1 | 100 |
| sum (1 thread) | 1 | 10 |
| xor (all threads) | 4 | 350 |
| sum (all threads) | 4 | 31 |
"""
    audits, asked, _ = read(tmp_path, text)
    assert (series(audits), asked) == ({"xor": [(1, 1.0), (4, 3.5)], "sum": [(1, 1.0), (4, 3.1)]}, [])


@pytest.mark.parametrize("header", ["Num threads", "Threads", "# of cores"])
def test_the_corner_names_the_devices_across(tmp_path: Path, header: str) -> None:
    rows = "| lru | 95 | 50 | 27.14 |\n| clock | 190 | 100 | 54.28 |\n"
    audits, asked, _ = read(
        tmp_path, f"**Elapsed time (s)**\n\n| {header} | 1 | 2 | 4 |\n|---|---|---|---|\n{rows}"
    )
    assert (series(audits), asked) == ({"lru": TIMES, "clock": TIMES}, [])
    assert header in [column.header for column in audits[0].source.columns]


def test_a_caption_does_not_make_speedups_of_large_numbers(tmp_path: Path) -> None:
    text = "### Scaling study\n\n| Cores | big |\n|---|---|\n| 8 | {} |\n| 16 | {} |\n| 32 | {} |\n"
    with pytest.raises(ValueError, match="if they are times"):
        read(tmp_path, text.format(363.8, 190.1, 101.3))
    audits, _, _ = read(tmp_path, text.format(1, 1.9, 3.5))
    assert audits


@pytest.mark.parametrize("word", ["Timed out", "❌ Failed", "crashed", "DNF"])
def test_a_failed_run_is_no_baseline(tmp_path: Path, word: str) -> None:
    text = f"""
| Workers | Time (s) | Status |
|---|---|---|
| 1 | 5016 | {word} |
| 2 | 95 | Complete |
| 4 | 50 | Complete |
"""
    (audit,), asked, notes = read(tmp_path, text)
    assert (series([audit]), asked) == ({"table": [(2, 1.0), (4, 1.9)]}, [])
    assert "line 4 is marked as failed or not measured, so it was left out" in notes


def test_a_goal_that_was_missed_is_no_failed_run(tmp_path: Path) -> None:
    rows = "| 1 | 10 | PASS |\n| 2 | 6 | PASS |\n| 4 | 5 | FAIL (close) |\n| 8 | 4 | FAIL |\n"
    (audit,), _, _ = read(tmp_path, f"| Threads | Time (s) | Gate (>75%) |\n|---|---|---|\n{rows}")
    assert [gpus for gpus, _ in series([audit])["table"]] == [1, 2, 4, 8]


def test_a_failed_measurement_leaves_the_others_of_its_row(tmp_path: Path) -> None:
    rows = "| 1 | 100 | 90 |\n| 2 | 190 | failed |\n| 4 | 350 | 300 |\n"
    audits, _, _ = read(tmp_path, f"| GPUs | DDP (img/s) | FSDP (img/s) |\n|---|---|---|\n{rows}")
    assert TIMES in series(audits).values()


def test_a_label_called_none_is_a_name(tmp_path: Path) -> None:
    rows = "| `none` (1 GPU) | 100 |\n| `naive` (2 GPU) | 150 |\n| `good` (2 GPU) | 190 |\n"
    audits, asked, _ = read(tmp_path, f"| Method | tok/s |\n|---|---|\n{rows}")
    assert (list(series(audits).values()), asked) == ([[(1, 1.0), (2, 1.5)], [(1, 1.0), (2, 1.9)]], [])


def test_a_row_of_times_between_efficiencies_is_left_out_and_named(tmp_path: Path) -> None:
    text = """
| Mode / scaling | 8 GPU | 16 GPU | 24 GPU |
|---|---|---|---|
| weak (step ms) | 58 | 375 | 713 |
| weak efficiency | 100% | 15.5% | 8.1% |
| strong efficiency | 100% | 6.8% | 2.7% |
"""
    audits, _, notes = read(tmp_path, text)
    assert [audit.case for audit in audits] == ["weak efficiency", "strong efficiency"]
    assert "line 4 has no ratios as the others do and was left out" in notes


def test_a_latency_of_micro_batches_is_no_batch() -> None:
    assert meaning_of("latência micro-batch (ms)").role != "batch_per_gpu"


def test_the_statistic_that_printed_speedups_follow_from_has_them(tmp_path: Path) -> None:
    rows = "| 1 | 0.95 | 1.06 | 1.00 |\n| 2 | 0.50 | 0.59 | 1.90 |\n| 4 | 0.2714 | 0.41 | {} |\n"
    text = f"| Threads | Min [s] | Mean [s] | Speedup |\n|---|---|---|---|\n{rows}"
    means = [(1, 1.0), (2, 1.8), (4, 2.59)]
    for printed, checked in ((text.format("3.50"), [3, 0]), (text.format("2.59").replace("1.90", "1.80"), [0, 3])):
        audits, _, _ = read(tmp_path, printed)
        assert series(audits) == {"min": TIMES, "mean": means}
        assert [(audit.remarks, audit.checked.speedups) for audit in audits] == [((), count) for count in checked]


@pytest.mark.parametrize("cells", ["x1 (x1)|x1.90 (x2)|x3.10 (x4)", "x1   (x1)|x1.9   (x2)|x3.1 (x4)"])
def test_ideal_speedups_in_brackets_with_a_sign_in_front(tmp_path: Path, cells: str) -> None:
    given = zip((1, 2, 4), (95, 50, 27.14), cells.split("|"), strict=True)
    rows = "".join(f"| {gpus} GPU | {time} s | {cell} |\n" for gpus, time, cell in given)
    (audit,), _, _ = read(tmp_path, f"| Number of GPUs | Epoch time | Speedup (Ideal) |\n|---|---|---|\n{rows}")
    assert (series([audit]), [remark.kind for remark in audit.remarks]) == ({"table": TIMES}, ["speedup"])


@pytest.mark.parametrize(
    ("cells", "counts"),
    [
        ("单机1卡 单机8卡 两机8卡", (1, 8, 16)),
        ("1机8卡 2机16卡 4机32卡", (8, 16, 32)),
        ("单机8卡 双机8卡 4机8卡", (8, 16, 32)),
    ],
)
def test_chinese_nodes_with_cards(tmp_path: Path, cells: str, counts: tuple[int, ...]) -> None:
    rows = "".join(f"| {cell} | {100 * count} |\n" for cell, count in zip(cells.split(), counts, strict=True))
    audits, asked, _ = read(tmp_path, f"| 训练资源 | 性能(samples/s) |\n|---|---|\n{rows}")
    assert ([gpus for one in series(audits).values() for gpus, _ in one], asked) == ([*counts], [])


def test_cards_of_each_machine(tmp_path: Path) -> None:
    rows = "| a | 1x | 1 | 8 | 10h |\n| a | 1x | 2 | 8 | 5.5h |\n"
    text = f"| 模型 | 训练策略 | 机器数量 | 每台机器的GPU数量 | 训练时间 |\n|---|---|---|---|---|\n{rows}"
    audits, asked, _ = read(tmp_path, text)
    assert (list(series(audits).values()), asked) == ([[(8, 1.0), (16, 1.82)]], [])


def test_thousands_of_threads_with_a_space(tmp_path: Path) -> None:
    text = "| threads | requests/s |\n|---|---|\n| 500 | 10 000 |\n| 1 000 | 19 000 |\n| 2 000 | 35 000 |\n"
    (audit,), asked, _ = read(tmp_path, text)
    assert (series([audit]), asked) == ({"table": [(500, 1.0), (1000, 1.9), (2000, 3.5)]}, [])


@pytest.mark.parametrize("sign", ["//! ", "/// ", "// "])
def test_a_table_in_comments_of_documentation(tmp_path: Path, sign: str) -> None:
    lines = ["# Speed", "", "| threads | speed-up |", "|---|---|", "| 1 | 1.0x |", "| 2 | 1.9x |", "| 4 | 3.5x |"]
    audits, _, _ = read(tmp_path, "\n".join(f"{sign}{line}".rstrip() for line in lines))
    assert [scale.row.gpus for scale in audits[0].table.scales] == [1, 2, 4]


def test_repeats_with_the_names_of_trials(tmp_path: Path) -> None:
    rows = "| 1 | 96 s first trial, 94 s second trial |\n| 2 | 51 s first trial, 49 s second trial |\n"
    (audit,), _, notes = read(tmp_path, f"| Workers | Time |\n|---|---|\n{rows}")
    assert series([audit]) == {"table": TIMES[:2]}
    assert "such as '96 s first trial, 94 s second trial' as 95" in notes


def test_a_label_that_names_devices_keeps_its_name(tmp_path: Path) -> None:
    text = """
| Workers | 1 GPU | 2 GPUs | 4 GPUs |
|---|---|---|---|
| 12 | 95 s | 50 s | 27.14 s |
| 24 | 190 s | 100 s | 54.28 s |
"""
    audits, asked, _ = read(tmp_path, text)
    assert (series(audits), asked) == ({"workers 12": TIMES, "workers 24": TIMES}, [])


def test_threads_of_all_ranks_are_not_multiplied(tmp_path: Path) -> None:
    rows = "| 1 | 104 | 95 |\n| 2 | 208 | 50 |\n| 4 | 416 | 27.14 |\n"
    audits, asked, _ = read(tmp_path, f"| Ranks | Threads | Time (s) |\n|---|---|---|\n{rows}")
    assert (series(audits), asked) == ({"table": TIMES}, [])


def test_fewer_times_the_work_of_itself_is_no_remark(tmp_path: Path) -> None:
    text = "| Processes | Speedup |\n|---|---|\n| 1 | 0.97x |\n| 2 | 1.9x |\n"
    (audit,), _, _ = read(tmp_path, text)
    assert "negative scaling" not in [remark.kind for remark in audit.remarks]
