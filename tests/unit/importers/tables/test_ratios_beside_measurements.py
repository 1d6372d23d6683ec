"""Printed ratios that share a cell, a line or a page with their measurements."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from bench.made_ratios import with_ratios
from bench.pages import verdicts
from scalestudy.importers.numbers.ratios_behind import with_ratios_in_one_spelling
from test_plain_tables import read
from test_printed_habits import audited, speedups, table


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("1441 (eff. 91.2%)", "1441 (91.2% efficiency)"),
        ("50.01 (x1.96 speedup)", "50.01 (1.96x)"),
        ("640 (105.3 % scaling efficiency)", "640 (105.3% efficiency)"),
        ("12.1 \u21911.93x", "12.1 (1.93x)"),
        ("12 (eff 0.964)", "12 (96.4% efficiency)"),
        ("410 [~1.9x / 96%]", "410 (~1.9x, 96%)"),
        ("410 (1.9 times faster)", "410 (1.9x)"),
        *((same, same) for same in ("410 / 1.9x", "12 (3 runs)", "301h/-", "5.2 GB / 40%", "412 s (1 GPU)")),
        ("410 \u219193%", "410 \u219193%"),
    ],
)
def test_ratios_behind_a_number_have_one_spelling(cell: str, expected: str) -> None:
    assert with_ratios_in_one_spelling(cell) == expected


def test_in_a_list_signs_alone_are_enough() -> None:
    assert with_ratios_in_one_spelling("523.1 / x1.38", in_brackets=True) == "523.1 (1.38x)"


def wrong(tmp_path: Path, text: str) -> set[tuple[str, int | None]]:
    """The kinds of remarks on printed ratios, with their devices."""
    audits, _, _ = read(tmp_path, text)
    found = {(remark.kind, remark.gpus) for audit in audits for remark in audit.remarks}
    return {one for one in found if one[0] in ("speedup", "efficiency")}


def test_both_ratios_of_a_cell_are_checked(tmp_path: Path) -> None:
    rows = table("GPUs;img/s", "1;410", "2;779 (1.90x, 95%)", "4;1435 (3.50x, {}%)")
    assert wrong(tmp_path, rows.format("87.5")) == set()
    assert wrong(tmp_path, rows.format("75")) == {("efficiency", 4)}


def test_ratios_in_a_table_of_their_own_are_checked(tmp_path: Path) -> None:
    text = (
        table("GPUs;img/s", "1;410", "2;779", "4;1435") + "\n" + table("GPUs;Speedup", "1;-", "2;1.90x", "4;{}x")
    )
    assert wrong(tmp_path, text.format("3.50")) == set()
    assert wrong(tmp_path, text.format("3.10")) == {("speedup", 4)}
    (audit,) = audited(tmp_path, text.format("3.50"))
    assert speedups(audit) == [(1, 1.0), (2, 1.9), (4, 3.5)]


def test_ratios_of_other_runs_are_not_joined(tmp_path: Path) -> None:
    text = (
        table("GPUs;img/s", "1;410", "2;779", "4;1435") + "\n" + table("GPUs;Speedup", "1;1x", "2;1.5x", "4;2.2x")
    )
    audits, _, _ = read(tmp_path, text)
    assert len(audits) == 2


def test_weak_scaling_that_ratios_in_their_own_table_show(tmp_path: Path) -> None:
    times = table("size;ranks;median;memory", "8;1;2.786 ms;2.0", "16;2;7.081 ms;2.0", "32;4;14.603 ms;2.0")
    ratios = table("size;ranks;slowdown;efficiency", "8;1;1.0;1.0", "16;2;2.541;0.393", "32;4;5.241;0.191")
    (audit,) = audited(tmp_path, f"{times}\n{ratios}")
    assert [round(scale.efficiency.value, 2) for scale in audit.table.scales] == [1.0, 0.39, 0.19]


def test_a_mean_and_a_median_that_are_both_near(tmp_path: Path) -> None:
    rows = ["1;137.29;137.27;1", "2;252.70;252.71;1.84", "4;445.08;441.74;3.22", "8;759.05;761.22;5.55"]
    assert wrong(tmp_path, table("GPUs;mean img/s;median img/s;speedup", *rows)) == set()


def test_efficiencies_say_which_column_has_the_devices(tmp_path: Path) -> None:
    rows = ["1;978;100.0%", "10;9628;98.4%", "50;47042;96.2%"]
    (audit,) = audited(tmp_path, table("Minions;Scans/s;Scaling Efficiency", *rows))
    assert [scale.row.gpus for scale in audit.table.scales] == [1, 10, 50]


def test_shares_of_counts_beside_printed_ratios(tmp_path: Path) -> None:
    rows = ["1;15m 3s;113s;1.0x;100%;8/8 (100%)", "2;7m 22s;55s;2.04x;102%;8/8 (100%)"]
    rows.append("4;5m 46s;43s;2.61x;65%;8/8 (100%)")
    found = audited(tmp_path, table("Workers;Time;Per-trial time;Speedup;Efficiency;Success rate", *rows))
    assert [(one.checked.speedups, one.remarks) for one in found] == [(3, ()), (0, ())]


def test_what_is_called_ideal_is_no_printed_speedup(tmp_path: Path) -> None:
    rows = ["1;25.10;1.00x;1x", "2;23.01;1.09x;2x", "4;16.17;1.55x;4x"]
    assert wrong(tmp_path, table("Nodes;Time (s);Speedup;vs Ideal", *rows)) == set()


def test_a_gain_of_one_column_over_another_is_no_speedup(tmp_path: Path) -> None:
    rows = ["1;178.2;178.2;-;378", "2;232.3;227.0;2.3%;593", "4;255.9;246.0;3.9%;1094"]
    assert wrong(tmp_path, table("GPUs;default ms;tuned ms;gain;TFLOP/s", *rows)) == set()


def test_an_efficiency_follows_from_the_rounded_speedup_over_a_serial_run(tmp_path: Path) -> None:
    rows = ["1;53.223;53.035;1.004;100.40", "2;53.223;26.786;1.987;99.35", "4;53.223;14.358;3.707;92.68"]
    assert wrong(tmp_path, table("Ranks;Serial time (s);MPI time (s);Speedup;Efficiency (%)", *rows)) == set()


def test_combined_pages_with_ratios_are_not_accused() -> None:
    said = [(one, page.parts, why) for page, one, why in verdicts(range(150), with_ratios)]
    assert [found for found in said if found[0] in ("misread", "in part", "false alarm")] == []
    assert sum(one == "read" for one, *_ in said) >= 147


def test_planted_errors_in_combined_pages_are_found() -> None:
    said = [one for _, one, _ in verdicts(range(150), partial(with_ratios, planted=True))]
    assert said.count("read") >= 143  # of two ratios in a table of their own one may be of other runs
