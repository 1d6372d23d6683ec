"""Logs finished runs for MLflow and TensorBoard, with the packages of these tools."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import numpy as np

from scalestudy.deposit.steps import Steps
from scalestudy.errors import UserError, first_line

AT_ONCE = 1000
"""Largest number of metrics in a call of MLflow."""
MARK = "scalestudy.run_id"
FILE_STORE = "MLFLOW_ALLOW_FILE_STORE"
"""Without this variable, MLflow from 3.13 on refuses a store in files (github.com/mlflow/mlflow/issues/18534)."""
ANSWER_S = 10
"""A server that has not answered by then is taken as missing. MLflow itself tries again for minutes."""
FIRST_MS = 1
"""Start of a run without a date, in ms since 1970: MLflow takes 0 for a missing time, and replaces it by now."""
NOTE = (
    "Logged by scalestudy after the run. mean_throughput is in samples/s. The time of a step is the start of the"
    " run plus all step times up to it."
)
NO_DATE = " The date of this run is not known: its times begin in 1970."


def resolved(name: str, extra: str) -> Any:
    """Return an object of another package. Raises UserError, naming the extra, if the package is missing."""
    try:
        return resolve_name(name)
    except (ImportError, AttributeError):
        raise UserError(
            f"--format {extra}: the package {name.partition('.')[0].partition(':')[0]} is missing; install it:"
            f" pip install 'scalestudy[{extra}]'"
        ) from None


def log_to_mlflow(uri: str, study: str, runs: Iterable[tuple[Steps, Mapping[str, float]]]) -> tuple[int, int]:
    """Log runs to a store of MLflow, each with its metrics of the whole run. Returns (logged, there before).

    Raises UserError that names the store if it has no server, if MLflow refuses it, or if a package is missing.
    """
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault(FILE_STORE, "true")  # a folder without a server is what we write
    failure = resolved("mlflow.exceptions:MlflowException", "mlflow")
    if uri.startswith("sqlite:"):
        _require_sql(uri)
    if uri.startswith(("http://", "https://")):
        _require_answer(uri, failure)
    try:
        return _log(uri, study, runs)
    except failure as error:
        raise UserError(f"{uri}: MLflow refuses it: {first_line(error)}") from None


def command_to_show(target: str) -> str:
    """Return the command that shows a store; '' for a server, which shows its own. target: as of `--to`."""
    if target.startswith(("http://", "https://")):
        return ""
    variable = "" if "://" in target and not target.startswith("file:") else f"{FILE_STORE}=true "
    return f"{variable}mlflow ui --backend-store-uri {shlex.quote(target)}"


def _require_sql(uri: str) -> None:
    """Raise UserError if packages for databases are missing, which mlflow-skinny does not bring."""
    if not (find_spec("sqlalchemy") and find_spec("alembic")):
        raise UserError(f"--to {uri}: a database needs all of MLflow: pip install mlflow; or name a folder")


def _require_answer(uri: str, failure: type[Exception]) -> None:
    """Raise UserError if no server of MLflow answers at an address. failure: MLflow's own exception."""
    client = resolved("mlflow.tracking:MlflowClient", "mlflow")(tracking_uri=uri)
    refused = resolved("mlflow.exceptions:RestException", "mlflow")
    try:
        with _asked_once():
            client.search_experiments(max_results=1)
    except refused:
        return  # a server that says why, as it does again below
    except failure as error:
        raise UserError(
            f"--to {uri}: no server of MLflow answers there ({_reason(error)}). Start one with `mlflow server`, or"
            " correct the address; a folder, or sqlite:///FILE.db, needs no server"
        ) from None


