"""The published JSON schemas are those of the models."""

from __future__ import annotations

import pytest
from published_schemas import SCHEMAS
from scalestudy.reference.schemas import DOCUMENTS, schemas


def test_there_is_a_schema_for_every_document_and_no_other() -> None:
    assert {path.name.removesuffix(".schema.json") for path in SCHEMAS.iterdir()} == set(DOCUMENTS)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_schema_is_in_step_with_the_model(name: str) -> None:
    published = (SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8")
    assert published == schemas()[name], "out of step: run `scalestudy stage schema`"
