"""Forms of headers, cells and layouts, each tried in combination before it was met in a table of others."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.counts.cells import read_count
from scalestudy.importers.counts.headers import count_of_header
from scalestudy.importers.numbers.printed import plain, read_cell
from scalestudy.importers.reading import read_published
from test_printed_habits import RATES, TIMES, audited, beside, speedups, table

ONCE = [(1, 1.0), (2, 1.9), (4, 3.5)]


@pytest.mark.parametrize(
    "header",
    [
        *(
            "Dask workers",
            "Rollout workers",
            "Jobs",
            "n_jobs",
            "--jobs",
            "Cluster size",
            "Scale (# GPUs)",
            "CPU count",
        ),
        *("GPU amount", "Numbers of GPUs", "Compute nodes", "#p", "$p$", "Local GPUs", "Env runners"),
    ],
)
def test_names_of_devices(tmp_path: Path, header: str) -> None:
    (found,) = audited(tmp_path, table(f"{header};Time (s)", *beside("1;2;4", TIMES)))
    assert speedups(found) == ONCE


@pytest.mark.parametrize("header", ["Tp (s)", "T_par", "real", "sec", "ms"])
def test_names_of_times(tmp_path: Path, header: str) -> None:
    (found,) = audited(tmp_path, table(f"GPUs;{header}", *beside("1;2;4", TIMES)))
    assert speedups(found) == ONCE


@pytest.mark.parametrize(
    "header", ["Tensor parallel size;1;2;4", "Setup;1x;2x;4x", "GPUs;1.0;2.0;4.0", "Config;1x1;1x2;1x4"]
)
def test_devices_across_as_any_count(tmp_path: Path, header: str) -> None:
    (found,) = audited(tmp_path, table(header, "Total (s);100;52.6;28.57"))
    assert speedups(found) == ONCE


def test_nodes_times_devices() -> None:
    assert read_count("1 node × 1 GPU").gpus == 1
    named = count_of_header("2 nodes × 4 GPUs")
    assert named is not None
    assert named[0].gpus == 8


def test_pictures_and_mathematics_around_numbers() -> None:
    assert read_cell("🔥 1435").printed.value == 1435
    assert read_cell(r"$1.9\times$").unit == "x"
    assert read_cell(r"$95\%$").percent
    assert plain("$3.20 - $4.10") == "$3.20 - $4.10"


def test_a_note_in_html_is_no_digit(tmp_path: Path) -> None:
    rows = "".join(f"<tr><td>{n}</td><td>{r}<sup>1</sup></td></tr>" for n, r in zip("124", RATES, strict=True))
    (found,) = audited(tmp_path, f"<table><tr><th>GPUs</th><th>img/s</th></tr>{rows}</table>")
    assert speedups(found) == ONCE


@pytest.mark.parametrize(
    ("cells", "checked"),
    [
        (("-", "+90%", "+250%"), 2),
        (("-", "90%", "250%"), 2),
        (("-", "90%", "84%"), 2),
        (("-", "47.4%", "71.4%"), 2),
    ],
    ids=["over-the-first", "without-signs", "over-the-row-before", "time-saved"],
)
def test_improvements_in_per_cent(tmp_path: Path, cells: tuple[str, ...], checked: int) -> None:
    rows = [f"{n};{t};{c}" for n, t, c in zip("124", TIMES, cells, strict=True)]
    (found,) = audited(tmp_path, table("GPUs;Time (s);Improvement", *rows))
    assert speedups(found) == ONCE
    assert not found.remarks
    assert found.checked.speedups == checked


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("Model;1 → 4 GPUs (img/s);Speedup", "A;410 → 1435;3.5x"),
        ("Model;Epoch time (1->4 GPUs)", "A;100 -> 28.57 min"),
        ("Model;QPS `N=1 -> 4`;gain", "A;410 -> 1435;3.5x"),
        ("Model;GPUs;img/s", "A;1 → 4;410 → 1435"),
    ],
)
def test_arrows_from_few_to_many_devices(tmp_path: Path, header: str, row: str) -> None:
    (found,) = audited(tmp_path, table(header, row))
    assert speedups(found) == [(1, 1.0), (4, 3.5)]
    assert not found.remarks


def test_arrows_of_a_change_are_two_measurements(tmp_path: Path) -> None:
    before, after = audited(tmp_path, table("GPUs;img/s", "1;410 → 500", "4;1435 → 1000"))
    assert speedups(before) == [(1, 1.0), (4, 3.5)]
    assert speedups(after) == [(1, 1.0), (4, 2.0)]


def test_a_short_row_keeps_its_columns(tmp_path: Path) -> None:
    """The last column of the first row is empty, but its words are as many as the headers."""
    text = (
        "Steps  num_gpus  Samples/s  Speedup  Notes\n"
        "1000   1 A100    410.0      -\n"
        "1000   2 A100    779.0      1.9x     good scaling\n"
        "1000   4 A100    1435.0     3.5x     bound by communication\n"
    )
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE


def test_a_picture_behind_a_row_is_left_out(tmp_path: Path) -> None:
    text = "Threads    Time (s)    Tokens/sec    Speedup\n--------\n"
    text += "16    10.25    550.2    1.00x\n32    5.43    1039.2    1.89x  ⭐\n"
    (found,) = audited(tmp_path, text)
    assert speedups(found) == [(16, 1.0), (32, 1.89)]


def test_thousands_do_not_separate_columns(tmp_path: Path) -> None:
    rows = "".join(f"{n}x A100    {r}\n" for n, r in zip("124", ("41,000", "77,900", "143,500"), strict=True))
    (found,) = audited(tmp_path, "Setup      tok/s\n" + rows)
    assert speedups(found) == ONCE


def test_ranges_of_workers_are_no_ids(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("Workers;Time", "1;100 s", "4-8;50 s", "8-16;30 s"))
    file = read_published(path)
    assert [row.gpus for one in file.tables for row in one.rows] == [1]


def test_a_ratio_in_another_unit_is_left_out(tmp_path: Path) -> None:
    rows = ("1;100;1.0x;100%", "2;52.6;1.9x;95%", "4;28.57;3.5x;15 PetaFLOP/s")
    (found,) = audited(tmp_path, table("GPUs;Time (s);Speedup;Efficiency", *rows))
    assert [remark.kind for remark in found.remarks] == ["efficiency not printed"]
    assert found.checked.efficiencies == 2


def test_efficiencies_with_an_x(tmp_path: Path) -> None:
    rows = ("1;100;1.0;x100.0", "2;52.6;1.9;x95.0", "4;28.57;3.5;x87.5")
    (found,) = audited(tmp_path, table("Threads;Time (s);Speedup;Efficiency", *rows))
    assert not found.remarks
    assert found.checked.efficiencies == 3


def test_a_rate_per_replica_is_not_per_rank(tmp_path: Path) -> None:
    rows = ("1;410 ns/day;51 ns/day", "8;2870 ns/day;358 ns/day")
    (found,) = audited(tmp_path, table("MPI ranks;Aggregate speed (ns/day);Per-replica speed (ns/day)", *rows))
    assert [remark.kind for remark in found.remarks] == []


def test_the_mean_behind_repeats_is_read(tmp_path: Path) -> None:
    rows = ("1;99 ms; 101 ms -> 100 ms", "2;52 ms; 53.2 ms -> 52.6 ms", "4;28 ms; 29.14 ms -> 28.57 ms")
    text = "Threads   Time\n" + "".join(row.replace(";", "         ", 1) + "\n" for row in rows)
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE


def test_an_ideal_column_is_not_of_devices(tmp_path: Path) -> None:
    rows = [f"{n}x;{n} A100;{r}" for n, r in zip("124", RATES, strict=True)]
    (found,) = audited(tmp_path, table("Ideal;Hardware;img/s", *rows))
    assert speedups(found) == ONCE
    assert not found.remarks


def test_columns_without_devices_are_refused_with_the_option(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("Minions;Scans/s", "1;978", "10;9628"))
    with pytest.raises(UserError, match="--column 'Minions=gpus'"):
        read_published(path)


@pytest.mark.parametrize(
    "text",
    [
        "| 1 GPU | 410 img/s |\n|---|---|\n| 2 GPUs | 779 img/s |\n| 4 GPUs | 1435 img/s |\n",
        "<table><tr><td>1 GPU</td><td>410 img/s</td></tr><tr><td>2 GPUs</td><td>779 img/s</td></tr>"
        "<tr><td>4 GPUs</td><td>1435 img/s</td></tr></table>",
        "gpus = [1, 2, 4]\nthroughput = [410, 779, 1435]\n",
        "# gpus img/s speedup\n1 410 1.0\n2 779 1.9\n4 1435 3.5\n",
        "\\begin{tabular}{rr}\nGPUs & img/s \\tabularnewline\n1 & 410 \\tabularnewline\n2 & 779 \\tabularnewline\n"
        "4 & 1435 \\tabularnewline\n\\end{tabular}\n",
        table("Command;Time (s)", *beside("`run --np=1 a`;`run --np=2 a`;`run --np=4 a`", TIMES)),
        table("CUDA_VISIBLE_DEVICES;img/s", *beside("0;0,1;0,1,2,3", RATES)),
        table("Process grid;Time (s)", *beside("1x1;1x2;2x2", TIMES)),
        table("Device;Time (s)", *beside("CPU (1 core);CPU (2 cores);CPU (4 cores)", TIMES)),
        "".join(
            f"$ time mpirun -np {n} ./a\n\nreal\t{t}\nuser\t2m0s\n\n"
            for n, t in (("1", "1m40s"), ("2", "0m52.6s"), ("4", "0m28.57s"))
        ),
    ],
    ids=[
        "markdown",
        "html",
        "lists",
        "plot-file",
        "latex",
        "command",
        "ids",
        "grid",
        "cpu",
        "shell",
    ],
)
def test_tables_with_other_headers_or_none(tmp_path: Path, text: str) -> None:
    (found,) = audited(tmp_path, text)
    assert speedups(found) == ONCE


def test_nodes_with_their_devices_in_brackets(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Nodes (GPUs);Time (s)", *beside("1 (8);2 (16);4 (32)", TIMES)))
    assert speedups(found) == [(8, 1.0), (16, 1.9), (32, 3.5)]


def test_methods_as_headers_and_sizes_of_models_are_series(tmp_path: Path) -> None:
    found = audited(tmp_path, table("GPUs;DDP (s);FSDP (s)", "1;100;200", "2;52.6;105.2", "4;28.57;57.14"))
    assert [speedups(one) for one in found] == [ONCE, ONCE]
    rows = [f"{p};{n};{r}" for p in ("7B", "13B") for n, r in zip("124", RATES, strict=True)]
    found = audited(tmp_path, table("Params;GPUs;tok/s", *rows))
    assert [speedups(one) for one in found] == [ONCE, ONCE]
