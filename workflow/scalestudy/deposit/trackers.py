"""Logs finished runs for MLflow and TensorBoard, with the packages of these tools."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import numpy as np

from scalestudy.deposit.steps import Steps
from scalestudy.errors import UserError, first_line

AT_ONCE = 1000
"""Largest number of metrics in a call of MLflow."""
MARK = "scalestudy.run_id"
NOTE = (
    "Logged by scalestudy after the run. mean_throughput is in samples/s. The time of a step is the start of the"
    " run plus all step times up to it."
)


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
    """Log runs to a store of MLflow, each with its metrics of the whole run. Returns (logged, there before)."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")  # a folder without a server is what we write
    failure = resolved("mlflow.exceptions:MlflowException", "mlflow")
    try:
        return _log(uri, study, runs)
    except failure as error:
        raise UserError(f"{uri}: MLflow refuses it: {first_line(error)}") from None


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
        tags = {MARK: run.run_id, "mlflow.runName": run.run_id, "mlflow.note.content": NOTE}
        begin_ms = round(run.started_s * 1e3)
        made = client.create_run(experiment, start_time=begin_ms, tags=tags).info.run_id
        stamps = np.rint(run.clock_s * 1e3).astype(int)
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
