"""Devices that only a legend in the text around a table names."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.reading import read_published
from test_more_printed_habits import kinds
from test_printed_habits import ONCE, audited, speedups, table

LEGENDS = (
    "A: 1 GPU, B: 2 GPUs, C: 4 GPUs",
    "A = 1 GPU; B = 2 GPUs; C = 4 GPUs",
    "Here A (1 GPU), B (2 GPUs) and C (4 GPUs) are our machines.",
    "- A: single V100\n- B: 2 x V100\n- C: 4 x V100",
    "A: 1 node, 1 GPU each, B: 1 node, 2 GPUs each, C: 2 nodes, 2 GPUs each",
)


@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize("legend", LEGENDS)
def test_labels_of_rows_have_their_devices_in_a_legend(legend: str, above: bool, tmp_path: Path) -> None:
    own = table("Config;Throughput (tokens/s)", "A;50", "B;95", "C;175")
    (found,) = audited(tmp_path, f"{legend}\n\n{own}" if above else f"{own}\n{legend}\n")
    assert (speedups(found), kinds([found])) == (ONCE, [])
    assert any(note.startswith("A is ") and "line" in note for note in found.source.notes)


@pytest.mark.parametrize("above", [True, False])
def test_headers_across_have_their_devices_in_a_legend(above: bool, tmp_path: Path) -> None:
    own = table("Model;S1;S2;S3", "Heron;50 img/s;95 img/s;175 img/s", "Stork;10 img/s;19 img/s;35 img/s")
    legend = "S1: 1 GPU, S2: 2 GPUs, S3: 4 GPUs"
    found = audited(tmp_path, f"{legend}\n\n{own}" if above else f"{own}\n{legend}\n")
    assert [(one.case, speedups(one)) for one in found] == [("Heron", ONCE), ("Stork", ONCE)]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            "A: 1 GPU, B: 2 GPUs",
            "line 1 names devices (A is 1 GPU, B is 2 GPUs), but not those of 'C': write them there",
        ),
        ("* all runs on 8 GPUs", "line 1 names one number of devices for all ('all runs on 8 GPUs')"),
        ("A: 4 GPUs per node, B: 6 GPUs per node, C: 8 GPUs per node", "add a column"),
    ],
)
def test_a_legend_that_does_not_say_enough_is_named(text: str, hint: str, tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(f"{text}\n\n" + table("Config;Throughput (tokens/s)", "A;50", "B;95", "C;175"))
    with pytest.raises(UserError) as error:
        read_published(path)
    assert hint in str(error.value)


def test_the_devices_of_models_are_no_names_of_setups(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text("Heron: 4 GPUs, Stork: 8 GPUs\n\n" + table("Model;Throughput (img/s)", "Heron;50", "Stork;95"))
    with pytest.raises(UserError):
        read_published(path)


def test_a_table_with_devices_needs_no_legend(tmp_path: Path) -> None:
    own = table("Config;GPUs;Throughput (tokens/s)", "A;1;50", "A;2;95", "A;4;175")
    (found,) = audited(tmp_path, f"A: 1 GPU, B: 4 GPUs\n\n{own}")
    assert (speedups(found), found.source.notes) == (ONCE, ())


@pytest.mark.parametrize("legend", ["(a) 1 GPU, (b) 2 GPUs, (c) 4 GPUs", "(a): 1 GPU; (b): 2 GPUs; (c): 4 GPUs"])
def test_letters_in_brackets_have_a_legend(legend: str, tmp_path: Path) -> None:
    (found,) = audited(tmp_path, table("Method;(a);(b);(c)", "Heron;70 min;36.84 min;20 min") + f"\n{legend}\n")
    assert (speedups(found), kinds([found])) == (ONCE, [])


def test_a_legend_in_words(tmp_path: Path) -> None:
    own = table("Name;Throughput (img/s);Speedup", "A;50;1.0", "B;95;1.9", "C;175;3.5")
    (found,) = audited(tmp_path, f"{own}\nwhere A is 1 GPU, B is 2 GPUs and C is 4 GPUs\n")
    assert (speedups(found), kinds([found])) == (ONCE, [])


def test_a_sentence_on_the_results_is_no_legend(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    own = table("Name;Throughput (img/s)", "A;50", "B;95")
    path.write_text(f"{own}\nHere A is 1.5 times faster on 4 GPUs and B is slower on 8 GPUs\n")
    with pytest.raises(UserError):
        read_published(path)
