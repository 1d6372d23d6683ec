"""Headers of ratios: over nodes, per cents beside the ideal, over a serial run, of a part, by a letter."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import Audit
from test_printed_habits import audited, speedups, table


def remarks(audits: list[Audit]) -> list[tuple[str, int | None]]:
    return [(one.kind, one.gpus) for audit in audits for one in audit.remarks]


def checked(audits: list[Audit]) -> list[tuple[int, int]]:
    return [(one.checked.speedups, one.checked.efficiencies) for one in audits]


@pytest.mark.parametrize("header", ["vs. 2 nodes", "relative to 2 nodes", "x vs 2 nodes", "vs 2 hosts"])
def test_ratios_over_a_number_of_nodes(tmp_path: Path, header: str) -> None:
    rows = ["2;310.0;1.00", "4;161.0;1.93", "8;85.2;3.36", "16;45.1;6.87"]
    found = audited(tmp_path, table(f"Nodes;Time (s);{header}", *rows))
    assert (checked(found), remarks(found)) == ([(4, 0)], [("speedup", 8)])


@pytest.mark.parametrize("header", ["percent", "%", "Per cent"])
def test_per_cents_beside_the_ideal_are_efficiencies(tmp_path: Path, header: str) -> None:
    rows = ["1;9300;9300;100", "2;18200;18600;98", "4;35300;37200;95", "8;66400;74400;98"]
    found = audited(tmp_path, table(f"GPUs;img/min;linear;{header}", *rows))
    assert (checked(found), remarks(found)) == ([(0, 4)], [("efficiency", 8)])


def test_per_cents_that_do_not_begin_at_100_are_no_efficiencies(tmp_path: Path) -> None:
    rows = ["1;9300;52", "2;18200;51", "4;35300;49", "8;66400;46"]
    (found,) = audited(tmp_path, table("GPUs;img/min;percent", *rows))
    assert (found.source.unread, found.checked.efficiencies) == (("percent",), 0)


ABSOLUTE = ["1;44.20;1.00;0.87", "2;22.60;1.96;1.96", "4;11.60;3.81;3.30", "8;6.22;7.11;6.16"]


def test_absolute_speedups_are_over_the_serial_time_of_the_text(tmp_path: Path) -> None:
    printed = table("Threads;Time (s);relative speedup;absolute speedup", *ABSOLUTE)
    found = audited(tmp_path, f"The sequential program needs 38.30 s.\n\n{printed}")
    assert [one.speedups.kind for one in found] == ["smallest", "serial"]
    assert (checked(found), remarks(found)) == ([(4, 0), (4, 0)], [("speedup", 2)])


def test_absolute_speedups_without_a_serial_time_are_left_out(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Threads;Time (s);relative speedup;absolute speedup", *ABSOLUTE))
    assert (found.source.unread, remarks([found])) == (("absolute speedup",), [])


PARTS = ["1;9.80;61.20;71.00;1.00", "2;6.20;31.10;37.30;1.97", "4;4.40;16.20;20.60;3.78", "8;3.90;8.70;12.60;7.03"]


@pytest.mark.parametrize("header", ["Speedup (solve)", "Solve speedup"])
def test_a_speedup_of_a_part_is_checked_against_its_times(tmp_path: Path, header: str) -> None:
    found = audited(tmp_path, table(f"Ranks;Setup (s);Solve (s);Total (s);{header}", *PARTS))
    assert (checked(found), remarks(found)) == ([(4, 0), (0, 0)], [])
    assert [speedups(one)[-1] for one in found] == [(8, 7.03), (8, 5.63)]
    wrong = [*PARTS[:2], "4;4.40;16.20;20.60;3.45", PARTS[3]]  # that of the total
    found = audited(tmp_path, table(f"Ranks;Setup (s);Solve (s);Total (s);{header}", *wrong))
    assert remarks(found) == [("speedup", 4)]


def test_a_speedup_that_follows_from_no_part_of_its_name_is_that_of_the_whole(tmp_path: Path) -> None:
    rows = [
        "1;9.80;61.20;71.00;1.00",
        "2;6.20;31.10;37.30;1.90",
        "4;4.40;16.20;20.60;3.45",
        "8;3.90;8.70;12.60;5.63",
    ]
    (found,) = audited(tmp_path, table("Ranks;Setup (s);Solve (s);Total (s);Speedup (solve)", *rows))
    assert (found.checked.speedups, remarks([found]), speedups(found)[-1]) == (4, [], (8, 5.63))


LETTERS = ["1;210.0;1.00;100%;95.0;1.00;100%", "2;107.4;1.96;98%;49.1;1.93;97%", "4;55.1;3.81;95%;25.9;3.76;92%"]


def test_letters_behind_the_names_of_models(tmp_path: Path) -> None:
    header = "GPUs;ViT-L Time (s);ViT-L S;ViT-L E;ViT-B Time (s);ViT-B S;ViT-B E"
    found = audited(tmp_path, table(header, *LETTERS))
    assert [one.source.name for one in found] == ["vit l", "vit b"]
    assert (checked(found), remarks(found)) == ([(3, 3), (3, 3)], [("speedup", 4)])


def test_a_letter_behind_another_name_is_no_ratio(tmp_path: Path) -> None:
    rows = ["1;210.0;1.00", "2;107.4;1.20", "4;55.1;1.30"]
    (found,) = audited(tmp_path, table("GPUs;ViT-L Time (s);Swin S", *rows))
    assert (found.source.unread, remarks([found])) == (("Swin S",), [])
