"""All observations of a plan, read and combined: the tables and facts that every later stage reads."""

import hashlib
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from scalestudy.analyse.forecast.forecasts import forecasts_frame, held_out_frame
from scalestudy.analyse.point.efficiency_tree import factors_frame
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.run.reduce import Reduced, epochs_frame, reduce_run
from scalestudy.analyse.study.decision import decide as analyse_decision
from scalestudy.analyse.study.environment import study_environment
from scalestudy.analyse.study.floors import floors_frame
from scalestudy.analyse.trace.summary import Trace, TracesFile, summarise_trace
from scalestudy.cli.decisions import decision_lines
from scalestudy.cli.inputs import plan_of
from scalestudy.cli.processes import cores, spread
from scalestudy.errors import UserError
from scalestudy.record.document import write_document
from scalestudy.record.files import write_text
from scalestudy.record.observation import RunRecord, read_observation
from scalestudy.record.parts import TRACES
from scalestudy.record.traces import read_trace
from scalestudy.registry.results import DECISIONS, RESULTS
from scalestudy.study.config.study import Study
from scalestudy.study.spec import RunSpec

MANY = 100
RUNS_AT_ONCE = 8  # handed to a process at a time


@dataclass(frozen=True)
class Read:
    """What is kept of a run once its steps have been looked at: a thousand runs do not fit in memory whole."""

    record: RunRecord
    record_sha256: str
    """Of run.json, which vouches for the rest."""
    reduced: Reduced
    epochs: pd.DataFrame
    traces: list[Trace]


def aggregate(results: Path) -> str:
    """Write the tables and facts of a study into its results folder; one line that counts runs and points."""
    plan = plan_of(results)
    read = read_runs(plan.study, [results / "runs" / run_id for run_id in plan.runs])
    runs = pd.DataFrame([one.reduced.row | {"record_sha256": one.record_sha256} for one in read])
    summary = summary_frame(plan, runs, {one.record.run_id: one.reduced.block_step_times_s for one in read})
    tables = {
        "runs": runs,
        "epochs": epochs_frame([(one.record.spec, one.epochs) for one in read]),
        "collectives": _together({one.record.run_id: one.reduced.collectives for one in read}),
        "quantiles": _together({one.record.run_id: one.reduced.quantiles for one in read}),
        "summary": summary,
        "floors": floors_frame(plan, runs),
        "factors": factors_frame(summary),
        "forecasts": forecasts_frame(plan.study, summary),
        "held_out": held_out_frame(plan.study, summary),
    }
    for name, table in tables.items():
        write_text(results / RESULTS[name], table.to_csv(index=False))
    write_document(results / RESULTS["environment"], study_environment([one.record for one in read]))
    traces = tuple(chain.from_iterable(one.traces for one in read))
    write_document(results / RESULTS["traces"], TracesFile(traces=traces))
    return f"{len(runs)} runs, {len(summary)} points: {runs['outcome'].value_counts().to_dict()}"


def decide(results: Path, after: int) -> str:
    """Write which launches are made after so many repeats; what was found of every comparison, as text."""
    plan = plan_of(results)
    if after not in plan.study.decisions:
        numbers = ", ".join(map(str, plan.study.decisions)) or "none"
        raise UserError(
            f"--after {after}: nothing is decided after so many repeats; decisions are after {numbers}"
        )
    directories = [results / "runs" / run_id for run_id, spec in plan.runs.items() if spec.repeat <= after]
    read = read_runs(plan.study, directories)
    runs = pd.DataFrame([one.reduced.row for one in read])
    summary = summary_frame(plan, runs, {one.record.run_id: one.reduced.block_step_times_s for one in read})
    decision = analyse_decision(plan, runs, summary, after=after)
    write_document(results / DECISIONS.format(repeats=after), decision)
    return "\n".join(decision_lines(plan.study, decision))


def read_runs(study: Study, directories: list[Path]) -> list[Read]:
    """All runs in their order; on all cores where they are many: starting a process takes longer than a few."""
    processes = 1 if len(directories) < MANY else cores()
    return spread(read_run, study, directories, processes=processes, at_once=RUNS_AT_ONCE)


def read_run(study: Study, directory: Path) -> Read:
    """One run, read and reduced."""
    observation = read_observation(directory)
    return Read(
        record=observation.record,
        record_sha256=hashlib.sha256((directory / "run.json").read_bytes()).hexdigest(),
        reduced=reduce_run(study, observation),
        epochs=observation.epochs,
        traces=[read_summary(observation.record.spec, path) for path in trace_files(directory)],
    )


def _together(frames: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """The rows of all runs, each with the id of its run."""
    run_ids = np.repeat(list(frames), [len(frame) for frame in frames.values()])
    return pd.concat(frames.values(), ignore_index=True).assign(run_id=run_ids)


def trace_files(directory: Path) -> list[Path]:
    """The trace of rank 0, if the run has one: ranks do the same, and a summary of each would say so each time."""
    return sorted(directory.glob(TRACES.replace("*", "trace-rank0")))


def read_summary(spec: RunSpec, path: Path) -> Trace:
    """A summary of a trace, with what it is of."""
    of = {name: getattr(spec, name) for name in Trace.model_fields if name != "summary"}
    return Trace(**of, summary=summarise_trace(read_trace(path)))
