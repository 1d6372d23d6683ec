"""Scaling tables, with a row per number of devices, as runs; and tables of logs as people export them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from scalestudy.analyse.published.runs import logs_of_tables
from scalestudy.errors import UserError
from scalestudy.importers.columns.meanings import Corrections
from scalestudy.importers.logs.formats import is_table, read_log
from scalestudy.importers.logs.model import Given
from scalestudy.importers.logs.steps.derive import ImportedRun, derive
from scalestudy.importers.reading import read_published
from scalestudy.registry.codes import Limit

MARKDOWN = """\
# Results

| GPUs | Batch / GPU | Throughput (img/s) | Speed-up |
|---|---|---|---|
| 1 | 64 | 1.410,5 | 1,00 |
| 4 | 64 | 5.520,1 | 3,91 |
| 8 | 64 | n/a | 7,6 |
| 16 | 64 | oops | 14,8 |
"""


def imported(path: Path, columns: dict[str, str] | None = None, **said: object) -> list[ImportedRun]:
    given = Given(**said)  # type: ignore[arg-type]
    assert is_table(path, None)
    file = read_published(path, Corrections(columns or {}))
    return [derive(log, given) for log in logs_of_tables(file, path, given, scaling=None)]


def written(folder: Path, text: str, name: str = "table.md") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_row_is_a_run_and_a_bad_cell_costs_its_row_only(tmp_path: Path) -> None:
    first, second = imported(written(tmp_path, MARKDOWN))
    assert [(run.devices, run.global_batch, run.unit) for run in (first, second)] == [
        (1, 64, "samples"),
        (4, 256, "samples"),
    ]
    assert first.throughput == pytest.approx(1410.5)
    assert second.throughput == pytest.approx(5520.1)
    assert Limit.PRINTED in first.limits
    assert any("line 8, Throughput (img/s): 'oops' is not a number" in remark for remark in first.remarks)
    assert any("line 7: no throughput, so the row is left out" in remark for remark in first.remarks)
    assert any("since it grows with them" in remark for remark in first.remarks)


@pytest.mark.parametrize(
    ("header", "cells", "said", "step_s"),
    [
        ("Time per epoch (min)", ("100", "52,5"), {"samples": 6400}, (60.0, 63.0)),
        ("Time", ("1h 40m", "52m"), {"samples": 6400}, (60.0, 62.4)),
        ("ms/step", ("250", "262"), {}, (0.25, 0.262)),
        ("Step time", ("0.25 s", "262 ms"), {}, (0.25, 0.262)),
        ("it/s", ("4", "3.8"), {}, (0.25, 1 / 3.8)),
        ("img/s/GPU", ("256", "250"), {}, (0.25, 0.256)),
        ("k images/s", ("0.256", "0.5"), {}, (0.25, 0.256)),
        ("images/min", ("15 360", "30 000"), {}, (0.25, 0.256)),
        ("Throughput", ("256 img/s", "500 img/s"), {}, (0.25, 0.256)),
    ],
)
def test_units_in_headers_and_in_cells(
    tmp_path: Path, header: str, cells: tuple[str, str], said: dict[str, int], step_s: tuple[float, float]
) -> None:
    text = (
        f"| GPUs | Batch size per GPU | {header} |\n|--|--|--|\n| 1 | 64 | {cells[0]} |\n| 2 | 64 | {cells[1]} |\n"
    )
    runs = imported(written(tmp_path, text), **said)
    assert [run.step_s for run in runs] == pytest.approx(step_s)


@pytest.mark.parametrize(
    ("header", "cells", "asked"),
    [
        (
            "img/s",
            "90 95",
            "hardly changes from 1 to 8 devices (90 to 95). Is this per device? Add --per",
        ),
        ("Throughput", "90 700", "what does it count? Add --rate samples, --rate tokens or --rate steps"),
        ("Epoch time (s)", "90 12", "the work that this time is for is not in it; add --samples N"),
        ("Step time", "90 95", "is the batch per device constant, or the global batch? Add --batch-per-gpu N or"),
        ("Speedup", "1.0 7.5", "has speedups only, and no throughput or time to import; `scalestudy audit`"),
        ("TFLOP/s", "90 700", "its throughputs are FLOP/s only"),
    ],
)
def test_what_a_table_does_not_say_is_asked_for(tmp_path: Path, header: str, cells: str, asked: str) -> None:
    one, eight = cells.split()
    path = written(tmp_path, f"| GPUs | {header} |\n|--|--|\n| 1 | {one} |\n| 8 | {eight} |\n")
    with pytest.raises(ValueError) as error:
        imported(path)
    assert asked in str(error.value)
    assert str(path) in str(error.value)


def test_the_batch_is_asked_for_and_said_for_each_device_or_for_all(tmp_path: Path) -> None:
    path = written(tmp_path, "GPUs\timg/s\n1\t100\n8\t700\n", "table.tsv")
    with pytest.raises(ValueError, match="line 2: the table has no batch; add --batch-per-gpu N for weak scaling"):
        imported(path)
    assert [run.global_batch for run in imported(path, batch_per_gpu=32)] == [32, 256]
    assert [run.global_batch for run in imported(path, batch=512)] == [512, 512]


def test_series_are_variants_and_times_of_two_columns_are_two(tmp_path: Path) -> None:
    text = (
        "| GPUs | DDP (ms/step) | FSDP (ms/step) | global batch |\n|--|--|--|--|\n"
        "| 1 | 100 | 110 | 64 |\n| 2 | 52 | 57 | 64 |\n"
    )
    runs = imported(written(tmp_path, text))
    assert sorted({run.variant for run in runs}) == ["ddp", "fsdp"]
    assert [run.devices for run in runs] == [1, 2, 1, 2]


@pytest.mark.parametrize(
    ("text", "table"),
    [
        (MARKDOWN, True),
        ("gpus,img/s\n1,100\n2,190\n", True),
        ("gpus;Durchsatz (img/s)\n1;1,5\n2;2,8\n", True),
        ("gpus,step,img/s\n1,1,100\n1,2,101\n", False),
        ("timestamp,gpus,img/s\n1,1,100\n2,1,101\n", False),
        ("run,gpus,img/s\na,1,100\nb,1,101\n", False),
        ("step,step_time_ms\n1,100\n2,101\n", False),
        (" iteration 1/ 9 | elapsed time per iteration (ms): 1.0 | x |\n|--|--|\n| 1 | 2 |\n" + MARKDOWN, False),
    ],
)
def test_a_table_is_told_from_a_log(tmp_path: Path, text: str, table: bool) -> None:
    assert is_table(written(tmp_path, text), None) is table


def rows(cell: Callable[[int], str], header: str, *, comment: int = 0) -> str:
    lines = [header]
    for step in range(1, 41):
        lines.append(cell(step))
        if comment and step % comment == 0:
            lines.append(f"# after {step}, a comment")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("text", "step_s"),
    [
        (rows(lambda step: f"{step},100 ms", "step,step_time"), 0.1),
        (rows(lambda step: f"{step};0,1", "step;step time (s)"), 0.1),
        (rows(lambda step: f"{step};0.125", "step;step time (s)"), 0.125),
        (rows(lambda step: f"{step};1.250", "step;step time (s)"), 1.25),
        (rows(lambda step: f"{step};1,250", "step;step time (s)"), 1.25),
        (rows(lambda step: f'{step},"1,250"', "step,step_time_ms"), 1.25),
        (rows(lambda step: f"{step},100", "step,step_time_ms", comment=3), 0.1),
        (rows(lambda step: f"{step},2024-01-01 00:00:{step:02d}", "step,timestamp"), 1.0),
        (rows(lambda step: f"{step},2024-01-01T00:00:{step:02d}Z", "step,timestamp"), 1.0),
        (rows(lambda step: f"{step},0:00:{step:02d}", "step,elapsed"), 1.0),
        (rows(lambda step: f"{step},600", "step,samples/min"), 0.8),
        (rows(lambda step: f"{step},0.01k", "step,samples/s"), 0.8),
        (rows(lambda step: f"{step},100", "step,step_ms"), 0.1),
    ],
)
def test_cells_of_logs_as_people_export_them(tmp_path: Path, text: str, step_s: float) -> None:
    path = written(tmp_path, text, "log.csv")
    given = Given(devices=1, batch=8)
    (log,) = read_log(path, given)
    assert derive(log, given).step_s == pytest.approx(step_s)


@pytest.mark.parametrize("quoted", ["", '"a note\nof two lines"', '"a quote that does not end'])
def test_a_row_with_too_many_cells_is_left_out(quoted: str, tmp_path: Path) -> None:
    """Also where a cell has several lines, and in a file that is read line by line."""
    lines = ["step,step_time_ms,note"] + [f"{step},100,{quoted if step == 30 else 'x'}" for step in range(60)]
    lines[11] += ",more"
    lines[21] = "20,100"
    given = Given(devices=1, batch=8)
    (log,) = read_log(written(tmp_path, "\n".join(lines) + "\n", "log.csv"), given)
    assert {
        "line 12: 4 of 3 cells; the row is left out",
        "line 22: 2 of 3 cells; the row is left out",
    } <= set(log.remarks)
    assert set(range(60)) - set(log.columns["step"]) <= {10, 20, 30}
    assert derive(log, given).step_s == pytest.approx(0.1)


def test_rows_that_end_with_the_delimiter(tmp_path: Path) -> None:
    text = "step,step_time_ms\n" + "".join(f"{step},100,\n" for step in range(60))
    (log,) = read_log(written(tmp_path, text, "log.csv"), Given(devices=1, batch=8))
    assert len(log.columns["step"]) == 60 and log.columns["step_time_s"][0] == 0.1


def test_decimal_commas_between_commas_are_refused(tmp_path: Path) -> None:
    """Rows whose time has no decimals have the right number of cells, and would be a selection."""
    text = "step,step_time_s\n" + "".join(f"{step},{1 if step % 3 else '0,9'}\n" for step in range(60))
    with pytest.raises(UserError, match=r"line 2: 3 cells in a table of 2 columns; 20 rows"):
        read_log(written(tmp_path, text, "log.csv"), Given(devices=1, batch=8))


def test_rows_of_one_rank_count_and_lines_keep_their_numbers(tmp_path: Path) -> None:
    lines = ["rank,step,step_time_ms"]
    lines += [f"{rank},{step},{100 + 50 * rank}" for step in range(1, 30) for rank in (3, 0, 1)]
    lines[4] = "# a comment"
    lines[10] = "3,4"
    lines[13] = "3,5,oops"
    given = Given(devices=4, batch=8)
    (log,) = read_log(written(tmp_path, "\n".join(lines) + "\n", "log.csv"), given)
    run = derive(log, given)
    assert run.step_s == pytest.approx(0.25)
    assert "line 11: 2 of 3 cells; the row is left out" in log.remarks
    assert "line 14, step_time_ms: 'oops' is not a number; left out" in log.remarks
    assert "58 rows of 2 other ranks are left out: those of rank 3 count" in log.remarks
    assert set(log.columns["line"]) == {float(at + 1) for at in range(1, len(lines), 3)} - {5.0, 11.0, 14.0}


def test_many_devices_need_their_nodes(tmp_path: Path) -> None:
    many = written(tmp_path, "GPUs,images/s,Batch per GPU\n8,2300,64\n1024,250000,64\n", "many.csv")
    with pytest.raises(UserError, match="1024 devices need more nodes than 1; add --nodes"):
        imported(many)
    rows = "GPUs,Nodes,images/s,Batch per GPU\n8,1,2300,64\n1024,128,250000,64\n"
    runs = imported(written(tmp_path, rows, "nodes.csv"))
    assert [(run.devices, run.nodes) for run in runs] == [(8, 1), (1024, 128)]


@pytest.mark.parametrize("indent", [None, 1])
def test_a_notebook_with_a_table_is_imported_whatever_its_length(tmp_path: Path, indent: int | None) -> None:
    """One that is written in one line is no row of JSON, and its images make most notebooks long."""
    image = {"output_type": "display_data", "data": {"image/png": "A" * 2**20}}
    cells = [
        {"cell_type": "code", "source": "plot()", "outputs": [image]},
        {"cell_type": "markdown", "source": MARKDOWN},
    ]
    path = written(tmp_path, json.dumps({"cells": cells, "nbformat": 4}, indent=indent), "table.ipynb")
    assert [run.devices for run in imported(path)] == [1, 4]


def test_a_notebook_without_a_table_is_no_table(tmp_path: Path) -> None:
    cells = [{"cell_type": "markdown", "source": "# Training on 4 GPUs"}]
    path = written(tmp_path, json.dumps({"cells": cells, "nbformat": 4}), "notes.ipynb")
    assert not is_table(path, None)
