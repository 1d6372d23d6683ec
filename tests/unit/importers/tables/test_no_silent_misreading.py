"""Tables that were once read in silence as something else: they are read rightly, or the audit asks."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import audit_file
from scalestudy.errors import UserError
from scalestudy.importers.columns.meanings import Corrections
from scalestudy.importers.headers.meaning import NAMELESS
from scalestudy.importers.reading import read_published
from test_more_printed_habits import kinds
from test_printed_habits import ONCE, audited, speedups, table


@pytest.mark.parametrize(
    "text",
    [
        "**Solver Performance**\n\n" + table("Machine;1 node;2 nodes;3 nodes", "A;30.8;17.5;10.4", "B;48;43;19"),
        table("Store;1 Node;2 Nodes;4 Nodes;Avg Latency (4N)", "A;1.8 GB/s;2.1 GB/s;7.3 GB/s;86.5 ms")
        + "| B | 3.4 GB/s | 1.9 GB/s | 2.7 GB/s | 152 ms |\n",
        "Setup: strong scaling mode.\n\n" + table("Store;1 Node;2 Nodes", "A;1.8;2.1", "B;3.4;1.9"),
        table("Period;1 worker;2 workers", "10 ms;23.6;355.7", "50 ms;7.3;6.9", "Unlimited;5.9;5.9"),
    ],
    ids=["performance-above", "rates-of-data", "scaling-above", "times-as-labels"],
)
def test_numbers_below_devices_without_a_kind_are_asked_about(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.md"
    path.write_text(text)
    with pytest.raises(UserError, match="what are the numbers below the devices"):
        read_published(path)


def test_a_further_measurement_behind_the_devices_is_not_of_every_size(tmp_path: Path) -> None:
    cells = ["A;100 req/s;190 req/s;350 req/s;86 ms", "B;50 req/s;95 req/s;175 req/s;90 ms"]
    found = audited(tmp_path, table("Store;1 GPU;2 GPUs;4 GPUs;Avg Latency (4N)", *cells))
    assert [speedups(one) for one in found] == [ONCE, ONCE]


def test_rows_with_a_name_each_are_one_series(tmp_path: Path) -> None:
    cells = ["run7;1 GPU;~180s;1.00x;100%", "run8;4 GPUs;~60s;**3.0x**;**75%**"]
    (found,) = audited(tmp_path, table("Experiment;Setup;Time/Epoch;Speedup;Efficiency", *cells))
    assert (found.checked.speedups, found.checked.efficiencies, kinds([found])) == (2, 2, [])


def test_one_size_is_not_the_baseline_of_its_own_speedup(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("case;GPUs;img/s;Speedup;Efficiency", "a;4;300;3.0;75%"))
    assert (found.checked.speedups, kinds([found])) == (0, ["one scale"])


def test_a_serial_run_beside_one_worker_is_the_baseline(tmp_path: Path) -> None:
    cells = ["Sequential;2.000;1.00x;-", "1 worker;1.600;1.25x;125.0%", "2 workers;1.000;2.00x;100.0%"]
    cells.append("4 workers;0.625;3.20x;80.0%")
    (found,) = audited(tmp_path, table("Workers;Time (s);Speedup;Efficiency", *cells))
    assert (found.checked.speedups, found.checked.efficiencies, kinds([found])) == (3, 3, [])


def test_a_serial_run_alone_is_one_device(tmp_path: Path) -> None:
    (found,) = audited(
        tmp_path, table("Workers;Time (s);Speedup", "Sequential;100;1.0", "2;52.6;1.9", "4;28.57;3.5")
    )
    assert speedups(found) == ONCE


@pytest.mark.parametrize("labels", ["Serial (1);Parallel 2;Parallel 4", "`--jobs 1`;`--jobs 2`;`--jobs 4`"])
def test_workers_in_labels(tmp_path: Path, labels: str) -> None:
    times = ("100", "52.6", "28.57")
    cells = [";".join(pair) for pair in zip(labels.split(";"), times, strict=True)]
    (found,) = audited(tmp_path, table("Configuration;Time (s)", *cells))
    assert speedups(found) == ONCE


def test_a_label_without_a_number_of_devices_is_named(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("Arm;Time (s)", "`--jobs 1`;100", "`--jobs 2`;52.6", "automatic;51"))
    with pytest.raises(UserError, match="'automatic' in the column 'Arm' names no number of devices"):
        read_published(path)


def test_a_scaling_in_per_cent_shows_that_numbers_are_throughputs(tmp_path: Path) -> None:
    cells = ["`a`;35,800;57,200;**160%**", "`b`;21,300;35,200;**165%**", "c;85,000;91,300;107%†"]
    found = audited(tmp_path, table("Adapter;1 worker;2 workers;Scaling", *cells))
    assert ([one.checked.speedups for one in found], kinds(found)) == ([1, 1, 1], [])


def test_a_throughput_of_constant_work_is_that_of_all_workers(tmp_path: Path) -> None:
    cells = ["Total duration;0.740 s;0.612 s", "p50 latency;0.158 s;0.188 s", "Throughput;6.76 t/s;8.17 t/s"]
    (found,) = audited(tmp_path, table("Metric;1 Worker;2 Workers", *cells))
    assert speedups(found) == [(1, 1.0), (2, 1.21)]


def test_names_in_a_column_without_a_header_are_not_passed_over_in_silence(tmp_path: Path) -> None:
    """They may be models, so that the rows cannot be compared."""
    text = table(";ranks;time", "A with 2B (works);8;12.0 s", "B with 30B;32;5.2 s")
    path = tmp_path / "table.md"
    path.write_text(text)
    (found,) = read_published(path).tables
    assert found.unread == (NAMELESS,)
    assert any("(A with 2B (works), B with 30B)" in note for note in found.notes)
    (told,) = read_published(path, Corrections({NAMELESS: "model"})).tables
    assert (told.unread, [row.labels.get("model") for row in told.rows]) == (
        (),
        ["A with 2B (works)", "B with 30B"],
    )


def test_numbers_of_rows_without_a_header_need_no_note(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(",gpus,throughput\n0,1,100\n1,2,190\n")
    (found,) = read_published(path).tables
    assert (found.unread, found.notes) == ((), ())


def test_a_throughput_that_falls_is_asked_about(tmp_path: Path) -> None:
    """Of each worker it is usual; of all workers it would be negative scaling."""
    path = tmp_path / "table.md"
    path.write_text(table("Workers;Throughput", "2;20.5", "8;13.1", "16;8.4"))
    _, (asked,) = audit_file(read_published(path), "table")
    assert (asked.question.kind, asked.question.course) == ("throughput", "falls")
    far = table("Workers;Throughput", "1;20.5", "2;3.1", "4;3.4")
    assert speedups(audited(tmp_path, far)[0]) == [(1, 1.0), (2, 0.15), (4, 0.17)]


def test_spaces_between_thousands_are_no_columns_of_a_plain_text(tmp_path: Path) -> None:
    text = (
        "Setup  Rate (tok/s)  Speedup  Remark\none    38 000        1\n"
        "two    72 200        1.9      same node\nfour   133 000       3.5      two nodes\n"
    )
    (found,) = audited(tmp_path, text)
    assert (speedups(found), kinds([found])) == ([(1, 1.0), (2, 1.9), (4, 3.5)], [])


_BLOCKS = {
    "before": ("corpus;jobs;time (s);speedup", "{0};{1};{2};{3}"),
    "behind": ("workers;time (s);speedup;corpus", "{1};{2};{3};{0}"),
    "of-results": ("epochs;workers;time (s);speedup", "{0};{1};{2};{3}"),
    "devices-in-labels": ("Corpus;Arm;Median;Speedup", "{0};--jobs {1};{2} s;{3}x"),
    "beside-an-id": ("run;corpus;workers;time (s);speedup;memory (GB)", "{4};{0};{1};{2};{3};3"),
}


@pytest.mark.parametrize(("header", "row"), _BLOCKS.values(), ids=_BLOCKS)
def test_a_number_that_is_the_same_over_a_block_of_sizes_is_a_label(tmp_path: Path, header: str, row: str) -> None:
    cells = [("64", 1, 10.0, 1.0), ("64", 2, 5.6, 1.79), ("64", 4, 3.2, 3.13)]
    cells += [("1000", 1, 120.0, 1.0), ("1000", 2, 62.0, 1.94), ("1000", 4, 33.0, 3.64)]
    found = audited(tmp_path, table(header, *(row.format(*one, at) for at, one in enumerate(cells, start=1))))
    assert [one.checked.speedups for one in found] == [3, 3]
    assert kinds(found) == []
    assert [[round(ratio, 2) for _, ratio in speedups(one)] for one in found] == [[1, 1.79, 3.12], [1, 1.94, 3.64]]


@pytest.mark.parametrize(
    ("header", "values"),
    [("memory (GB)", (3, 4, 5, 7, 8, 9)), ("trial", (1, 1, 1, 2, 2, 2)), ("loss", (3, 3, 4, 4, 5, 5))],
    ids=["measured", "repeats", "rounded"],
)
def test_other_numbers_behind_the_measurements_are_no_labels(
    tmp_path: Path, header: str, values: tuple[int, ...]
) -> None:
    times = [(1, 10.0), (2, 5.6), (4, 3.2), (1, 10.2), (2, 5.5), (4, 3.1)]
    rows = [f"{size};{time};{value}" for (size, time), value in zip(times, values, strict=True)]
    (found,) = audited(tmp_path, table(f"workers;time (s);{header}", *rows))
    assert kinds([found]) == ["printed twice"] * 3


_VARIANTS = ["single: 100 s", "DP (2 GPUs): 60 s", "DDP (2 GPUs): 50 s", "DP (4 GPUs): 40 s", "DDP (4 GPUs): 25 s"]


@pytest.mark.parametrize(
    "text",
    ["\n".join(_VARIANTS) + "\n", table("GPUs;time", *(line.replace(": ", ";") for line in _VARIANTS))],
    ids=["list", "table"],
)
def test_words_before_the_devices_name_variants_and_are_not_averaged(tmp_path: Path, text: str) -> None:
    found = audited(tmp_path, text)
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.67), (4, 2.5)], [(1, 1.0), (2, 2.0), (4, 4.0)]]
    assert "printed twice" not in kinds(found)


def test_hardware_before_the_devices_stays_hardware(tmp_path: Path) -> None:
    cells = ["V100 x 1;10", "A100 x 1;20", "V100 x 4;38", "A100 x 4;70"]
    found = audited(tmp_path, table("GPUs;img/s", *cells))
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 3.8)], [(1, 1.0), (4, 3.5)]]


@pytest.mark.parametrize(("form", "other"), [("`--jobs {}`", "automatic"), ("parallel - {} workers", "as before")])
def test_a_label_without_a_number_beside_those_of_one_to_four_is_left_out(
    tmp_path: Path, form: str, other: str
) -> None:
    rows = [f"{form.format(devices)};{time_s} s" for devices, time_s in ((1, 100), (2, 52.6), (4, 28.57))]
    text = table("Arm;Median", *rows, f"{other};30 s")
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE
    path = tmp_path / "again.md"
    path.write_text(text)
    (read,) = read_published(path).tables
    assert any(f"'{other}' names no number of devices" in note for note in read.notes)


@pytest.mark.parametrize(
    "rows",
    [
        ["`--jobs 2`;52.6 s", "`--jobs 4`;28.57 s", "automatic;30 s"],
        ["at 1 worker;100 s", "DDP 2 workers;52.6 s", "FSDP 4 workers;28.57 s", "automatic;30 s"],
        ["at 1 worker;100 s", "at 2 workers;52.6 s", "at 4 workers;28.57 s", "automatic;30 s", "threads;40 s"],
    ],
    ids=["no-one", "other-words", "half"],
)
def test_labels_without_a_number_are_asked_about_if_the_others_say_less(tmp_path: Path, rows: list[str]) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("Arm;Median", *rows))
    with pytest.raises(UserError, match="names no number of devices: name it there, or leave its rows out"):
        read_published(path)
