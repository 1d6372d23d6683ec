"""Exports a study: tables with types, descriptions of its files, and logs for experiment trackers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from scalestudy.cli.results.inputs import plan_of, table_of
from scalestudy.deposit.describe import write_descriptions
from scalestudy.deposit.steps import Steps, steps_of, summary_of
from scalestudy.deposit.tables import described
from scalestudy.deposit.tidy import typed_table, write_tidy
from scalestudy.deposit.trackers import command_to_show, log_to_mlflow, log_to_tensorboard
from scalestudy.errors import UserError
from scalestudy.publish.words.labels import counted
from scalestudy.record.tables import read_observation
from scalestudy.registry.results import RESULTS


def export(results: Path, to: str | None, form: str) -> None:
    """Write a study in a format, and print where. to: a folder; of MLflow also the address of a server."""
    plan = plan_of(results)
    study = plan.study.name
    runs, _ = table_of(results, "runs"), table_of(results, "summary")  # both complete, or refused by name
    dated = str(runs["started_at"].dropna().astype(str).max())[:10] if runs["started_at"].notna().any() else ""
    if form == "datapackage":
        if to:
            raise UserError("--to: --format datapackage describes the results folder, and writes into it")
        names = write_descriptions(results, study, list(described(results, runs=list(plan.runs))), dated=dated)
        print("\n".join(str(results / name) for name in names))
        return
    target = to or f"{study}-{form}"
    if form == "mlflow":
        logged, before = log_to_mlflow(_uri(target), study, _runs(results))
        again = f"; {counted(before, 'run')} were there before" if before else ""
        print(f"{target}: {counted(logged, 'run')} in experiment {study}{again}")
        if show := command_to_show(target):
            print(f"to show them (needs the package mlflow): {show}")
        return
    folder = Path(target)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder}: exists and is not empty; name another folder with --to")
    if form == "tensorboard":
        print(f"{folder}: {counted(log_to_tensorboard(folder, _runs(results)), 'run')}")
        return
    tables = write_tidy(results, folder, form, study)
    write_descriptions(folder, study, tables, dated=dated)
    print("\n".join(str(path) for path in sorted(folder.iterdir())))


def _uri(target: str) -> str:
    """The address of a server, or that of a folder."""
    return target if "://" in target else Path(os.path.realpath(target)).as_uri()


def _runs(results: Path) -> Iterator[tuple[Steps, Mapping[str, float]]]:
    """Yield the runs that were needed, each with its metrics as a whole."""
    frame, _ = typed_table(results / RESULTS["runs"])
    rows = json.loads(frame.to_json(orient="records", double_precision=15))
    for row in rows:
        if row["outcome"] != "unneeded":
            yield steps_of(read_observation(results / "runs" / row["run_id"])), summary_of(row)
