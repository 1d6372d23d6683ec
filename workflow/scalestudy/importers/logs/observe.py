"""Writes an imported run as an observation (record/observation.py): a row per window of its log, on one rank."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np

from scalestudy.importers.logs.steps.derive import ImportedRun
from scalestudy.record.files import write_text
from scalestudy.record.fingerprint import fingerprint
from scalestudy.record.observation import IMPORTED, STEP_PARTS, RunRecord, Totals
from scalestudy.record.parts import Parts, complete, write_data
from scalestudy.record.protocol import CURRENT
from scalestudy.record.recorder import Recorder
from scalestudy.study.spec import CommandSpec

BLOCK, MOST_BLOCKS = 10, 2000


def write_observation(partial: Path, spec: CommandSpec, run: ImportedRun) -> None:
    """Write the record and the tables of a run into a new directory."""
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    said = [f"Imported from {run.log.name}, which was read as: {run.log.kind}.", *run.remarks]
    write_text(partial / "log.txt", "\n".join(said) + "\n")
    parts = Parts(reports=(), environment={}, stopping=None, tables=_tables(spec, run), epochs=[])
    write_data(partial, parts)
    complete(partial, _record(spec, run))


def _tables(spec: CommandSpec, run: ImportedRun) -> dict[str, Any]:
    recorder = Recorder(rank=0)
    known = np.isfinite(run.step_time_s) & (run.step_time_s >= 0)
    times, counts, loss = run.step_time_s[known], run.counts[known], run.loss[known]
    longest = max(BLOCK, len(times) // MOST_BLOCKS)
    at = 0
    while at < len(times):
        end = at + 1
        while end < len(times) and counts[end] == counts[at] and end - at < longest:
            end += 1
        parts = np.full((end - at, len(STEP_PARTS)), nan)
        parts[:, -1] = times[at:end]  # nothing else of a step is known
        recorder.add_block(
            epoch=1,
            phases=["measured" if counts[at] else "tail"] * (end - at),
            times_s=parts,
            step_times_s=times[at:end],
            samples=spec.global_batch,
            losses=None if np.isnan(loss[at:end]).all() else list(loss[at:end]),
            state={},
        )
        at = end
    return recorder.tables()


def _record(spec: CommandSpec, run: ImportedRun) -> RunRecord:
    facts = run.log.facts
    time_s = run.total_steps * run.step_s
    environment: dict[str, Any] = {
        IMPORTED: {
            "format": run.log.kind,
            "file": run.log.path.name,
            "limits": " ".join(run.limits),
            "steps_per_row": run.steps_per_row,
        }
    }
    if facts.device:
        environment["device"] = facts.device
    if facts.torch:
        environment["packages"] = {"torch": facts.torch}
    begun = "" if isnan(run.started_s) else datetime.fromtimestamp(run.started_s, UTC).isoformat()
    return RunRecord(
        run_id=spec.run_id,
        protocol=CURRENT,
        fingerprint=fingerprint("importers"),
        spec=spec,
        outcome="ok",
        reason="",
        log_tail=(),
        started_at=begun,
        environment=environment,
        stopping=None,
        ranks=(),
        totals=Totals(
            steps=run.total_steps,
            samples=run.total_steps * spec.global_batch,
            train_time_s=time_s,
            wall_time_s=time_s if isnan(run.passed_s) else max(run.passed_s, time_s),
            parameters=None,
            gradient_bytes=None,
            bytes_sent_per_step=None,
            flops_per_sample=None,
        ),
        files={},
    )
