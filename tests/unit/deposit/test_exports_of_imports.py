"""Exports of an imported study: what its logs do not say is unknown in every format, and so is its date."""

from __future__ import annotations

import http.server
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from scalestudy.cli.main import main
from scalestudy.cli.results.imported import import_files
from scalestudy.cli.results.inputs import plan_of
from scalestudy.deposit import trackers
from scalestudy.importers.logs.model import Given
from scalestudy.record.observation import read_record
from scalestudy.study.spec import ImportedSpec, parse_spec

UNSAID = ("precision", "compile", "activation_checkpointing", "accumulation_steps", "micro_batch", "settings")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs on each of one and two devices, from a table that names neither a date nor a setting."""
    folder = tmp_path_factory.mktemp("imported")
    rows = [
        f"{run},{devices},64,{step},{1000 / devices + step % 3 + run}"
        for run, devices in ((1, 1), (2, 1), (3, 2), (4, 2))
        for step in range(1, 31)
    ]
    (folder / "runs.csv").write_text("\n".join(["run,gpus,global_batch,step,step_time_ms", *rows]) + "\n")
    given = {folder / "runs.csv": Given()}
    import_files(given, "toy", folder / "toy", scaling=None, form=None, documents=False)
    return folder / "toy"


def export(results: Path, form: str, to: Path | str) -> int:
    return main(["export", "--results", str(results), "--format", form, *(["--to", str(to)] if to else [])])


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_tables_state_no_setting_that_no_log_has(form: str, results: Path, tmp_path: Path) -> None:
    assert export(results, form, tmp_path) == 0
    read = pd.read_parquet if form == "parquet" else pd.read_csv
    for name in ("runs", "points"):
        frame = read(tmp_path / f"{name}.{form}")
        assert frame[[*UNSAID, "torch"]].isna().all(axis=None), name
        assert frame["batch_per_rank"].tolist()


def test_records_state_no_setting_that_no_log_has(results: Path) -> None:
    for run in plan_of(results).runs:
        content = json.loads((results / "runs" / run / "run.json").read_text())["spec"]
        assert {content.get(name) for name in UNSAID} == {None}
        assert content["ddp"] is content["fsdp"] is content["input"] is None


def test_records_of_earlier_imports_are_read_with_their_names(results: Path) -> None:
    """They had our defaults where the log said nothing."""
    spec = next(iter(plan_of(results).runs.values()))
    before = json.loads(spec.to_json()) | {"precision": "fp32", "compile": False, "accumulation_steps": 1}
    found = parse_spec(json.dumps(before))
    assert isinstance(found, ImportedSpec)
    assert (found.precision, found.compile, found.micro_batch) == ("fp32", False, found.batch_per_rank)
    assert json.loads(found.to_json()) == before, "its id follows from this text"


def test_what_a_log_says_is_in_the_record(tmp_path: Path) -> None:
    """Also a combination that our own training does not have."""
    rows = "".join(f"{step},0.5\n" for step in range(30))
    (tmp_path / "a.csv").write_text(f"step,step_time_s\n{rows}")
    given = {tmp_path / "a.csv": Given(devices=2, batch=64, accumulation=4, variant="fsdp")}
    import_files(given, "toy", tmp_path / "toy", scaling=None, form=None, documents=False)
    (run,) = plan_of(tmp_path / "toy").runs
    spec = read_record(tmp_path / "toy/runs" / run).spec
    assert (spec.accumulation_steps, spec.micro_batch, spec.precision) == (4, 8, None)
    content = json.loads(spec.to_json()) | {"precision": "fp16"}
    assert parse_spec(json.dumps(content)).precision == "fp16"


def test_mlflow_has_a_run_without_a_date_in_1970(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    client_of = pytest.importorskip("mlflow.tracking", reason="pip install mlflow-skinny").MlflowClient
    monkeypatch.delenv(trackers.FILE_STORE, raising=False)
    assert export(results, "mlflow", tmp_path / "store") == 0
    told = capsys.readouterr().out
    assert f"{trackers.FILE_STORE}=true mlflow ui --backend-store-uri {tmp_path / 'store'}" in told
    monkeypatch.setenv(trackers.FILE_STORE, "true")
    client = client_of(tracking_uri=(tmp_path / "store").as_uri())
    found = client.search_runs([client.get_experiment_by_name("toy").experiment_id])
    assert len(found) == 4
    for run in found:
        length_ms = round(
            1000 * sum(one.value for one in client.get_metric_history(run.info.run_id, "step_time_s"))
        )
        assert run.info.start_time == 1, "0 would be replaced by now"
        assert run.info.end_time == pytest.approx(1 + length_ms, abs=1)
        assert not {*UNSAID, "seed"} & run.data.params.keys()
        assert "date of this run is not known" in run.data.tags["mlflow.note.content"]


def test_tensorboard_has_no_setting_that_no_log_has(results: Path, tmp_path: Path) -> None:
    loader = pytest.importorskip("tensorboard.backend.event_processing.event_file_loader", reason="tensorboard")
    plugin = pytest.importorskip("tensorboard.plugins.hparams.plugin_data_pb2")
    assert export(results, "tensorboard", tmp_path / "events") == 0
    for path in (tmp_path / "events").glob("*/*"):
        (told,) = (
            plugin.HParamsPluginData.FromString(value.metadata.plugin_data.content).session_start_info.hparams
            for event in loader.EventFileLoader(str(path)).Load()
            for value in event.summary.value
            if value.tag == "_hparams_/session_start_info"
        )
        assert "batch_per_rank" in told
        assert not {*UNSAID, "seed"} & set(told)


@pytest.mark.parametrize("form", ["csv", "parquet", "datapackage"])
def test_counts_are_integers_wherever_they_are_written_so(form: str, results: Path, tmp_path: Path) -> None:
    folder = results if form == "datapackage" else tmp_path
    assert export(results, form, "" if form == "datapackage" else tmp_path) == 0
    resources = json.loads((folder / "datapackage.json").read_text())["resources"]
    runs = next(one for one in resources if one["name"] == "runs")
    types = {field["name"]: field["type"] for field in runs["schema"]["fields"]}
    assert {types[name] for name in ("nodes", "world_size", "batch_per_rank", "global_batch")} == {"integer"}
    assert types["step_time_s"] == "number"
    frictionless = pytest.importorskip("frictionless", reason="pip install frictionless")
    found = frictionless.validate(str(folder / "datapackage.json"))
    assert found.valid, found.flatten(["name", "fieldName", "message"])[:5]


@pytest.fixture
def other_server() -> Iterator[str]:
    """The address of a server that is not one of MLflow."""

    class Quiet(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<p>another program</p>")

        do_POST = do_GET  # noqa: N815

        def log_message(self, *words: object) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Quiet)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def refused(results: Path, address: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What an export to an address without MLflow says, within seconds."""
    pytest.importorskip("mlflow.tracking", reason="pip install mlflow-skinny")
    begun = time.monotonic()
    assert export(results, "mlflow", address) == 2
    assert time.monotonic() - begun < 60, "MLflow alone tries for minutes"
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"scalestudy export: --to {address}: no server of MLflow answers there (")
    assert line.endswith("a folder, or sqlite:///FILE.db, needs no server")
    return line


def test_an_address_without_a_server_is_named(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # not listening
        assert "(no connection)" in refused(results, f"http://127.0.0.1:{free.getsockname()[1]}", capsys)


def test_an_address_of_another_program_is_named(
    results: Path, other_server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "(the answer is not that of MLflow)" in refused(results, other_server, capsys)


def test_a_server_that_does_not_answer_is_named(
    results: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trackers, "ANSWER_S", 1)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        told = refused(results, f"http://127.0.0.1:{silent.getsockname()[1]}", capsys)
    assert "(no answer within 1 s)" in told


@pytest.mark.parametrize(
    ("target", "command"),
    [
        ("my runs", "MLFLOW_ALLOW_FILE_STORE=true mlflow ui --backend-store-uri 'my runs'"),
        ("file:///a", "MLFLOW_ALLOW_FILE_STORE=true mlflow ui --backend-store-uri file:///a"),
        ("sqlite:///ml.db", "mlflow ui --backend-store-uri sqlite:///ml.db"),
        ("https://example.org", ""),
    ],
)
def test_the_command_that_shows_a_store(target: str, command: str) -> None:
    assert trackers.command_to_show(target) == command
