"""Tables in the forms in which people print them: the same numbers are read from all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.columns.meanings import Corrections
from scalestudy.importers.published import PublishedFile
from scalestudy.importers.reading import read_published
from scalestudy.importers.tables import MOST_COLUMNS, MOST_ROWS

FORMS = {
    "table.csv": "GPUs,images/sec,Speedup\n1,410.5,1.00\n2,790.2,1.93\n4,1460.8,3.56\n",
    "bom.csv": "\ufeffgpu_num,images/sec,speed-up\n1,410.5,1.00\n2,790.2,1.93\n4,1460.8,3.56\n",
    "semicolon.csv": "GPUs;images/sec;Speedup\n1;410,5;1,00\n2;790,2;1,93\n4;1.460,8;3,56\n",
    "quoted.csv": 'GPUs,images/sec,Speedup\n1,"410,5","1,00"\n2,"790,2","1,93"\n4,"1.460,8","3,56"\n',
    "tabs.tsv": "GPUs\timages/sec\tSpeedup\n1\t410.5\t1.00x\n2\t790.2\t1.93x\n4\t1,460.8\t3.56x\n",
    "spaces.txt": "GPUs   images/sec   Speedup\n1      410.5   1.00\n2      790.2   1.93\n4      1460.8   3.56\n",
    "table.md": "# A\n\n| **GPUs** | images/sec | Speedup |\n|:-:|-:|-|\n| 1 | 410.5 | 1.00× |\n"
    "| 2 | 790.2 | **1.93×** |\n| 4 | 1,460.8 | 3.56× |\n\nText | with a bar.\n",
    "open.md": "GPUs | images/sec | Speedup\n--- | --- | ---\n1 | 410.5 | 100%\n2 | 790.2 | 193%\n"
    "4 | 1460.8 | 356%\n",
    "grid.txt": "+---+---+---+\n| GPUs | images/sec | Speedup |\n+===+===+===+\n| 1 | 410.5 | 1.00 |\n"
    "+---+---+---+\n"
    "| 2 | 790.2 | 1.93 |\n| 4 | 1460.8 | 3.56 |\n+---+---+---+\n",
    "table.html": "<table><tr><th>GPUs</th><th>images/sec</th><th>Speedup</th></tr>"
    "<tr><td>1</td><td>410.5</td><td>1.00</td></tr>"
    "<tr><td>2</td><td>790.2</td><td>1.93</td></tr><tr><td>4</td><td>1460.8</td><td>3.56</td></tr></table>",
    "across.md": "| GPUs | 1 | 2 | 4 |\n|---|---|---|---|\n| images/sec | 410.5 | 790.2 | 1460.8 |\n"
    "| Speedup | 1.00 | 1.93 | 3.56 |\n",
    "reversed.csv": "Speedup,images/sec,GPUs\n3.56,1460.8,4\n1.93,790.2,2\n1.00,410.5,1\n",
}


def read(tmp_path: Path, text: str, name: str = "table.md", **corrections: object) -> PublishedFile:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_published(path, Corrections(**{"columns": {}, **corrections}))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_table_has_the_same_numbers(tmp_path: Path, name: str) -> None:
    (table,) = read(tmp_path, FORMS[name], name).tables
    numbers = {row.gpus: (row.number("throughput"), row.number("printed_speedup")) for row in table.rows}
    assert set(numbers) == {1, 2, 4}
    for gpus, expected in {1: (410.5, 1.0), 2: (790.2, 1.93), 4: (1460.8, 3.56)}.items():
        assert numbers[gpus] == pytest.approx(expected)


def test_utf_16_is_read(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_bytes(FORMS["table.csv"].encode("utf-16"))
    assert len(read_published(tmp_path / "table.csv").tables[0].rows) == 3


def test_precisions_side_by_side_are_tables_of_their_own(tmp_path: Path) -> None:
    """Each has its own part of a cell with the batches of both."""
    text = (
        "| GPUs | Batch size / GPU (TF32, mixed precision) | Throughput - TF32 |"
        " Throughput - mixed precision |"
        " Throughput speedup (TF32 - mixed precision) | Weak scaling - TF32 |"
        " Weak scaling - mixed precision |\n"
        "|---|---|---|---|---|---|---|\n"
        "| 1 | 24, 40 | 100 | 150 | 1.5 | 1.00 | 1.00 |\n| 8 | 24, 40 | 760 | 1110 | 1.46 | 7.60 | 7.40 |\n"
    )
    full, mixed = read(tmp_path, text).tables
    assert [row.batch_per_gpu for row in full.rows] == [24, 24]
    assert [row.batch_per_gpu for row in mixed.rows] == [40, 40]
    assert [row.number("scaling_ratio") for row in mixed.rows] == [1.0, 7.4]
    assert [(one.gpus, one.printed.value) for one in full.ratios] == [(1, 1.5), (8, 1.46)]
    assert full.scaling == "weak"


def test_batches_with_tags(tmp_path: Path) -> None:
    text = (
        "|GPUs|Batch size per GPU|tokens/s with FP16|tokens/s with FP32|\n|--|--|--|--|\n"
        "|1|128@FP16, 64@FP32|20,992|12,933|\n|8|128@FP16, 64@FP32|140,060|88,719|\n"
    )
    half, full = read(tmp_path, text).tables
    assert ([row.batch_per_gpu for row in half.rows], [row.batch_per_gpu for row in full.rows]) == (
        [128] * 2,
        [64] * 2,
    )


def test_models_in_rows_and_devices_across(tmp_path: Path) -> None:
    text = "## Throughput (images/s)\n\n| Model | 1 GPU | 4 GPUs |\n|---|---|---|\n"
    text += "| A | 100 | 390 |\n| B | 50 | - |\n"
    (table,) = read(tmp_path, text).tables
    assert [(row.label("model"), row.gpus, row.number("throughput")) for row in table.rows] == [
        ("A", 1, 100),
        ("A", 4, 390),
        ("B", 1, 50),
    ]


def test_a_bad_cell_costs_itself_and_is_named(tmp_path: Path) -> None:
    (table,) = read(tmp_path, "gpus,throughput\n1,100\nfoo,150\n2,45-160\n4,inf\n8,700\n", "table.csv").tables
    assert [row.gpus for row in table.rows] == [1, 8]
    assert table.notes == (
        "line 3, gpus: foo is not a number of devices, so the cell was left out",
        "line 4, throughput: '45-160' is a wide range (write one number, such as the median), so the cell was "
        "left out",
        "line 5, throughput: 'inf' is not a number, so the cell was left out",
    )


def test_columns_with_equal_headers_and_a_second_line_of_headers(tmp_path: Path) -> None:
    text = (
        "| GPUs | img/s | speedup | img/s | speedup |\n|--|--|--|--|--|\n| | ours | ours | theirs2 | theirs2 |\n"
        "| 1 | 10 | 1.0x | 12 | 1.0x |\n| 2 | 18 | 1.8x | 23 | 1.9x |\n"
    )
    first, second = read(tmp_path, text).tables
    assert [row.number("throughput") for row in first.rows] == [10, 18]
    assert [row.number("printed_speedup") for row in second.rows] == [1.0, 1.9]
    assert [one.name for one in (first, second)] == ["ours", "theirs2"]
    assert first.notes == ()


def test_what_was_not_read_is_named(tmp_path: Path) -> None:
    text = (
        "| GPUs | img/s | Memory/GPU | Cost |\n|---|---|---|---|\n"
        "| 1 | 100 | 32 GB | $4 |\n| 2 | 190 | 33 GB | $8 |\n"
    )
    assert read(tmp_path, text).tables[0].unread == ("Memory/GPU", "Cost")


def test_tables_without_scaling_are_left_out_with_the_reason(tmp_path: Path) -> None:
    text = (
        "| Epoch | BLEU |\n|---|---|\n| 1 | 20 |\n\n| GPUs | img/s |\n|---|---|\n| 1 | 9 |\n| 2 | 17 |\n\n"
        "| GPUs | img/s |\n|--|--|\n| 8 | 70 |\n"
    )
    file = read(tmp_path, text)
    assert [table.line for table in file.tables] == [5]
    assert file.others == (
        "table at line 1: no column of devices, such as gpus; its columns are Epoch, BLEU",
        "table at line 10: only one number of devices, so it shows no scaling",
    )


def test_corrections(tmp_path: Path) -> None:
    text = "GPUs,Speed,Time\n1,329,10\n8,307,11\n"
    (table,) = read(tmp_path, text, "table.csv", columns={"speed": "throughput_per_gpu", "Time": "ignore"}).tables
    assert set(table.rows[0].numbers) == {"throughput_per_gpu"}
    assert table.unread == ("Time",)
    with pytest.raises(UserError, match="--column Speed=fast: no such kind of column; choose from gpus"):
        read(tmp_path, text, "table.csv", columns={"Speed": "fast"})
    with pytest.raises(UserError, match=r"--column Sped=ignore: .* has no such column"):
        read(tmp_path, text, "table.csv", columns={"Sped": "ignore"})
    with pytest.raises(UserError, match=r"--line 7: .* has tables at lines 1$"):
        read(tmp_path, text, "table.csv", table=7)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"gpus,throughput\n1,\x002\n", "line 2 has a NUL; remove it"),
        ("gpus,speed\n1,2 \n2,4 dürchsatz\n".encode("latin-1"), "line 3 is not UTF-8 text (byte 0xfc)"),
        (b"PK\x03\x04\xff\xfe" * 100, "is a zip archive, as torch.save and Excel write it, which is never opened"),
        (b"%PDF-1.4\n%\xe2\xe3\n", "is a PDF document, which is never opened; copy its table into a text file"),
        (b"\x89PNG\r\n\x1a\n", "is an image, which is never opened; copy its table into a text file"),
        (b",".join(b"c" for _ in range(MOST_COLUMNS + 1)), f"at most {MOST_COLUMNS}"),
        (b"gpus,throughput\n" + b"1,2\n" * (MOST_ROWS + 1), f"at most {MOST_ROWS}"),
        (b"gpus,throughput\n1," + b"9" * 10**6, "cannot be read as a table"),
        (b"<table>" * 1000, "no table of scaling"),
        (b"<!--" * 10**5 + b"-->", "no table of scaling"),
        (b"| GPUs | img/s |\n|---|", "no rows below the header"),
        (b"| # GPUs | A |\n|---|---|\n| 1 | 9 |\n| 2 | 17 |\n", "such as --column 'A=throughput'"),
    ],
)
def test_hostile_and_broken_files_are_refused_in_words(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(UserError) as error:
        read_published(path)
    assert said in str(error.value)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        (
            "| Number of images | GPUs | Time (min) |\n|--|--|--|\n| 90 | 1 | 80 |\n| 90 | 2 | 45 |\n",
            "gpus time_s",
        ),
        ("| GPUs | tok/s | MB comms/step |\n|--|--|--|\n| 1 | 90 | 3 |\n| 2 | 170 | 4 |\n", "gpus throughput"),
        (
            "| GPUs | tok/s/GPU | tok/s ratio |\n|--|--|--|\n| 4 | 90 | 2.25x |\n| 8 | 40 | 1.0x |\n",
            "gpus throughput_per_gpu",
        ),
        ("| GPUs | steps | tok/s |\n|--|--|--|\n| 1 | 900 | 70 |\n| 2 | 450 | 130 |\n", "gpus throughput"),
        (
            "| GPUs | img/s | vs. single |\n|--|--|--|\n| 1x | 90 | 1x |\n| 2x | 170 | 1.9x |\n",
            "gpus throughput printed_speedup",
        ),
        (
            "| Workers | 1 GPU | 2 GPUs |\n|--|--|--|\n| 12 | 90s | 50s |\n| 24 | 80s | 41s |\n",
            "label gpus time_s",
        ),
        (
            "| Step, milliseconds | 1 GPU | 2 GPUs |\n|--|--|--|\n| a | 90 | 50 |\n| b | 80 | 41 |\n",
            "label gpus step_time_s",
        ),
        (
            "| name | 1 GPU | 2 GPUs | scaling |\n|--|--|--|--|\n| a | 90 | 171 | 1.9x |\n",
            "label scaling_ratio gpus throughput",
        ),
        (
            "| mesh | GPUs | ms/step |\n|--|--|--|\n| a | 1 | 9 |\n| | 2 | 5 |\n| b | 1 | 8 |\n| | 2 | 5 |\n",
            "label gpus step_time_s",
        ),
    ],
)
def test_what_columns_are_by_their_cells(tmp_path: Path, text: str, roles: str) -> None:
    (table,) = read(tmp_path, text).tables
    assert [column.role for column in table.columns] == roles.split()


def test_a_name_that_stands_once_is_that_of_the_rows_below(tmp_path: Path) -> None:
    text = "| mesh | GPUs | ms/step |\n|--|--|--|\n| a | 1 | 9 |\n| | 2 | 5 |\n| b | 1 | 8 |\n| | 2 | 5 |\n"
    (table,) = read(tmp_path, text).tables
    assert [row.label("mesh") for row in table.rows] == ["a", "a", "b", "b"]


@pytest.mark.parametrize(("cell", "seconds"), [("50m", 3000), ("0.5 h", 1800), ("1h 40m", 6000), ("412 s", 412)])
def test_units_of_time_in_cells(tmp_path: Path, cell: str, seconds: float) -> None:
    (table,) = read(tmp_path, f"| GPUs | Time |\n|--|--|\n| 1 | {cell} |\n| 2 | 1 s |\n").tables
    assert table.rows[0].number("time_s") == seconds


@pytest.mark.parametrize("cell", ["-1", "0", "-3.5x", "0 %"])
def test_a_ratio_that_is_not_above_0_is_left_out(tmp_path: Path, cell: str) -> None:
    text = f"| GPUs | images/sec | Speedup |\n|---|---|---|\n| 1 | 410.5 | 1.00 |\n| 2 | 790.2 | {cell} |\n"
    (table,) = read(tmp_path, text).tables
    assert f"line 4, Speedup: '{cell}' is not above 0, so the cell was left out" in table.notes
    assert [row.printed_speedup is None for row in table.rows] == [False, True]
    assert [row.number("throughput") for row in table.rows] == [410.5, 790.2]
