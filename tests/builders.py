"""Observations built from given step times, for tests of the values computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any

import pandas as pd
from scalestudy.analyse.forecast.forecasts import forecasts_frame, held_out_frame
from scalestudy.analyse.point.efficiency_tree import factors_frame
from scalestudy.analyse.point.summary import summary_frame
from scalestudy.analyse.run.reduce import reduce_run
from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.analyse.study.floors import floors_frame
from scalestudy.analyse.trace.summary import Trace
from scalestudy.diagnose.findings import Diagnosis
from scalestudy.diagnose.study import diagnose_study
from scalestudy.publish.figures.tidy import Frames
from scalestudy.publish.numbers.ledger import make_numbers, numbers_of_traces, point_numbers
from scalestudy.publish.numbers.model import Number, NumbersFile
from scalestudy.publish.results import Results
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.publish.views.facts import document_facts
from scalestudy.record.observation import (
    EPOCH_COLUMNS,
    PART_COLUMNS,
    STEP_COLUMNS,
    TABLES,
    Memory,
    RankReport,
    RunRecord,
    Totals,
)
from scalestudy.record.protocol import CURRENT
from scalestudy.record.tables import Observation
from scalestudy.registry.figures import OF_WORKLOAD
from scalestudy.registry.files import FILES
from scalestudy.study.config.study import Study
from scalestudy.study.plan import Plan
from scalestudy.study.spec import RunSpec

WORKLOAD_FIGURES = [entry.name for entry in OF_WORKLOAD]


def observation(
    spec: RunSpec,
    times_s: Sequence[Sequence[float]],
    *,
    outcome: str = "ok",
    accuracy: float = 0.9,
    block_steps: int = 10,
    threads: int = 1,
    cores: Sequence[Sequence[int]] | None = None,
    environment: dict[str, Any] | None = None,
    tables_given: dict[str, pd.DataFrame] | None = None,
    protocol: int = CURRENT,
) -> Observation:
    """Return an observation with the given step times: a sequence per rank, all of one epoch."""
    cores = cores or [[rank] for rank in range(spec.world_size)]
    rows = [
        {
            "rank": rank,
            "epoch": 1,
            "block": step // block_steps,
            "step": step,
            "phase": "measured",
            **dict.fromkeys(PART_COLUMNS, 0.0),
            "data_time_s": 0.1 * time,
            "forward_time_s": 0.3 * time,
            "backward_time_s": 0.5 * time,
            "optimizer_time_s": 0.1 * time,
            "step_time_s": time,
            "samples": spec.batch_per_rank,
            "loss": 1.0,
        }
        for rank, times in enumerate(times_s)
        for step, time in enumerate(times)
    ]
    steps = pd.DataFrame(rows, columns=list(STEP_COLUMNS))
    epochs = pd.DataFrame([dict.fromkeys(EPOCH_COLUMNS, 1.0) | {"validation_accuracy": accuracy}])
    reports = tuple(
        RankReport(
            rank=rank,
            host="here",
            node="here",
            device="cpu",
            cores=tuple(cores[rank]),
            threads=threads,
            outcome="ok",
            reason="",
            waited=False,
            steps=len(times),
            memory=Memory(
                peak_resident_gib=0.5,
                mean_resident_gib=0.4,
                peak_allocated_gib=None,
                mean_allocated_gib=None,
                peak_reserved_gib=None,
                mean_reserved_gib=None,
                allocation_retries=None,
            ),
        )
        for rank, times in enumerate(times_s)
    )
    record = RunRecord(
        run_id=spec.run_id,
        protocol=protocol,
        fingerprint="0" * 12,
        spec=spec,
        outcome=outcome,
        reason="" if outcome == "ok" else "a reason",
        log_tail=(),
        started_at="2026-01-01T00:00:00+00:00",
        environment={"device": "cpu", "packages": {"torch": "2.13.0"}} | (environment or {}),
        stopping=None,
        ranks=reports,
        totals=Totals(
            steps=int(steps["step"].nunique()),
            samples=int(steps["samples"].sum()),
            train_time_s=1.0,
            wall_time_s=2.0,
            parameters=1000,
            gradient_bytes=4000 if spec.world_size > 1 else None,
            bytes_sent_per_step=None,
            flops_per_sample=None,
        ),
        files={},
    )
    tables = {name: pd.DataFrame(columns=list(columns)) for name, columns in TABLES.items()}
    return Observation(record, tables | {"steps": steps} | (tables_given or {}), epochs)


def study_of(plan: Plan, step_time_s: dict[tuple[str, int, int], Sequence[float]], **options: Any) -> pd.DataFrame:
    """Return runs.csv of a plan whose runs have constant steps.

    step_time_s: (workload, world size, batch per rank) -> step time of each repeat, or an outcome instead.
    """
    observations = []
    for spec in plan.runs.values():
        value = step_time_s[spec.workload, spec.world_size, spec.batch_per_rank][spec.repeat - 1]
        if isinstance(value, str):
            observations.append(observation(spec, [[]] * spec.world_size, outcome=value, **options))
        else:
            observations.append(observation(spec, [[value] * 40] * spec.world_size, **options))
    return runs_of(plan.study, observations)


def runs_of(study: Study, observations: Sequence[Observation]) -> pd.DataFrame:
    """Return runs.csv with one row per observation, in the given order."""
    return pd.DataFrame([reduce_run(study, observation).row for observation in observations])


def summary_of(
    plan: Plan, step_time_s: dict[tuple[str, int, int], Sequence[float]], **options: Any
) -> pd.DataFrame:
    """Return comprehensive_summary.csv of such a study."""
    return summary_frame(plan, study_of(plan, step_time_s, **options))


def diagnosed(plan: Plan, summary: pd.DataFrame) -> list[Diagnosis]:
    """Return the diagnoses of a summary, with the forecasts that follow from it."""
    return diagnose_study(plan.study, summary, forecasts_frame(plan.study, summary))


def results_of(plan: Plan, runs: pd.DataFrame, summary: pd.DataFrame | None = None, **given: Any) -> Results:
    """Return the input of the documents. given: findings, traces or environment, unless they are empty."""
    summary = summary_frame(plan, runs) if summary is None else summary
    return Results(
        summary=summary,
        runs=runs,
        forecasts=forecasts_frame(plan.study, summary),
        factors=factors_frame(summary),
        floors=floors_frame(plan, runs),
        findings=given.get("findings", diagnosed(plan, summary)),
        traces=given.get("traces", []),
        environment=given.get("environment", StudyEnvironment(facts={})),
        verification=given.get("verification"),
    )


def book_of(plan: Plan, results: Results) -> NumbersFile:
    """Return the numbers of these results, by key."""
    return make_numbers(plan, results)


def traces_book(traces: Sequence[Trace]) -> NumbersFile:
    """Return the numbers of traces, by key."""
    return book_from(dict(numbers_of_traces(traces)))


def rows_book(summary: pd.DataFrame) -> NumbersFile:
    """Return the numbers of the rows of a summary, by key."""
    return book_from(dict(point_numbers(summary)))


def book_from(numbers: dict[str, Number]) -> NumbersFile:
    """Return a book of only these numbers."""
    nothing: dict[str, Any] = {"points": {}, "runs": {}, "aliases": {}, "renamed": {}}
    return NumbersFile(study="x", scalestudy="x", confidence=0.95, numbers=numbers, **nothing)


def printed_of(plan: Plan, results: Results) -> dict[str, Any]:
    """Return what the documents print for these results."""
    return document_facts(plan, results, book_of(plan, results))


def facts_of(plan: Plan, summary: pd.DataFrame, runs: pd.DataFrame, **given: Any) -> dict[str, Any]:
    """Return what the documents print for a summary."""
    return printed_of(plan, results_of(plan, runs, summary, **given))


WALL_TIME = {
    **{"wall_time_s": 2.0, "training_wall_time_s": 1.0, "probe_wall_time_s": 0.5, "held_devices": nan},
    **{"started_at": "2026-01-01T00:00:00+00:00", "hosts": "a", "slurm_job": None},
}
"""Columns of a run in a runs.csv that was made by hand."""

NO_CALLS = pd.DataFrame(columns=["collective", "bytes", "time_s", "run_id"])
"""collectives.csv if nothing was probed."""


def declared(frame: pd.DataFrame, file: str) -> pd.DataFrame:
    """Return a table with all columns of its file (registry/files.py), empty unless they are given."""
    names = [name for column in FILES[file].columns for name in column.names]
    return frame.reindex(columns=[*frame.columns, *(name for name in names if name not in frame)])


def frames_of(
    plan: Plan,
    summary: pd.DataFrame,
    *,
    epochs: pd.DataFrame | None = None,
    calls: pd.DataFrame = NO_CALLS,
    quantiles: pd.DataFrame | None = None,
) -> Frames:
    """Return the data that figures are drawn from; by default every run of the plan has three quantiles."""
    if epochs is None:
        epochs = pd.DataFrame(columns=["run_id", "epoch", "epoch_time_s", "validation_accuracy"])
    if quantiles is None:
        launches = pd.DataFrame({"run_id": list(plan.runs)})
        quantiles = launches.merge(QUANTILES, how="cross")
    forecasts, held_out = forecasts_frame(plan.study, summary), held_out_frame(plan.study, summary)
    return Frames(summary, epochs, forecasts, calls, quantiles, held_out)


QUANTILES = pd.DataFrame({"quantile": [0.0, 0.5, 1.0], "step_time_s": [0.001, 0.002, 0.005]})


def page_of(plan: Plan, results: Results) -> str:
    """Return report.html of these results, with placeholders for figures."""
    book = book_of(plan, results)
    return page_from(document_facts(plan, results, book), book)


def page_from(facts: dict[str, Any], book: NumbersFile) -> str:
    """Return report.html from the facts of the documents and numbers.json."""
    figures = [
        {
            "name": entry.name,
            "workload": workload,
            "wide": entry.wide,
            "caption": f"{entry.caption} {entry.if_forecast}",
            "intervals": entry.intervals,
            "source": f"data:,{entry.name}",
            "words": f"{entry.name} in words",
        }
        for workload in facts["workloads"]
        for entry in OF_WORKLOAD
    ]
    facts |= {"numbers": book, "figures": figures}
    return render(DIRECTORY / "report.html", **facts)


READING = {
    "span_s": 2.0,
    "cpus": 2,
    "own_cores": 2.0,
    "others_cores": 0.01,
    "stolen_share": 0.0,
    "swapped_mib": 0.0,
    "memory_stall_share": 0.0,
    "throttled_share": 0.0,
    "clock_jump_s": 0.0,
    "gpu_others": 0,
}
"""Other load of a quiet host during a training, as it is recorded."""
