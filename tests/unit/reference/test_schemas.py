"""The published JSON schemas are those of the models."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT
from published_schemas import SCHEMAS
from pydantic import VERSION
from scalestudy.cli.main import main
from scalestudy.record.document import Document
from scalestudy.reference.schemas import DOCUMENTS, schemas


def test_there_is_a_schema_for_every_document_and_no_other() -> None:
    assert {path.name.removesuffix(".schema.json") for path in SCHEMAS.iterdir()} == set(DOCUMENTS)


PINNED = re.search(r"^pydantic==(.+)$", (ROOT / "constraints/base.txt").read_text(encoding="utf-8"), flags=re.M)


OTHER = PINNED is None or PINNED[1] != VERSION


@pytest.mark.skipif(OTHER, reason="schemas are written with the pinned pydantic; others word some differently")
@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_schema_is_in_step_with_the_model(name: str) -> None:
    published = (SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8")
    assert published == schemas()[name], "out of step: run `scalestudy stage schema`"


@pytest.mark.parametrize("name", [name for name, model in DOCUMENTS.items() if issubclass(model, Document)])
def test_the_command_that_is_named_where_a_file_is_refused_is_there(name: str) -> None:
    model = DOCUMENTS[name]
    assert issubclass(model, Document)
    assert main([*model.made_by.split()[1:], "--help"]) == 0
