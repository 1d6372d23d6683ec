"""Ratios that belong to a part of the work, to one of two variants, or to a row of another setup."""

from __future__ import annotations

from pathlib import Path

from scalestudy.diagnose.audit import audit_file
from scalestudy.importers.reading import read_published
from test_more_printed_habits import kinds
from test_printed_habits import audited, speedups, table


def test_a_speedup_of_a_part_that_is_not_read_is_left_out(tmp_path: Path) -> None:
    rows = (
        "1;0.633;0.633;1.00;1.00",
        "2;0.456;0.244;1.39;2.59",
        "4;0.606;0.105;1.05;6.06",
        "8;0.756;0.056;0.84;11.3",
    )
    (found,) = audited(tmp_path, table("procs;total (s);compute (s);speedup;speedup (no-comm)", *rows))
    assert speedups(found)[1] == (2, 1.39)
    assert "speedup" not in kinds([found])


def test_two_efficiencies_of_a_cell_are_those_of_two_speedups(tmp_path: Path) -> None:
    header = "Nodes;Speedup (13B);Speedup (70B);Efficiency"
    rows = ("1;1.0x;1.0x;100%", "2;1.85x;1.80x;92% / 90%", "4;3.5x;3.3x;88% / 82%")
    found = audited(tmp_path, table(header, *rows))
    assert len(found) == 2
    assert "efficiency" not in kinds(found)
    wrong = audited(tmp_path, table(header, *rows[:2], "4;3.5x;3.3x;88% / 72%"))
    assert ["efficiency" in kinds([one]) for one in wrong] == [False, True]


def test_a_row_with_1x_and_dashes_is_a_row_of_ratios(tmp_path: Path) -> None:
    rows = ("other (baseline);1x;-;-", "ours;1.5x;2x;2.5x", "ours, int8;4x;7x;12x")
    found = audited(tmp_path, table("Backend;1 GPU;2 GPUs;4 GPUs", *rows))
    scaled = [one for one in found if len(one.table.scales) > 1]
    assert len(scaled) == 2
    assert all("as line 3 with 1x is" in str(one.remarks) for one in scaled)


def test_a_time_that_is_scaled_by_the_local_batch_is_asked_for(tmp_path: Path) -> None:
    text = "Compute is estimated from the 1-GPU baseline scaled by local batch.\n\n"
    rows = table("GPUs;step time", "1;322 ms", "2;322 ms", "4;577 ms")
    path = tmp_path / "table.md"
    path.write_text(text + rows, encoding="utf-8")
    assert audit_file(read_published(path), "table")[1]
