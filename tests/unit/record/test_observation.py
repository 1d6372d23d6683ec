"""An observation is whole or refused by name; the fingerprint follows behaviour and nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from builders import observation
from scalestudy.errors import UserError
from scalestudy.launch.place import put_in_place
from scalestudy.record import fingerprint as module
from scalestudy.record.observation import PART_COLUMNS, SCHEMA_VERSION, TABLES, read_record
from scalestudy.record.parts import DATA_FILES, Parts, complete, first_diverged, read_parts, summarise, write_data
from scalestudy.record.rank_recorder import RankRecorder
from scalestudy.record.tables import read_observation
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan
from scalestudy.study.spec import RunSpec


@pytest.fixture
def spec(content: dict[str, Any]) -> RunSpec:
    return next(s for s in make_plan(parse_study(content, source="x")).runs.values() if s.world_size == 2)


@pytest.fixture
def run(spec: RunSpec, tmp_path: Path) -> Path:
    """A published run directory."""
    made = observation(spec, [[0.001] * 20] * 2)
    partial = tmp_path / "runs" / ".partial" / spec.run_id
    partial.mkdir(parents=True)
    tables = {name: pyarrow.Table.from_pandas(getattr(made, name), preserve_index=False) for name in TABLES}
    epochs = made.epochs.to_dict("records")
    parts = Parts(reports=made.record.ranks, environment={}, stopping=None, tables=tables, epochs=epochs)
    write_data(partial, parts)
    (partial / "log.txt").write_text("epoch 1/1\n")
    final = tmp_path / "runs" / spec.run_id
    complete(partial, made.record)
    put_in_place(partial, final, tmp_path)
    return final


def test_what_is_published_is_read_back(run: Path) -> None:
    back = read_observation(run)
    assert {path.name for path in run.iterdir()} == {*DATA_FILES, "run.json", "run.sha256"}
    assert len(back.steps) == 40
    assert back.record.run_id == run.name


def test_publishing_never_overwrites(run: Path, spec: RunSpec, tmp_path: Path) -> None:
    again = tmp_path / "again"
    again.mkdir()
    for name in DATA_FILES:
        shutil.copy(run / name, again / name)
    before = (run / "run.json").read_bytes()
    complete(again, read_record(run).model_copy(update={"reason": "again"}))
    put_in_place(again, run, tmp_path)
    assert read_record(run).reason == "again"
    (kept,) = (tmp_path / "superseded").iterdir()
    assert (kept / "run.json").read_bytes() == before


@pytest.mark.parametrize("damage", ["cut short", "no JSON", "other version", "unknown key"])
def test_a_damaged_run_json_is_refused_by_name(run: Path, damage: str) -> None:
    path = run / "run.json"
    text = path.read_text()
    content = json.loads(text)
    path.write_text(
        {
            "cut short": text[: len(text) // 2],
            "no JSON": "hello",
            "other version": json.dumps(content | {"schema_version": 1}),
            "unknown key": json.dumps(content | {"surprise": 1}),
        }[damage]
    )
    with pytest.raises(UserError) as caught:
        read_record(run)
    assert str(path) in str(caught.value)
    assert f"schema version {SCHEMA_VERSION}" in str(caught.value)


def test_missing_short_and_changed_files_are_refused_by_name(run: Path) -> None:
    steps = run / "steps.parquet"
    whole = steps.read_bytes()
    steps.write_bytes(whole[:-10])
    with pytest.raises(UserError, match=r"steps\.parquet: differs from what was recorded"):
        read_observation(run)
    steps.unlink()
    with pytest.raises(UserError, match=r"steps\.parquet: missing"):
        read_observation(run)
    steps.write_bytes(whole)
    (run / "epochs.csv").write_text((run / "epochs.csv").read_text().replace("0.9", "1.0"))
    with pytest.raises(UserError, match=r"epochs\.csv: differs from what was recorded"):
        read_observation(run)
    (run / "run.json").unlink()
    with pytest.raises(UserError, match=r"run\.json: missing; the run was not measured"):
        read_observation(run)


def test_a_renamed_run_directory_is_refused(run: Path) -> None:
    moved = run.with_name("another-run")
    run.rename(moved)
    with pytest.raises(UserError, match="belongs to run"):
        read_record(moved)


def test_recorder_parts_come_together(spec: RunSpec, tmp_path: Path) -> None:
    for rank in (0, 1):
        recorder = RankRecorder(tmp_path, rank=rank)
        recorder.add_block(
            epoch=1,
            phases=["warmup", "measured"],
            times_s=np.array([[0.1, 0, 0.2, 0.3, 0.3, 0, 0, 0.1], [0.1, 0, 0.2, 0.3, 0.4 + rank, 0, 0, 0.1]]),
            samples=16,
            losses=[2.0, 1.0],
            state={"resident_gib": 0.25},
        )
        recorder.add_block(
            epoch=0,
            phases=["probe-sync"],
            times_s=np.full((1, 8), 0.1),
            samples=16,
            losses=[1.0],
            ddp_s=np.array([[0.1, 0.2, 0.1]]),
            state={},
        )
        recorder.add_epoch(
            epoch=1,
            epoch_time_s=2.1 + rank,
            elapsed_s=3.0,
            samples=64,
            train_loss=1.5,
            validation_loss=1.0,
            validation_accuracy=0.5,
        )
        recorder.write(observation(spec, [[]] * 2).record.ranks[rank], {"parameters": 10})
    parts = read_parts(tmp_path, world_size=2)
    assert [report.rank for report in parts.reports] == [0, 1]
    assert [row["epoch_time_s"] for row in parts.epochs] == [3.1]  # the slowest rank's
    assert parts.tables["steps"]["phase"].to_pylist() == ["warmup", "measured", "probe-sync"] * 2
    totals = summarise(parts, wall_time_s=9.0)
    assert (totals.steps, totals.samples, totals.parameters) == (2, 64, 10)
    assert totals.train_time_s == pytest.approx(3.1)
    write_data(tmp_path, parts)
    table = pyarrow.parquet.read_table(tmp_path / "steps.parquet").to_pandas()
    assert table[list(PART_COLUMNS)].sum(axis=1).tolist() == pytest.approx(table["step_time_s"].tolist())
    assert table["phase"].tolist() == ["warmup", "measured", "probe-sync"] * 2
    assert table["communication_span_s"].notna().tolist() == [False, False, True] * 2
    blocks = pyarrow.parquet.read_table(tmp_path / "blocks.parquet").to_pandas()
    assert blocks[["rank", "block", "first_step", "steps"]].to_numpy().tolist() == [
        [0, 0, 0, 2],
        [0, 1, 2, 1],
        [1, 0, 0, 2],
        [1, 1, 2, 1],
    ]
    assert blocks["resident_gib"].dropna().tolist() == [0.25, 0.25]


def test_a_rank_that_left_nothing_is_missing_not_invented(tmp_path: Path) -> None:
    parts = read_parts(tmp_path, world_size=2)
    assert parts.reports == ()
    assert summarise(parts, wall_time_s=1.0).steps == 0


def test_fingerprint_follows_behaviour_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PACKAGE", tmp_path)
    source = tmp_path / "train" / "loop.py"
    source.parent.mkdir()

    def of(text: str) -> str:
        source.write_text(text)
        return module.fingerprint("train")

    first = of('"""Doc."""\ndef f(x):\n    """Doc."""\n    return x + 1\n')
    assert of('"""Other."""\n# a comment\ndef f(x):\n    return (x\n            + 1)\n') == first
    assert of("def f(x):\n    return x + 2\n") != first


def test_the_first_rank_without_a_loss_is_that_of_the_earliest_step() -> None:
    nan = float("nan")
    steps = {
        "step": [0, 1, 2, 0, 1, 2],
        "rank": [0, 0, 0, 1, 1, 1],
        "loss": [1.0, 1.0, nan, 1.0, float("inf"), nan],
    }
    assert first_diverged(pa.table(steps)) == 1
    assert first_diverged(pa.table(steps | {"loss": [1.0, None, 1.0, 1.0, 1.0, 1.0]})) is None
