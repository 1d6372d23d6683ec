"""Reads and combines all observations of a plan into the tables and documents that later stages read."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from scalestudy.analyse.forecast.forecasts import forecasts_frame, held_out_frame
from scalestudy.analyse.point.efficiency_tree import factors_frame
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.run.reduce import columns_together, epochs_frame, reduce_run
from scalestudy.analyse.study.checksums import checksums_of
from scalestudy.analyse.study.decision import decide as analyse_decision
from scalestudy.analyse.study.environment import study_environment
from scalestudy.analyse.study.floors import floors_frame
from scalestudy.analyse.trace.summary import Trace, TracesFile, summarise_trace
from scalestudy.cli.plan.decisions import decision_lines
from scalestudy.cli.processes import cores, spread
from scalestudy.cli.results.inputs import plan_of
from scalestudy.cli.verify.spent import bound_h
from scalestudy.errors import UserError
from scalestudy.publish.cells import csv_text
from scalestudy.record.document import write_document
from scalestudy.record.files import write_text
from scalestudy.record.observation import content_of
from scalestudy.record.parts import TRACES
from scalestudy.record.tables import read_observation
from scalestudy.record.traces import read_trace
from scalestudy.registry.results import DECISIONS, RESULTS
from scalestudy.study.config.study import Study
from scalestudy.study.plan import Plan
from scalestudy.study.spec import RunSpec

MANY = 100
RUNS_AT_ONCE = 20  # runs that a process reads before it returns their reduced data
MANY_POINTS, POINTS_AT_ONCE = 24, 6


@dataclass(frozen=True)
class Read:
    """Reduced data of some runs, without their steps: a thousand whole runs do not fit in memory.

    Data that differ little between runs are kept as columns, not as one table per run.
    """

    rows: dict[str, list[Any]]
    """Columns of runs.csv."""
    block_step_times_s: dict[str, list[float]]
    """Step times of the steady blocks, by run."""
    epochs: pd.DataFrame
    collectives: pd.DataFrame
    quantiles: pd.DataFrame
    environments: list[dict[str, Any]]
    """Environments of the runs; equal ones are the same object."""
    traces: list[Trace]


def aggregate(results: Path) -> str:
    """Write the tables of a study into its results folder. Returns a line with the counts of runs and points."""
    plan = plan_of(results)
    read = read_runs(plan.study, [results / "runs" / run_id for run_id in plan.runs])
    runs, summary = _points(plan, read)
    tables = {
        "runs": runs,
        "epochs": _together(one.epochs for one in read),
        "collectives": _together(one.collectives for one in read),
        "quantiles": _together(one.quantiles for one in read),
        "summary": summary,
        "floors": floors_frame(plan, runs),
        "factors": factors_frame(summary, confidence=plan.study.level),
        "forecasts": forecasts_frame(plan.study, summary),
        "held_out": held_out_frame(plan.study, summary),
    }
    texts = {RESULTS[name]: csv_text(table) for name, table in tables.items()}
    for name, text in texts.items():
        write_text(results / name, text)
    write_document(results / RESULTS["checksums"], checksums_of(texts))
    environments = _shared(chain.from_iterable(one.environments for one in read))
    write_document(results / RESULTS["environment"], study_environment(environments))
    traces = tuple(chain.from_iterable(one.traces for one in read))
    write_document(results / RESULTS["traces"], TracesFile(traces=traces))
    return f"{len(runs)} runs, {len(summary)} points: {runs['outcome'].value_counts().to_dict()}"


def decide(results: Path, after: int) -> str:
    """Write which runs follow this many repeats. Returns the results of every comparison as text."""
    plan = plan_of(results)
    if after not in plan.study.decisions:
        numbers = ", ".join(map(str, plan.study.decisions)) or "none"
        raise UserError(f"--after {after}: the study does not decide after this many repeats, but after {numbers}")
    directories = [results / "runs" / run_id for run_id, spec in plan.runs.items() if spec.repeat <= after]
    runs, summary = _points(plan, read_runs(plan.study, directories))
    decision = analyse_decision(plan, runs, summary, after=after, bound_device_hours=bound_h())
    write_document(results / DECISIONS.format(repeats=after), decision)
    return "\n".join(decision_lines(plan.study, decision))


def _points(plan: Plan, read: list[Read]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return (runs.csv, summary) of all runs."""
    names = read[0].rows
    runs = pd.DataFrame({name: list(chain.from_iterable(one.rows[name] for one in read)) for name in names})
    times = {run: times_s for one in read for run, times_s in one.block_step_times_s.items()}
    several = partial(spread, processes=1 if len(plan.points) < MANY_POINTS else cores(), at_once=POINTS_AT_ONCE)
    return runs, summary_frame(plan, runs, times, spread=several)


def read_runs(study: Study, directories: list[Path]) -> list[Read]:
    """Return all runs in their order. Many runs are read on all cores; for a few, one process is faster."""
    portions = [directories[begin : begin + RUNS_AT_ONCE] for begin in range(0, len(directories), RUNS_AT_ONCE)]
    return spread(read_portion, study, portions, processes=1 if len(directories) < MANY else cores())


def read_portion(study: Study, directories: list[Path]) -> Read:
    """Read some runs and return their data, each reduced before the next is read."""
    rows, times_s, traces = [], {}, []
    specs, epochs, collectives, quantiles, environments = [], [], {}, {}, []
    for directory in directories:
        observation = read_observation(directory)
        spec, reduced = observation.record.spec, reduce_run(study, observation)
        sha256 = hashlib.sha256(content_of(directory / "run.json")).hexdigest()
        rows.append(reduced.row | {"record_sha256": sha256})
        times_s[spec.run_id] = reduced.block_step_times_s
        collectives[spec.run_id], quantiles[spec.run_id] = reduced.collectives, reduced.quantiles
        specs.append(spec)
        epochs.append(observation.epochs)
        environments.append(observation.record.environment)
        traces += [read_summary(spec, path) for path in trace_files(directory)]
    return Read(
        rows={name: [row[name] for row in rows] for name in rows[0]},
        block_step_times_s=times_s,
        epochs=epochs_frame(list(zip(specs, epochs, strict=True))),
        collectives=columns_together(collectives),
        quantiles=columns_together(quantiles),
        environments=_shared(environments),
        traces=traces,
    )


def _together(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of all tables. Tables without rows are left out, since their columns have no type."""
    all_tables = list(tables)
    return pd.concat([table for table in all_tables if len(table)] or all_tables[:1], ignore_index=True)


def _shared(environments: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the same environments, with equal ones as the same object."""
    known: dict[str, dict[str, Any]] = {}
    return [known.setdefault(json.dumps(environment), environment) for environment in environments]


def trace_files(directory: Path) -> list[Path]:
    """Return the trace of rank 0, if the run has one. Ranks do the same work, so one summary is enough."""
    return sorted(directory.glob(TRACES.replace("*", "trace-rank0")))


def read_summary(spec: RunSpec, path: Path) -> Trace:
    """Return the summary of a trace, with the fields that identify its run."""
    of = {name: getattr(spec, name) for name in Trace.model_fields if name != "summary"}
    return Trace(**of, summary=summarise_trace(read_trace(path)))
