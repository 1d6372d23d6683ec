"""Plain numbers in lists, whose unit the line above says, and labels of several machines of one kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.headers.meaning import meaning_of
from scalestudy.importers.reading import read_published
from test_more_printed_habits import kinds
from test_printed_habits import audited, speedups, table

LIST = """\
Training, images/sec:
  1 GPU   :   400
  2 GPUs  :   760   (95.0%)
  4 GPUs  :  1400   (91.0%)
"""


def test_numbers_in_front_of_ratios_are_what_the_line_above_says(tmp_path: Path) -> None:
    """They were dropped without a word."""
    (found,) = audited(tmp_path, LIST)
    assert speedups(found) == [(1, 1.0), (2, 1.9), (4, 3.5)]
    assert kinds([found]) == ["efficiency"]  # 1400 / 400 / 4 is 87.5 %


def test_a_list_of_plain_numbers_has_the_unit_of_the_line_above(tmp_path: Path) -> None:
    (found,) = audited(tmp_path, "tokens/s:\n\n- 1 GPU: 400\n- 2 GPUs: 760\n")
    assert speedups(found) == [(1, 1.0), (2, 1.9)]


def test_plain_numbers_without_a_unit_are_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text(LIST.replace("Training, images/sec:", "We get:"), encoding="utf-8")
    with pytest.raises(UserError, match="value=throughput"):
        read_published(path)


def test_several_machines_of_a_kind_are_that_hardware(tmp_path: Path) -> None:
    rows = ("HGX;8;1.9;1.00x", "4x HGX;32;7.4;3.89x", "16x HGX;128;28.6;15.1x")
    (found,) = audited(tmp_path, table("System;GPUs;Tokens/day (B);Scaling", *rows))
    assert kinds([found]) == []


@pytest.mark.parametrize(
    ("header", "factor"),
    [
        ("Tokens/s (k)", 1e3),
        ("tokens/day (B)", 1e9 / 86400),
        ("images/s (in thousands)", 1e3),
        ("samples/s (mean)", 1),
    ],
)
def test_a_factor_behind_a_unit(header: str, factor: float) -> None:
    assert meaning_of(header).factor == pytest.approx(factor)


def test_one_ratio_at_the_edge_of_its_rounding_does_not_make_the_row_before_a_baseline(tmp_path: Path) -> None:
    rows = ("1;240;1.0", "2;465;0.969", "4;890;0.97")
    (found,) = audited(tmp_path, table("GPUs;samples/s;efficiency", *rows))
    assert kinds([found]) == ["efficiency"]
