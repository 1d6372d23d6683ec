"""Devices in phrases, rates without a name of their work, and parameter servers beside workers."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.reading import read_published
from test_more_printed_habits import kinds
from test_printed_habits import ONCE, audited, speedups, table


@pytest.mark.parametrize("joint", ["On", "With", "using", "across"])
def test_a_preposition_in_front_of_the_devices_is_no_strategy(joint: str, tmp_path: Path) -> None:
    rows = (f"{joint} 1 GPU;50", f"{joint} 2 GPUs;95", f"{joint} 4 GPUs;175")
    (found,) = audited(tmp_path, table("Setup;Throughput (tokens/s)", *rows))
    assert (speedups(found), kinds([found])) == (ONCE, [])
    assert {row.label("strategy") for row in found.source.rows} == {""}


def test_a_strategy_with_and_on_devices_is_one(tmp_path: Path) -> None:
    rows = ("Heron on 1 GPU;50", "Heron with 2 GPUs;95", "Heron using 4 GPUs;175")
    (found,) = audited(tmp_path, table("Setup;Throughput (tokens/s)", *rows))
    assert (speedups(found), kinds([found])) == (ONCE, [])
    assert {row.label("strategy") for row in found.source.rows} == {"Heron"}


@pytest.mark.parametrize("statistic", ["", "p50: ", "median: "])
@pytest.mark.parametrize("unit", ["/s", " /sec", " per second"])
def test_a_rate_of_work_without_a_name_is_no_time(statistic: str, unit: str, tmp_path: Path) -> None:
    lines = (f"- 1M/1G: {statistic}50{unit}", f"- 1M/2G: {statistic}95{unit}", f"- 2M/4G: {statistic}175{unit}")
    (found,) = audited(tmp_path, "Replies of the server\n\n" + "\n".join(lines) + "\n")
    assert (speedups(found), found.settled.rate, kinds([found])) == (ONCE, "throughput", [])


def test_parameter_servers_are_no_devices(tmp_path: Path) -> None:
    text = "1 ps, 1 worker: 50 img/s\n2 ps, 2 workers: 95 img/s\n3 ps, 4 workers: 175 img/s\n"
    (found,) = audited(tmp_path, text)
    assert (speedups(found), kinds([found])) == (ONCE, [])
    assert "parameter servers are not counted as devices" in found.source.notes


def test_other_parameter_servers_on_as_many_workers_are_another_series(tmp_path: Path) -> None:
    rows = ("1 ps, 2 workers;50", "1 ps, 4 workers;60", "2 ps, 2 workers;55", "2 ps, 4 workers;110")
    found = audited(tmp_path, table("Setup;images/sec", *rows))
    assert [(one.case, speedups(one)) for one in found] == [
        ("1 ps", [(2, 1.0), (4, 1.2)]),
        ("2 ps", [(2, 1.0), (4, 2.0)]),
    ]


def test_servers_without_workers_have_no_note(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table("GPUs;Step;img/s", "1;2 ps;50", "2;2 ps;95"))
    assert not any("servers" in note for note in read_published(path).tables[0].notes)


@pytest.mark.parametrize("kind", ["GPUs", "A100", ""])
def test_nodes_of_devices_in_words_are_multiplied(kind: str, tmp_path: Path) -> None:
    one = "1 node with 2 A100" if kind == "A100" else "1 node of 2 GPUs"
    rows = (f"{one};50", f"2 nodes of 2 {kind};95", f"four nodes with 2 {kind or 'GPUs'} each;175")
    (found,) = audited(tmp_path, table("Setup;Throughput (tokens/s)", *rows))
    assert (speedups(found), kinds([found])) == ([(2, 1.0), (4, 1.9), (8, 3.5)], [])


@pytest.mark.parametrize(("ratio", "remarks"), [("3.5x", []), ("3.1x", ["speedup"])])
def test_a_row_of_speedups_is_of_the_most_devices(ratio: str, remarks: list[str], tmp_path: Path) -> None:
    rows = ("1 GPU;40;22", "2 GPUs;21.05;11.6", "4 GPUs;11.43;6.29", f"Speedup;{ratio};3.5x")
    text = f"**Training time per epoch (min)**\n\n{table(';DDP;DDP+AMP', *rows)}"
    found = audited(tmp_path, text)
    assert [speedups(one) for one in found] == [ONCE, ONCE]
    assert (kinds(found), [one.checked.speedups for one in found]) == (remarks, [1, 1])


def test_several_rows_of_ratios(tmp_path: Path) -> None:
    rows = ("1 GPU;40;1", "2 GPUs;21.05;1.1", "4 GPUs;11.43;1.2", "Speedup;3.5x;", "Efficiency;87.5%;")
    (found,) = audited(tmp_path, table(";Time (s);Energy", *rows))
    assert (speedups(found), kinds([found])) == (ONCE, [])
    assert (found.checked.speedups, found.checked.efficiencies) == (1, 1)


def test_a_row_of_speedups_over_something_else_is_none(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(table(";Time (s)", "1 GPU;40", "4 GPUs;11.43", "Speedup vs CPU;51x"))
    with pytest.raises(UserError):
        read_published(path)
