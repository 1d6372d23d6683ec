"""Lines for a terminal: sentences wrap, tables and paths do not lose anything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scalestudy.cli.lines import WIDTH, wrapped
from scalestudy.cli.main import main

WORDS = st.lists(st.text("abcdefghij-/.", min_size=1, max_size=30), min_size=1, max_size=40)


@given(WORDS, st.integers(0, 6))
def test_no_line_is_too_long_and_no_word_is_lost(words: list[str], indent: int) -> None:
    line = " " * indent + " ".join(words)
    found = wrapped(line)
    assert found.split() == words
    assert all(len(one) <= WIDTH for one in found.splitlines())
    assert found.startswith(" " * indent + words[0])


def test_a_row_of_a_table_and_a_long_path_stay_whole() -> None:
    row = "digits-mlp      single" + "  column" * 12
    path = "/a/very/long/path" * 8
    assert wrapped(row) == row
    assert wrapped(f"runs: {path}").split() == ["runs:", path]


@pytest.mark.parametrize("study", ["digits", "mlp_batch_sweep"])
def test_a_plan_has_eighty_columns(study: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--study", f"config/studies/{study}.yaml"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if len(line) > WIDTH] == []
