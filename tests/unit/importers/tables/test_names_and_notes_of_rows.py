"""Names of rows that say more than devices, and rows that are no measurement of the others' quantity."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import Asked, audit_file
from scalestudy.importers.reading import read_published
from test_printed_habits import audited, speedups, table

ACROSS = "1 thread;8 threads;12 threads"


def kinds(tmp_path: Path, text: str) -> list[str]:
    return [remark.kind for one in audited(tmp_path, text) for remark in one.remarks]


def asked(tmp_path: Path, text: str) -> list[Asked]:
    (tmp_path / "table.md").write_text(text, encoding="utf-8")
    return audit_file(read_published(tmp_path / "table.md"), "table")[1]


@pytest.mark.parametrize("header", ["Temps mural / métrique", "Wall time / metric", "Laufzeit"])
def test_names_below_a_time_are_labels_and_memory_is_no_time(tmp_path: Path, header: str) -> None:
    rows = [
        "Préparation application/OCP;62.053 s;31.3 s;21.7 s",
        "Hessienne, moyenne/appel;9.376 s;5.135 s;4.823 s",
        "Pic RSS;27.165 GiB;22.931 GiB;22.912 GiB",
    ]
    found = audited(tmp_path, table(f"{header};{ACROSS}", *rows))
    assert [speedups(one) for one in found] == [
        [(1, 1.0), (8, 1.98), (12, 2.86)],
        [(1, 1.0), (8, 1.83), (12, 1.94)],
    ]
    assert any("27.165 GiB" in note for note in found[0].source.notes)


@pytest.mark.parametrize("unit", ["Mh/s/GPU", "img/s/GPU", "tokens/s per GPU"])
def test_a_rate_whose_cells_all_say_per_device(tmp_path: Path, unit: str) -> None:
    rows = [f"{n};{rate} {unit}" for n, rate in ((1, 8.1), (2, 8.0), (8, 7.0))]
    (found,) = audited(tmp_path, table("# of GPUs;Rate", *rows))
    assert speedups(found) == [(1, 1.0), (2, 1.98), (8, 6.91)]
    assert found.source.column("throughput_per_gpu") is not None


@pytest.mark.parametrize(
    "noun", ["torch thread", "worker thread", "parallel worker", "virtual core", "Python process"]
)
def test_a_word_between_a_number_and_its_devices(tmp_path: Path, noun: str) -> None:
    plural = noun.replace("process", "processe") + "s"
    rows = (f"1 {noun};368 img/s", f"2 {plural};700 img/s", f"4 {plural};1300 img/s")
    (found,) = audited(tmp_path, table("Configuration;Rate", *rows))
    assert speedups(found) == [(1, 1.0), (2, 1.9), (4, 3.53)]


def test_names_with_the_number_of_another_column_are_one_name(tmp_path: Path) -> None:
    rows = (
        "reactive-1w;1;2;103.99;1.00x",
        "reactive-2w;2;4;54.62;1.90x",
        "reactive-4w;4;8;28.57;3.64x",
        "reactive-4w-auto;1→4;2→8;103.96;1.00x",
        "proactive-4w;4;8;28.64;3.63x",
        "proactive-6w;6;12;19.91;5.22x",
    )
    found = audited(tmp_path, table("Config;Workers;CPUs;Time (s);Speedup", *rows))
    assert speedups(found[0]) == [(2, 1.0), (4, 1.9), (8, 3.64)]
    assert any(note.startswith("line 6") for note in found[0].source.notes)


def test_thousands_with_blanks_in_a_range(tmp_path: Path) -> None:
    rows = ("1 thread;200 000 – 400 000", "8 threads;1 500 000 – 3 000 000")
    (found,) = audited(tmp_path, table("Configuration;Reads/second", *rows))
    assert speedups(found) == [(1, 1.0), (8, 7.5)]


def test_a_projected_number_of_nodes_is_no_measurement(tmp_path: Path) -> None:
    rows = ("1;8;142.6", "8;64;1140.8", "16 (projected);128;2281.6")
    (found,) = audited(tmp_path, table("Nodes;GPUs;samples/s", *rows))
    assert speedups(found) == [(8, 1.0), (64, 8.0)]
    assert any(note.startswith("line 5") for note in found.source.notes)


def test_what_added_devices_gain_is_no_efficiency(tmp_path: Path) -> None:
    rows = ("1;121.3;1.00x;-", "2;105.0;1.16x;0.16", "4;101.3;1.20x;0.07", "8;97.0;1.25x;0.04")
    (found,) = audited(tmp_path, table("GPUs;Time (s);Speedup;Scaling eff.", *rows))
    assert not [one for one in found.remarks if one.kind == "efficiency"]
    assert "Scaling eff." in found.source.unread
    usual = ("1;121.3;1.00x;1.00", "2;70.0;1.73x;0.87", "4;45.0;2.70x;0.67", "8;30.0;4.04x;0.51")
    (found,) = audited(tmp_path, table("GPUs;Time (s);Speedup;Scaling eff.", *usual))
    assert found.checked.efficiencies == 4


def test_a_flat_rate_beside_one_that_grows_is_of_all_devices(tmp_path: Path) -> None:
    rows = ("1;1200;1100", "2;1150;2100", "4;1180;4000")
    found = audited(tmp_path, table("Threads;Mutex (ops/s);Lock-free (ops/s)", *rows))
    assert [speedups(one) for one in found] == [
        [(1, 1.0), (2, 0.96), (4, 0.98)],
        [(1, 1.0), (2, 1.91), (4, 3.64)],
    ]
    assert asked(tmp_path, table("Threads;Mutex (ops/s)", *(row.rpartition(";")[0] for row in rows)))


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("Operation", ("Large-Scale Sequential", "Concurrent Building")),
        ("Variant", ("INT4 AWQ", "BF16 (tensor parallel)")),
        ("Name", ("ANI", "Allegro")),
    ],
)
def test_rows_of_other_names_have_a_remark(tmp_path: Path, header: str, names: tuple[str, str]) -> None:
    rows = (f"{names[0]};1;100", f"{names[1]};4;300")
    assert kinds(tmp_path, table(f"{header};GPUs;img/s", *rows)) == ["confounded"]


@pytest.mark.parametrize(
    "names", [("Serial", "MPI"), ("run 1", "run 2"), ("p3.2xlarge", "p3.8xlarge"), ("One GPU", "All GPUs")]
)
def test_names_that_say_no_more_than_devices_have_none(tmp_path: Path, names: tuple[str, str]) -> None:
    rows = (f"{names[0]};1;100", f"{names[1]};4;300")
    assert not kinds(tmp_path, table("Name;GPUs;img/s", *rows))


def test_rows_whose_ratios_are_printed_are_compared_by_their_authors(tmp_path: Path) -> None:
    rows = ("ANI;1;100;1.0x", "Allegro;4;300;3.0x")
    assert not kinds(tmp_path, table("Name;GPUs;img/s;Speedup", *rows))


def test_advice_on_a_run_is_not_its_work(tmp_path: Path) -> None:
    rows = ("1 thread;272 req/s;Low-latency, low-volume", "8 threads;536 req/s;**AVOID** - worse on both")
    assert not kinds(tmp_path, table("Configuration;Throughput;Use Case", *rows))
    rows = ("1 thread;272 req/s;Sorting", "8 threads;536 req/s;Merging")
    assert kinds(tmp_path, table("Configuration;Throughput;Use Case", *rows)) == ["confounded"]


@pytest.mark.parametrize("latency", ["Median latency (ms)", "Avg. response time", "Latency p50 (ms)"])
def test_a_flat_rate_beside_latencies_that_grow_as_the_threads_is_of_all(tmp_path: Path, latency: str) -> None:
    rows = ["1;46.48;20.93;27.7", "2;47.15;40.49;59.6", "4;44.40;83.78;147.9", "8;48.22;154.76;230.7"]
    header = f"Threads;Throughput (records/s);{latency};p95 latency (ms)"
    (found,) = audited(tmp_path, table(header, *rows))
    assert speedups(found) == [(1, 1.0), (2, 1.01), (4, 0.96), (8, 1.04)]
    of_each = ["1;46.48;20.93;27.7", "2;47.15;20.49;29.6", "4;44.40;23.78;47.9", "8;48.22;20.76;30.7"]
    assert asked(tmp_path, table(header, *of_each))
    tails = [row.replace(row.split(";")[2] + ";", "") for row in rows]
    assert asked(tmp_path, table("Threads;Throughput (records/s);p95 latency (ms)", *tails))
