"""Strong efficiencies within cases, and a weak one in a row of each case."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_more_printed_habits import kinds
from test_printed_habits import audited, speedups, table

ROWS = ["S;32;6.20;1.00;1.00", "S;64;3.30;0.94;", "L;256;6.71;1.00;0.92", "L;512;3.62;0.93;"]


@pytest.mark.parametrize("header", ["Case", "Cells", "Problem"])
def test_a_weak_efficiency_of_each_case_compares_the_cases(tmp_path: Path, header: str) -> None:
    found = audited(tmp_path, table(f"{header};Cores;s/iter;Strong eff.;Weak eff.", *ROWS))
    assert [speedups(one) for one in found] == [
        [(32, 1.0), (64, 1.88)],
        [(256, 1.0), (512, 1.85)],
        [(32, 1.0), (256, 7.39)],
    ]
    assert ([one.checked.efficiencies for one in found], kinds(found)) == ([2, 2, 2], [])
    note = f"Weak eff. is in one row for each value of {header.lower()}, so these rows are one series"
    assert note in found[2].source.notes


def test_a_wrong_weak_efficiency_of_a_case_is_found(tmp_path: Path) -> None:
    rows = [*ROWS[:2], "L;256;6.71;1.00;0.72", ROWS[3]]
    found = audited(tmp_path, table("Case;Cores;s/iter;Strong eff.;Weak eff.", *rows))
    assert [(remark.kind, remark.gpus) for remark in found[2].remarks] == [("efficiency", 256)]


def test_weak_efficiencies_of_all_rows_are_within_the_cases(tmp_path: Path) -> None:
    rows = ["S;32;6.20;1.00;1.00", "S;64;3.30;0.94;1.88", "L;256;6.71;1.00;1.00", "L;512;3.62;0.93;1.85"]
    found = audited(tmp_path, table("Case;Cores;s/iter;Strong eff.;Weak eff.", *rows))
    assert [[gpus for gpus, _ in speedups(one)] for one in found] == [[32, 64], [256, 512]] * 2


def test_efficiencies_that_begin_at_one_in_each_size_are_series(tmp_path: Path) -> None:
    rows = [row.rpartition(";")[0] for row in ROWS]
    found = audited(tmp_path, table("Cells;Cores;s/iter;Strong eff.", *rows))
    assert ([one.checked.efficiencies for one in found], kinds(found)) == ([2, 2], [])
