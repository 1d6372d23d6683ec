"""Generated texts match the registry, and tables on disk have its columns."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.reference.captions import captions
from scalestudy.reference.columns import columns_text
from scalestudy.registry.files import FILES

ROOT = Path(__file__).parents[3]


def test_the_documentation_of_the_columns_is_in_step() -> None:
    published = (ROOT / "docs/columns.md").read_text(encoding="utf-8")
    assert published == columns_text(), "out of step: run `scalestudy stage schema`"


@pytest.mark.parametrize("name", captions())
def test_the_captions_are_in_step(name: str) -> None:
    published = (ROOT / f"report/captions/{name}.rst").read_text(encoding="utf-8")
    assert published == captions()[name], "out of step: run `scalestudy stage schema`"


@pytest.mark.parametrize("name", FILES)
def test_a_column_is_declared_once_in_a_table_and_has_a_meaning(name: str) -> None:
    columns = [end for column in FILES[name].columns for end in column.names]
    assert len(set(columns)) == len(columns)
    assert all(column.meaning and not column.meaning.endswith(".") for column in FILES[name].columns)
