"""Records of other people with checksums that match: what no run of ours has is refused by file and key."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from builders import READING, observation
from conftest import small_content
from pyarrow import parquet
from scalestudy.analyse.study.environment import study_environment
from scalestudy.errors import UserError
from scalestudy.launch.place import put_in_place
from scalestudy.record.observation import TABLES, TEXTS, digest_of
from scalestudy.record.parts import Parts, complete, describe, write_data
from scalestudy.record.tables import read_observation
from scalestudy.record.voucher import OWN, sealed, write_voucher
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

ENVIRONMENT: dict[str, Any] = {
    "commit": None,
    "dirty": False,
    "device": "cpu",
    "packages": {"torch": "2.13.0"},
    "variables": {},
    "warnings": [{"kind": "busy host", "text": "the host is busy"}],
    "hardware": {"cpu": {"numa_nodes": {"0": "0-1,4"}}, "gpu": {"note": "", "devices": [], "links": {}}},
    "host_load": {"training": [READING], "after": []},
    "gradient_noise": {"samples": 8, "gradients": 2, "squares": [1.0], "products": [0.5]},
    "unknown": {"later": ["release"]},
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run as the launcher publishes it."""
    spec = next(iter(make_plan(parse_study(small_content(), source="x")).runs.values()))
    runs = tmp_path_factory.mktemp("hostile") / "runs"
    partial = runs / ".partial" / spec.run_id
    partial.mkdir(parents=True)
    (partial / "log.txt").write_text("said\n")
    made = observation(spec, [[0.1] * 4] * spec.world_size)
    tables = {
        name: pa.Table.from_pandas(table, preserve_index=False) if not isinstance(table, pa.Table) else table
        for name, table in made.tables.items()
    }
    parts = Parts(reports=(), environment=ENVIRONMENT, stopping=None, tables=tables, epochs=[])
    write_data(partial, parts)
    started = "2026-01-01T00:00:00+00:00"
    complete(partial, describe(spec, parts, "ok", "", code="0" * 12, started_at=started, environment=ENVIRONMENT))
    put_in_place(partial, runs / spec.run_id, runs.parent)
    assert read_observation(runs / spec.run_id).record.environment == ENVIRONMENT
    return runs / spec.run_id


def sealed_again(directory: Path, record: dict[str, Any]) -> None:
    """Write a record with checksums that match its files."""
    for name in record["files"]:
        record["files"][name] = digest_of((directory / name).read_bytes()).model_dump()
    record.pop(OWN, None)
    (directory / "run.json").write_text(json.dumps(sealed(record)))
    write_voucher(directory)


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        ("warnings", [None]),
        ("warnings", [{"kind": "x"}]),
        ("packages", 1e308),
        ("dirty", "\u202e<script>"),
        ("host_load.training", [{}]),
        ("host_load.training", [READING | {"span_s": 0}]),
        ("host_load.training", [READING | {"others_cores": "3"}]),
        ("host_load.after", {"a": 1}),
        ("gradient_noise.products", ["x"]),
        ("hardware.cpu.numa_nodes", "x"),
        ("hardware.cpu.numa_nodes", {"0": "0-99999999999"}),
        ("hardware.gpu.devices", [{"cpus": []}]),
        ("hardware.gpu.links", [[]]),
        ("nodes", [{}]),
        ("held_devices", 0),
        ("seen", {"loaders": [1]}),
        ("imported", {"limits": None, "steps_per_row": 1}),
    ],
)
def test_an_entry_that_no_run_has_is_refused_by_its_key(
    measured: Path, tmp_path: Path, keys: str, value: Any
) -> None:
    directory = tmp_path / measured.name
    shutil.copytree(measured, directory)
    record = json.loads((directory / "run.json").read_text())
    *within, last = keys.split(".")
    at = record["environment"]
    for key in within:
        at = at[key]
    at[last] = value
    sealed_again(directory, record)
    with pytest.raises(UserError) as refused:
        read_observation(directory)
    assert f"{directory / 'run.json'}: environment.{keys}" in str(refused.value)
    assert "move the run's directory away" in str(refused.value)


@pytest.mark.parametrize(
    ("column", "values", "why"),
    [
        ("step_time_s", None, "is missing"),
        ("phase", [1, 1, 1, 1], "is not text"),
        ("loss", ["x"] * 4, "is not numbers"),
        ("step", [0, 1, None, 3], "has empty cells"),
        ("step_time_s", [2**62] * 4, "has larger numbers than any run has"),
        ("step_time_s", [1.0, 1.0, float("inf"), 1.0], "has larger numbers than any run has"),
        ("rank", [-(2**62)] * 4, "has larger numbers than any run has"),
    ],
)
def test_a_column_that_no_run_has_is_refused_by_its_name(
    measured: Path, tmp_path: Path, column: str, values: list[Any] | None, why: str
) -> None:
    directory = tmp_path / measured.name
    shutil.copytree(measured, directory)
    path = directory / "steps.parquet"
    table = parquet.read_table(path).slice(0, 4)
    place = table.column_names.index(column)
    changed = table.drop_columns([column]) if values is None else table.set_column(place, column, pa.array(values))
    parquet.write_table(changed, path)
    sealed_again(directory, json.loads((directory / "run.json").read_text()))
    with pytest.raises(UserError) as refused:
        read_observation(directory)
    assert f"{path}: column {column} {why}" in str(refused.value)


def test_blocks_without_steps_are_refused(measured: Path, tmp_path: Path) -> None:
    directory = tmp_path / measured.name
    shutil.copytree(measured, directory)
    path = directory / "steps.parquet"
    parquet.write_table(parquet.read_table(path).slice(0, 0), path)
    block = {column: ["measured"] if column in TEXTS else [0] for column in TABLES["blocks"]}
    parquet.write_table(pa.table(block), directory / "blocks.parquet")
    sealed_again(directory, json.loads((directory / "run.json").read_text()))
    with pytest.raises(UserError, match=r"has no steps, but blocks\.parquet has blocks"):
        read_observation(directory)


def test_facts_of_any_type_are_printed() -> None:
    gpu = {"devices": [{"current_sm_clock_mhz": 345}, {"current_sm_clock_mhz": "x"}]}
    found = study_environment([{"python": ["3", "11"]}, {"python": {}, "hardware": {"gpu": gpu}}]).facts
    assert found["python"] == ('["3", "11"]', "{}")
    assert found["hardware gpu current sm clock mhz"] == (345,)


def test_a_column_without_any_number_is_read(measured: Path, tmp_path: Path) -> None:
    """As in records of imported logs. Releases of pyarrow differ in the ends of such a column."""
    directory = tmp_path / measured.name
    shutil.copytree(measured, directory)
    path = directory / "steps.parquet"
    table = parquet.read_table(path)
    nothing = pa.array([float("nan")] * len(table))
    parquet.write_table(table.set_column(table.column_names.index("data_time_s"), "data_time_s", nothing), path)
    sealed_again(directory, json.loads((directory / "run.json").read_text()))
    assert read_observation(directory).steps["data_time_s"].isna().all()
