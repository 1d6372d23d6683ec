"""Devices that headers and labels name with degrees, ids, options or nouns, and runs that are sequential."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import audit_file
from scalestudy.importers.headers import meaning_of
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


@pytest.mark.parametrize("word", ["Sequential", "Secuencial", "Séquentiel", "Sequentiell", "Sequencial", "串行"])
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
