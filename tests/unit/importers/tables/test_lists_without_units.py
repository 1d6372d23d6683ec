"""Lists whose numbers have no unit are asked about; headings and items with commas are no rows of CSV."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.diagnose.audit import audit_file
from scalestudy.errors import UserError
from scalestudy.importers.columns.meanings import Corrections
from scalestudy.importers.reading import read_published
from test_printed_habits import speedups

LISTS = """// 2 brokers
// 1 Node:  20.00
// 2 Nodes: 24.00
// 4 Nodes: 36.00

// 3 brokers
// 1 Node:  30.00
// 2 Nodes: 45.00
"""


def test_numbers_without_a_unit_are_asked_about_and_read(tmp_path: Path) -> None:
    path = tmp_path / "lists.txt"
    path.write_text(LISTS)
    with pytest.raises(UserError, match="table at line 2: what are the numbers below the devices"):
        read_published(path)
    found, asked = audit_file(read_published(path, Corrections({"value": "throughput"})), "lists")
    assert not asked
    assert [speedups(one) for one in found] == [[(1, 1.0), (2, 1.2), (4, 1.8)], [(1, 1.0), (2, 1.5)]]


def test_a_text_with_commas_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    lines = [
        "### Links are sound at scale (jobs 5001 @72, 5002 @32)",
        "- Ran the test (all links, the same stack as",
    ]
    lines += ["  training) on 32 and 72 nodes, no errors:", "  - 72 nodes: gather 70.8, reduce 80.4 GB/s."]
    path.write_text("\n".join([*lines, "  - 32 nodes: gather 84.1, reduce 83.7 GB/s."]))
    with pytest.raises(UserError, match="none was recognised; write a line of headers"):
        read_published(path)


def test_the_caption_of_a_table_in_a_code_block_is_the_line_above_the_block(tmp_path: Path) -> None:
    path = tmp_path / "fenced.md"
    rows = ["| ranks | time |", "|---|---|", "| 1 | 5.0 s |", "| 4 | 6.25 s |"]
    path.write_text("\n".join(["weak scaling of the model, 1000 cells per rank:", "```text", *rows, "```", ""]))
    found, asked = audit_file(read_published(path), "fenced")
    assert not asked
    assert [speedups(one) for one in found] == [[(1, 1.0), (4, 3.2)]]