@contextmanager
def _asked_once() -> Iterator[None]:
    """Let MLflow ask a server once, and wait for ANSWER_S seconds."""
    limits = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0", "MLFLOW_HTTP_REQUEST_TIMEOUT": str(ANSWER_S)}
    before = {name: os.environ.get(name) for name in limits}
    os.environ.update(limits)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _reason(error: BaseException) -> str:
    """Return why a server did not answer, in a few words."""
    import requests

    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause:
        chain.append(cause)
        cause = cause.__cause__ or cause.__context__
    kinds = {
        requests.exceptions.SSLError: "its certificate is not accepted",
        TimeoutError: f"no answer within {ANSWER_S} s",
        requests.exceptions.Timeout: f"no answer within {ANSWER_S} s",
        requests.exceptions.ConnectionError: "no connection",
    }
    found = (why for kind, why in kinds.items() if any(isinstance(one, kind) for one in chain))
    return next(found, "the answer is not that of MLflow")


def _log(uri: str, study: str, runs: Iterable[tuple[Steps, Mapping[str, float]]]) -> tuple[int, int]:
    client = resolved("mlflow.tracking:MlflowClient", "mlflow")(tracking_uri=uri)
    metric, parameter, tag = (
        resolved(f"mlflow.entities:{name}", "mlflow") for name in ("Metric", "Param", "RunTag")
    )
    found = client.get_experiment_by_name(study)
    experiment = found.experiment_id if found else client.create_experiment(study)
    logged = before = 0
    for run, summary in runs:
        if client.search_runs([experiment], filter_string=f"tags.`{MARK}` = '{run.run_id}'", max_results=1):
            before += 1
            continue
        note = NOTE if run.started_s else NOTE + NO_DATE
        tags = {MARK: run.run_id, "mlflow.runName": run.run_id, "mlflow.note.content": note}
        later_ms = 0 if run.started_s else FIRST_MS
        begin_ms = round(run.started_s * 1e3) + later_ms
        made = client.create_run(experiment, start_time=begin_ms, tags=tags).info.run_id
        stamps = np.rint(run.clock_s * 1e3).astype(int) + later_ms
        end_ms = int(stamps[-1]) if len(stamps) else begin_ms
        metrics = [metric(name, value, end_ms, 0) for name, value in summary.items()]
        metrics += [
            metric(name, float(value), int(stamp), int(step))
            for name, values in run.metrics.items()
            for step, stamp, value in zip(run.steps, stamps, values, strict=True)
        ]
        parameters = [parameter(name, str(value)) for name, value in run.parameters.items()]
        client.log_batch(made, params=parameters, tags=[tag("outcome", run.outcome)])
        for begin in range(0, len(metrics), AT_ONCE):
            client.log_batch(made, metrics=metrics[begin : begin + AT_ONCE])
        client.set_terminated(made, "FINISHED" if run.outcome == "ok" else "FAILED", end_time=end_ms)
        logged += 1
    return logged, before


def log_to_tensorboard(folder: Path, runs: Iterable[tuple[Steps, Mapping[str, float]]]) -> int:
    """Write an event file for each run into a folder of its own, with its parameters. Returns their number."""
    writer_of = resolved("tensorboard.summary.writer.event_file_writer:EventFileWriter", "tensorboard")
    event = resolved("tensorboard.compat.proto.event_pb2:Event", "tensorboard")
    summary_type = resolved("tensorboard.compat.proto.summary_pb2:Summary", "tensorboard")
    parameters = resolved("tensorboard.plugins.hparams.summary_v2:hparams_pb", "tensorboard")
    logged = 0
    for run, summary in runs:
        writer = writer_of(str(folder / run.run_id))
        told = parameters(run.parameters, trial_id=run.run_id, start_time_secs=run.started_s)
        writer.add_event(event(wall_time=run.started_s, step=0, summary=told))
        end_s = float(run.clock_s[-1]) if len(run.clock_s) else run.started_s
        for name, value in summary.items():
            one = summary_type(value=[summary_type.Value(tag=name, simple_value=value)])
            writer.add_event(event(wall_time=end_s, step=0, summary=one))
        for index, (step, clock_s) in enumerate(zip(run.steps, run.clock_s, strict=True)):
            values = [
                summary_type.Value(tag=name, simple_value=float(of_steps[index]))
                for name, of_steps in run.metrics.items()
            ]
            writer.add_event(event(wall_time=float(clock_s), step=int(step), summary=summary_type(value=values)))
        writer.close()
        logged += 1
    return logged
