"""Results of other people: pipes, devices, links, bombs and falsified files are refused by name."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from builders import observation
from conftest import small_content
from pyarrow import parquet
from scalestudy.cli.results.inputs import plan_of, table_of
from scalestudy.errors import UserError
from scalestudy.launch.place import put_in_place
from scalestudy.publish.typeset import typeset
from scalestudy.record.files import MOST_BYTES, MOST_TEXT, read_file
from scalestudy.record.parts import complete, describe, read_parts, write_data
from scalestudy.record.tables import read_observation
from scalestudy.record.traces import read_trace
from scalestudy.record.voucher import VOUCHER, sealed
from scalestudy.registry.results import RESULTS
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec


def place(path: Path, kind: str) -> None:
    """Something else in the place of a file."""
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "huge":
        with path.open("wb") as file:
            file.truncate(MOST_BYTES + 2)
    elif kind == "deep":
        path.write_text("[" * 200_000)
    elif kind == "long number":
        path.write_text('{"schema_version": ' + "9" * 100_000 + "}")
    elif kind == "no text":
        path.write_bytes(bytes(range(256)) * 40)
    elif kind == "empty":
        path.write_bytes(b"")
    else:
        path.symlink_to(
            {"endless device": "/dev/zero", "link outside": "/etc/passwd", "link to itself": path}[kind]
        )


KINDS = ("pipe", "folder", "endless device", "link outside", "link to itself", "huge", "deep", "long number")
KINDS += ("no text", "empty")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run as the launcher publishes it."""
    spec: RunSpec = next(iter(make_plan(parse_study(small_content(), source="x")).runs.values()))
    runs = tmp_path_factory.mktemp("hostile") / "runs"
    partial = runs / ".partial" / spec.run_id
    partial.mkdir(parents=True)
    (partial / "log.txt").write_text("said\n")
    parts = read_parts(partial, world_size=spec.world_size)
    write_data(partial, parts)
    record = describe(spec, parts, "ok", "", code="0" * 12, started_at="2026-01-01T00:00:00+00:00", environment={})
    complete(partial, record)
    put_in_place(partial, runs / spec.run_id, runs.parent)
    assert observation(spec, [[0.1]] * spec.world_size).record.run_id == spec.run_id
    read_observation(runs / spec.run_id)
    return runs / spec.run_id


READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "record": ("run.json", lambda path: read_observation(path.parent)),
    "table of a run": ("steps.parquet", lambda path: read_observation(path.parent)),
    "log of a run": ("log.txt", lambda path: read_observation(path.parent)),
    "plan": (RESULTS["plan"], lambda path: plan_of(path.parent)),
    "summary": (RESULTS["summary"], lambda path: table_of(path.parent, "summary")),
    "trace": ("trace-rank0.pt.trace.json.gz", read_trace),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_such_file_is_refused_by_name(measured: Path, tmp_path: Path, reader: str, kind: str) -> None:
    name, read = READERS[reader]
    path = tmp_path / measured.name / name
    shutil.copytree(measured, path.parent)
    place(path, kind)
    with pytest.raises(UserError) as refused:
        read(path)
    assert str(path) in str(refused.value)
    assert "root:" not in str(refused.value), "what a link leads to is not read"
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize(
    ("reader", "most"), [("record", MOST_TEXT), ("summary", MOST_TEXT), ("trace", MOST_BYTES)]
)
def test_a_file_that_is_too_large_takes_no_memory(measured: Path, tmp_path: Path, reader: str, most: int) -> None:
    name, read = READERS[reader]
    path = tmp_path / measured.name / name
    shutil.copytree(measured, path.parent)
    path.unlink(missing_ok=True)
    with path.open("wb") as file:
        file.truncate(most + 1)
    tracemalloc.start()
    try:
        with pytest.raises(UserError, match=f"is larger than {most >> 20} MiB, too large for such a file"):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["../../../etc/passwd", "/etc/passwd", "..", "a/b", ""])
