"""Units of rates: as the header or the cells have them, with no factor left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.publish.quantity import quantity_of
from test_plain_tables import read, series


def rates(header: str, unit: str = "", *, before: str = "") -> str:
    rows = "".join(f"| {threads} | {rate}{unit} |\n" for threads, rate in ((1, 12.4), (2, 23.9), (4, 44.2)))
    return f"{before}\n\n| Threads | {header} |\n|---|---|\n{rows}"


@pytest.mark.parametrize(
    ("header", "unit", "shown"),
    [
        ("wps", "", "wps"),
        ("Total FPS", "", "FPS"),
        ("Throughput (T/s)", "", "T/s"),
        ("Débit (jetons/s)", "", "jetons/s"),
        ("it/s", "", "it/s"),
        ("GB/s", "", "GB/s"),
        ("Performance (MLUPS)", "", "MLUPS"),
        ("Mop/s", "", "Mop/s"),
        ("Zones per second", "", "Zones/second"),
        ("Speed", " Mpixel/s", "Mpixel/s"),
        ("images/s", "", "images/s"),
        ("wps (k)", "", "work/s"),
        ("10^3 zones/s", "", "work/s"),
        ("Throughput", "", "work/s"),
    ],
)
def test_a_rate_is_shown_in_the_unit_of_its_table(tmp_path: Path, header: str, unit: str, shown: str) -> None:
    (audit,), _, _ = read(tmp_path, rates(header, unit))
    assert quantity_of(audit).unit == shown


def test_steps_of_growing_work_are_no_steps_of_the_table(tmp_path: Path) -> None:
    text = rates("it/s", before="Batch size 32 per thread")
    (audit,), _, _ = read(tmp_path, text.replace("23.9", "12.1").replace("44.2", "11.6"))
    assert series([audit]) == {"table": [(1, 1.0), (2, 1.95), (4, 3.74)]}
    assert quantity_of(audit).unit == "work/s"


@pytest.mark.parametrize(
    ("header", "role"),
    [
        ("MFlops", "throughput"),
        ("Total MFLOPS", "throughput"),
        ("Rate (MFlop/s)", "throughput"),
        ("MFlops/proc", "throughput_per_gpu"),
        ("MFlops util", "ignore"),
        ("MFLOPs/image", "ignore"),
    ],
)
def test_rates_of_megaflops(header: str, role: str) -> None:
    assert meaning_of(header).role == role


def test_the_same_megaflops_of_a_model_in_all_rows_are_its_work(tmp_path: Path) -> None:
    text = """
| Model | MFLOPs | Threads | fps |
|---|---|---|---|
| small | 310 | 1 | 12 |
| small | 310 | 2 | 23 |
| large | 940 | 1 | 5 |
| large | 940 | 2 | 9 |
"""
    audits, _, _ = read(tmp_path, text)
    assert series(audits) == {"small": [(1, 1.0), (2, 1.92)], "large": [(1, 1.0), (2, 1.8)]}


def test_data_per_second_of_each_node(tmp_path: Path) -> None:
    text = "| Nodes | MB/s/node |\n|---|---|\n| 1 | 912 |\n| 2 | 905 |\n| 4 | 880 |\n"
    (audit,), _, notes = read(tmp_path, text)
    assert series([audit]) == {"table": [(1, 1.0), (2, 1.98), (4, 3.86)]}
    assert quantity_of(audit).unit == "MB/s"
    assert "one device of each node" not in notes
