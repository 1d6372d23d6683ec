"""One wrong ratio does not hide what the others are relative to."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import Audit
from test_printed_habits import audited, speedups, table

SERIAL = ["1;52.00;0.97", "2;26.40;1.91", "4;13.63;3.21", "8;7.12;7.08"]  # 4 is 3.70
IN_FRONT = {
    "label": ("Version;Threads;Time (s);Speedup", "Sequential;-;50.43;1.00", "Pthreads;"),
    "label and dash": ("Version;Threads;Time (s);Speedup", "Sequential;-;50.43;-", "Pthreads;"),
    "devices": ("Threads;Time (s);Speedup", "Serial;50.43;1.00", ""),
}


def remarks(audit: Audit) -> list[tuple[str, int | None]]:
    return [(one.kind, one.gpus) for one in audit.remarks]


@pytest.mark.parametrize(("header", "serial", "label"), IN_FRONT.values(), ids=IN_FRONT)
def test_a_serial_row_is_the_baseline_beside_one_wrong_speedup(
    tmp_path: Path, header: str, serial: str, label: str
) -> None:
    (found,) = audited(tmp_path, table(header, serial, *(f"{label}{row}" for row in SERIAL)))
    assert found.speedups.kind == "row" and found.speedups.row is not None
    assert (found.speedups.row.line, remarks(found)) == (3, [("speedup", 4)])
    assert "the times give 3.70" in found.remarks[0].sentence


def test_a_serial_row_explains_most_without_a_run_on_one_thread(tmp_path: Path) -> None:
    rows = [f"Pthreads;{row}" for row in SERIAL[1:]]
    (found,) = audited(tmp_path, table("Version;Threads;Time (s);Speedup", "Sequential;-;50.43;1.00", *rows))
    assert remarks(found) == [("speedup", 4)]


def test_a_serial_column_is_the_baseline_beside_one_wrong_speedup(tmp_path: Path) -> None:
    rows = ["3;36.9 s;13.0 s;2.84", "6;36.9 s;6.9 s;5.35", "12;36.9 s;3.8 s;8.71", "24;36.9 s;2.3 s;16.04"]
    header = "Processors;Sequential time;Parallel time;Speedup"
    (found,) = audited(tmp_path, table(header, *rows))
    assert (found.speedups.kind, remarks(found)) == ("serial", [("speedup", 12)])
    assert "the times give 9.71" in found.remarks[0].sentence


def test_efficiencies_over_a_serial_row_with_one_that_is_wrong(tmp_path: Path) -> None:
    shares = ["97%", "96%", "93%", "48%"]  # 8 is 89 %
    rows = [f"OpenMP;{row.rpartition(';')[0]};{share}" for row, share in zip(SERIAL, shares, strict=True)]
    header = "Version;Threads;Time (s);Efficiency"
    (found,) = audited(tmp_path, table(header, "Sequential;-;50.43;-", *rows))
    assert (found.efficiencies.kind, remarks(found)) == ("row", [("efficiency", 8)])


def test_a_row_that_explains_two_of_four_is_not_the_baseline(tmp_path: Path) -> None:
    rows = ["a;1;52.00;1.00", "a;2;26.40;1.91", "a;4;13.63;3.33", "a;8;7.12;7.08", "b;1;50.43;1.00"]
    found = audited(tmp_path, table("Version;Threads;Time (s);Speedup", *rows))
    assert [one.speedups.kind for one in found] == ["smallest"]
    assert remarks(found[0]) == [("speedup", 2), ("speedup", 4), ("speedup", 8)]


def test_a_first_row_that_explains_most_remains_the_baseline(tmp_path: Path) -> None:
    rows = ["Sequential;-;50.43;1.00", "a;1;52.00;1.00", "a;2;26.40;1.97", "a;4;13.63;3.33", "a;8;7.12;7.30"]
    (found,) = audited(tmp_path, table("Version;Threads;Time (s);Speedup", *rows))
    assert (found.speedups.kind, remarks(found)) == ("smallest", [("speedup", 4)])


NODES = ["3;52.40;0.41", "6;21.50;1.00", "12;11.20;1.92", "24;5.83;3.69"]


@pytest.mark.parametrize("header", ["Nodes;Time (h);Speed-up", "GPUs;Time (h);Speed-up"])
def test_the_only_row_with_1x_is_the_baseline(tmp_path: Path, header: str) -> None:
    (found,) = audited(tmp_path, table(header, *NODES))
    assert found.table.base is not None and found.table.base.gpus == 6
    assert speedups(found) == [(3, 0.41), (6, 1.0), (12, 1.92), (24, 3.69)]
    assert (remarks(found), found.checked.speedups) == ([], 4)


def test_a_wrong_speedup_over_the_row_with_1x_is_found(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Nodes;Time (h);Speed-up", *NODES[:2], "12;11.20;1.29", NODES[3]))
    assert (speedups(found)[0], remarks(found)) == ((3, 0.41), [("speedup", 12)])


def test_a_row_with_1x_that_explains_nothing_is_not_the_baseline(tmp_path: Path) -> None:
    rows = ["3;52.40;0.52", "6;21.50;1.00", "12;11.20;2.44", "24;5.83;4.69"]
    (found,) = audited(tmp_path, table("Nodes;Time (h);Speed-up", *rows))
    assert found.table.base is not None and found.table.base.gpus == 3


def test_a_row_with_1x_of_another_method_is_not_the_baseline(tmp_path: Path) -> None:
    rows = ["Baseline;4;10.0;1.00", "Ours;2;12.0;0.83", "Ours;4;6.25;1.60", "Ours;8;3.33;3.00"]
    (found,) = audited(tmp_path, table("Method;GPUs;Time (h);Speedup", *rows))
    assert found.table.base is not None and found.table.base.gpus == 2
    assert (found.speedups.kind, remarks(found)) == ("row", [])


def test_ratios_to_the_most_devices_keep_the_fewest_as_the_baseline(tmp_path: Path) -> None:
    rows = ["2;195;0.27", "4;380;0.53", "8;720;1.00"]
    (found,) = audited(tmp_path, table("GPUs;images/s;Speedup", *rows))
    assert found.table.base is not None and found.table.base.gpus == 2


def test_efficiencies_of_one_device_keep_it_as_the_baseline(tmp_path: Path) -> None:
    rows = ["1;100;0.26;100%", "4;385;1.00;96%", "8;751;1.95;94%", "16;1444;3.75;90%"]
    (found,) = audited(tmp_path, table("GPUs;images/s;Speedup;Efficiency", *rows))
    assert found.table.base is not None and found.table.base.gpus == 1
    assert (found.speedups.kind, found.efficiencies.kind, remarks(found)) == ("row", "smallest", [])