def test_a_record_names_no_file_outside_its_directory(measured: Path, tmp_path: Path, name: str) -> None:
    directory = tmp_path / measured.name
    shutil.copytree(measured, directory)
    record = json.loads((directory / "run.json").read_text())
    record["files"][name] = {"bytes": 1, "sha256": "0" * 64}
    (directory / "run.json").write_text(json.dumps(sealed(record)))
    (directory / VOUCHER).unlink()
    with pytest.raises(UserError, match="not a file in the run's own directory"):
        read_observation(directory)


@pytest.mark.parametrize("run", ["../../x", "/etc", "a/b", "A", "a\x1b[2J", ""])
def test_a_plan_names_no_directory_outside_its_study(tmp_path: Path, run: str) -> None:
    plan = json.loads(make_plan(parse_study(small_content(), source="x")).model_dump_json())
    plan["runs"][run] = next(iter(plan["runs"].values()))
    (tmp_path / RESULTS["plan"]).write_text(json.dumps(plan))
    with pytest.raises(UserError, match="is not the id of a run"):
        plan_of(tmp_path)


def test_a_table_that_unpacks_to_more_than_memory_is_refused(
    measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same zeros over and over: kilobytes on disk."""
    monkeypatch.setattr("scalestudy.record.tables.MOST_CELLS", 5_000_000)
    directory = tmp_path / measured.name
    shutil.copytree(measured, directory)
    path = directory / "steps.parquet"
    rows = pa.table({"rank": pa.array([0] * 1_000_000, pa.int64())})
    with parquet.ParquetWriter(path, rows.schema, compression="zstd") as file:
        for _ in range(6):
            file.write_table(rows)
    assert path.stat().st_size < 50_000
    record = json.loads((directory / "run.json").read_text())
    del record["files"]["steps.parquet"]
    (directory / "run.json").write_text(json.dumps(sealed(record)))
    (directory / VOUCHER).unlink()
    with pytest.raises(UserError, match=r"steps\.parquet: has 6000000 rows"):
        read_observation(directory)


def test_a_trace_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scalestudy.record.traces.MOST_BYTES", 10_000_000)
    path = tmp_path / "trace-rank0.pt.trace.json.gz"
    path.write_bytes(gzip.compress(bytes(20_000_000)))
    with pytest.raises(UserError, match="unpacks to more than"):
        read_trace(path)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (None, "is not an object"),
        ({"name": 5}, "has a name or category that is not text"),
        ({"cat": None}, "has a name or category that is not text"),
        ({"ts": "1"}, "has no time"),
        ({"dur": 10**30}, "has no time"),
        ({"args": 1.5}, "has arguments that are not an object"),
        ({"tid": [1]}, "has a process, thread or correlation that is a list or an object"),
        ({"args": {"In msg nelems": "x"}}, "has a message size that is not a number"),
    ],
)
def test_an_event_that_no_profiler_writes_is_refused(tmp_path: Path, changes: dict | None, why: str) -> None:
    path = tmp_path / "trace-rank0.pt.trace.json.gz"
    event = {"ph": "X", "name": "aten::mm", "cat": "cpu_op", "pid": 1, "tid": "2", "ts": 1.5, "dur": 2, "args": {}}
    begin = {"ph": "i", "name": "Record Window End", "ts": "", "s": "g"}
    path.write_bytes(gzip.compress(json.dumps({"traceEvents": [begin, event]}).encode()))
    assert len(read_trace(path)) == 2
    changed = None if changes is None else event | changes
    path.write_bytes(gzip.compress(json.dumps({"traceEvents": [begin, event, changed]}).encode()))
    with pytest.raises(UserError, match=f"not a trace \\(event 2 {why}\\)"):
        read_trace(path)


def test_a_link_within_the_folder_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("content")
    (tmp_path / "link").symlink_to("file")
    assert read_file(tmp_path / "link") == b"content"


def test_latex_prints_no_file_that_a_link_leads_to(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    folder = tmp_path / "study"
    (folder / "tables").mkdir(parents=True)
    (folder / "tables/x.tex").symlink_to(tmp_path / "secret")
    (folder / "report.tex").write_text("\\documentclass{article}\\begin{document}\\input{tables/x}\\end{document}")
    with pytest.raises(UserError, match=r"x\.tex: is a link to a file outside its folder|missing; on Debian"):
        typeset(folder / "report.tex", log=tmp_path / "log")
