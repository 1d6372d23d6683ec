"""A document is read by the model that wrote it; other content is refused by name, with what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

import pytest
from published_schemas import check_json
from scalestudy.analyse.statistics.intervals import Interval
from scalestudy.diagnose.findings import Bottleneck, Diagnosis, Evidence, Finding, FindingsFile
from scalestudy.errors import UserError
from scalestudy.record.document import Document, read_document, write_document
from scalestudy.reference.schemas import DOCUMENTS

FINDING = Finding(
    cause="comm-bound",
    explanation="a sentence",
    evidence=(
        Evidence.of("overhead", "overhead per step", Interval(0.5, 0.25, inf), "ms"),
        Evidence.of("share_of_step", "share of the step", nan, "%"),
    ),
    refuted_by="another",
)
FOUND = FindingsFile(
    study="small",
    diagnoses=(
        Diagnosis(
            workload="mlp",
            variant="ddp",
            scaling="strong",
            nodes=1,
            devices_per_node=2,
            world_size=2,
            batch_per_rank=16,
            global_batch=32,
            goal="throughput",
            verdict="poor",
            sentence="a sentence",
            bottleneck=Bottleneck(kind="communication", shares={"communication": 0.6, "compute": 0.4}),
            context=(),
            findings=(FINDING,),
        ),
    ),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "findings.json"
    write_document(path, FOUND)
    return path


def test_what_is_written_is_valid_and_read_back(file: Path) -> None:
    check_json(file, "findings")
    (back,) = read_document(file, FindingsFile).diagnoses
    overhead, share = back.findings[0].evidence
    assert (overhead.value, overhead.low) == (500, 250)
    assert isnan(overhead.high), "infinity is no number of JSON"
    assert isnan(share.value)
    write_document(file.with_name("again.json"), FindingsFile(study="small", diagnoses=(back,)))
    assert file.with_name("again.json").read_text() == file.read_text()


def changed(**values: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda content: content | values


def without_verdict(content: dict[str, Any]) -> Any:
    del content["diagnoses"][0]["verdict"]
    return content


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda content: content["diagnoses"],
            "written by an older scalestudy: no schema version, this",
        ),
        (changed(schema_version=1), "written by an older scalestudy: schema 1, this one reads 6"),
        (
            changed(schema_version=7),
            "written by a newer scalestudy: schema 7, this one reads 6; update",
        ),
        (changed(schema_version="two"), "written by an older scalestudy: schema two"),
        (without_verdict, "diagnoses.0.verdict: Field required"),
        (changed(notes="more"), "notes: Extra inputs are not permitted"),
        (changed(study=None), "study: Input should be a valid string"),
    ],
)
def test_other_content_is_refused_by_name(file: Path, change: Callable[[Any], Any], said: str) -> None:
    file.write_text(json.dumps(change(json.loads(file.read_text()))))
    with pytest.raises(UserError, match="run or import the study again, or `scalestudy stage diagnose`") as caught:
        read_document(file, FindingsFile)
    assert f"{file}: {said}" in str(caught.value)


def test_a_file_that_is_missing_or_cut_short_is_refused_by_name(file: Path) -> None:
    file.write_text(file.read_text()[:-20])
    with pytest.raises(
        UserError,
        match=r"not valid JSON: .*run or import the study again, or `scalestudy stage diagnose`",
    ):
        read_document(file, FindingsFile)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="not valid JSON"):
        read_document(file, FindingsFile)
    file.unlink()
    with pytest.raises(
        UserError,
        match="no such file or directory; run or import the study again, or `scalestudy stage diagnose`",
    ):
        read_document(file, FindingsFile)


@pytest.mark.parametrize("name", [name for name, model in DOCUMENTS.items() if issubclass(model, Document)])
def test_every_document_of_a_newer_schema_is_refused(tmp_path: Path, name: str) -> None:
    model, path = DOCUMENTS[name], tmp_path / f"{name}.json"
    assert issubclass(model, Document)
    path.write_text('{"schema_version": 99}')
    with pytest.raises(UserError, match=rf"{name}\.json: written by a newer scalestudy: schema 99"):
        read_document(path, model)
