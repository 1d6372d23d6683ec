"""Several statistics of one time: the mean of runs, the best beside the mean, a minimum that is no minute."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import Audit, audit_file
from scalestudy.importers.columns.meanings import Corrections
from scalestudy.importers.reading import read_published
from test_printed_habits import audited, speedups, table

RUNS = ["1;31.2;31.6;31.5;31.4", "2;16.1;16.3;16.3;16.2", "4;8.5;8.4;8.3;8.4", "8;4.6;4.5;4.7;4.6"]
SPEEDUPS = ("1.00", "1.94", "3.47", "6.83")  # 4 is 3.74


def remarks(audits: list[Audit]) -> list[tuple[str, int | None]]:
    return [(one.kind, one.gpus) for audit in audits for one in audit.remarks]


@pytest.mark.parametrize("header", ["Run 1;Run 2;Run 3;Average", "trial1;trial2;trial3;Mean", "#1;#2;#3;avg"])
def test_the_average_of_runs_is_the_measurement_of_speedups(tmp_path: Path, header: str) -> None:
    rows = [f"{row};{speedup}" for row, speedup in zip(RUNS, SPEEDUPS, strict=True)]
    (found,) = audited(tmp_path, table(f"Processes;{header};Speedup", *rows))
    assert (speedups(found), remarks([found])) == ([(1, 1.0), (2, 1.94), (4, 3.74), (8, 6.83)], [("speedup", 4)])


def test_the_average_of_runs_may_be_a_throughput(tmp_path: Path) -> None:
    rows = ["1;99;101;100;1.00", "2;193;195;194;1.94", "4;370;378;374;3.47", "8;680;686;683;6.83"]
    (found,) = audited(tmp_path, table("Processes;Run 1;Run 2;Average;Speedup", *rows))
    assert (speedups(found)[-1], remarks([found])) == ((8, 6.83), [("speedup", 4)])


def test_an_average_that_is_not_between_the_runs_is_of_something_else(tmp_path: Path) -> None:
    rows = ["1;31.2;31.6;314;1.00", "2;16.1;16.3;162;1.94", "4;8.5;8.4;84;3.74"]
    (found,) = audited(tmp_path, table("Processes;Run 1;Run 2;Average;Speedup", *rows))
    assert found.source.unread == ("Run 1", "Run 2", "Average")


BEST = ["1;31.2;32.4", "2;16.1;17.3", "4;8.34;9.45", "8;4.57;5.91"]


@pytest.mark.parametrize("header", ["best (s);mean (s)", "mean (s);best (s)", "best time (s);mean time (s)"])
def test_a_speedup_belongs_to_the_statistic_that_most_follow_from(tmp_path: Path, header: str) -> None:
    rows = [f"{row};{speedup}" for row, speedup in zip(BEST, SPEEDUPS, strict=True)]
    if header.startswith("mean"):
        rows = [";".join((cells[0], cells[2], cells[1], cells[3])) for cells in (row.split(";") for row in rows)]
    found = audited(tmp_path, table(f"threads;{header};speedup", *rows))
    assert {one.source.name: one.checked.speedups for one in found} == {"best": 4, "mean": 0}
    assert remarks(found) == [("speedup", 4)]


def test_a_minimum_a_mean_and_a_maximum_are_series(tmp_path: Path) -> None:
    rows = ["1;31.2;32.4;33.0", "2;16.1;17.3;18.2", "4;8.34;9.45;9.90"]
    found = audited(tmp_path, table("procs;t_min;t_avg;t_max", *rows))
    assert [speedups(one)[-1] for one in found] == [(4, 3.74), (4, 3.43), (4, 3.33)]
    found = audited(tmp_path, table("GPUs;Min (s);Mean (s);Max (s)", *rows))
    assert [one.source.name for one in found] == ["min", "mean", "max"]


def seconds(tmp_path: Path, header: str, **columns: str) -> list[float]:
    path = tmp_path / "table.csv"
    path.write_text(f"{header}\n1,31.2,33.0\n2,16.1,18.2\n4,8.34,9.90\n")
    (first, *_) = read_published(path, Corrections(columns)).tables
    role = next(one.role for one in first.columns if one.header == header.split(",")[1])
    return [round(row.numbers[role].value, 6) for row in first.rows]


@pytest.mark.parametrize("header", ["gpus,time_min,time_max", "gpus,time_min,time_mean", "gpus,min_time,max_time"])
@pytest.mark.parametrize("kind", ["", "total_time_s", "time_s"])
def test_a_minimum_beside_a_maximum_is_no_minute(tmp_path: Path, header: str, kind: str) -> None:
    columns = {header.split(",")[1]: kind} if kind else {}
    assert seconds(tmp_path, header, **columns) == [31.2, 16.1, 8.34]


def test_minutes_remain_minutes(tmp_path: Path) -> None:
    assert seconds(tmp_path, "gpus,time_min,memory_max") == [1872.0, 966.0, 500.4]
    assert seconds(tmp_path, "gpus,time (min),max memory") == [1872.0, 966.0, 500.4]


def test_one_answer_is_that_of_all_times_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("procs;t_min;t_avg;t_max", "1;31.2;32.4;33.0", "2;33.1;34.3;38.2", "4;33.4;35.4;39.9"))
    file = read_published(path)
    audits, asked = audit_file(file, "table")
    assert (audits, [one.question.header for one in asked]) == ([], ["t_min"])
    audits, asked = audit_file(file.answered("weak"), "table")
    assert ([speedups(one)[-1] for one in audits], asked) == ([(4, 3.74), (4, 3.66), (4, 3.31)], [])
