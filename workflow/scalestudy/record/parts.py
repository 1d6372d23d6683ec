"""From the parts that the ranks wrote to one observation, published by a rename."""

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from scalestudy.record.files import write_json, write_text
from scalestudy.record.observation import (
    EPOCH_COLUMNS,
    TABLES,
    TRAINING_PHASES,
    Outcome,
    RankReport,
    RunRecord,
    Stopping,
    Totals,
    digests,
)
from scalestudy.record.protocol import CURRENT
from scalestudy.study.spec import RunSpec

DATA_FILES = (*(f"{name}.parquet" for name in TABLES), "epochs.csv", "log.txt")
TRACES = "*.pt.trace.json.gz"
VOUCHER = "run.sha256"
LOG_TAIL_LINES = 20


@dataclass(frozen=True)
class Parts:
    """What the ranks left: a report each (missing for a rank that died), and the tables of those that wrote."""

    reports: tuple[RankReport, ...]
    environment: dict[str, Any]
    stopping: Stopping | None
    tables: dict[str, pd.DataFrame]
    epochs: pd.DataFrame


def read_parts(directory: str | Path, *, world_size: int) -> Parts:
    """Parts of all ranks that finished writing."""
    directory = Path(directory)
    reports, epochs, stopping = [], [], None
    environment: dict[str, Any] = {}
    tables: dict[str, list[pd.DataFrame]] = {name: [] for name in TABLES}
    for rank in range(world_size):
        path = directory / f"rank-{rank}.json"
        if not path.exists():
            continue
        content = json.loads(path.read_text(encoding="utf-8"))
        reports.append(RankReport.model_validate(content["report"]))
        environment = environment or content["environment"]
        stopping = stopping or content["stopping"]
        for name, frames in tables.items():
            frames.append(pd.read_parquet(directory / f"{name}-{rank}.parquet"))
        epochs.append(pd.read_csv(directory / f"epochs-{rank}.csv"))
    return Parts(
        reports=tuple(reports),
        environment=environment,
        stopping=Stopping.model_validate(stopping) if stopping else None,
        tables={name: _together(frames, TABLES[name]) for name, frames in tables.items()},
        epochs=_over_ranks(epochs),
    )


def _together(frames: list[pd.DataFrame], columns: tuple[str, ...]) -> pd.DataFrame:
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(columns))


def _over_ranks(epochs: list[pd.DataFrame]) -> pd.DataFrame:
    """One row an epoch: times are the largest over ranks, the rest is the same on all of them."""
    if not epochs:
        return pd.DataFrame(columns=EPOCH_COLUMNS)
    how = {name: "max" if name.endswith("_s") else "first" for name in EPOCH_COLUMNS[1:]}
    merged = pd.concat(epochs).groupby("epoch", as_index=False).agg(how)
    return merged[list(EPOCH_COLUMNS)]


def summarise(parts: Parts, *, wall_time_s: float) -> Totals:
    """Totals of a run: sums, and what the ranks say of their model by the names of Totals."""
    steps = parts.tables["steps"]
    steps = steps[steps["phase"].isin(TRAINING_PHASES)]  # without probes
    per_rank = steps.groupby("rank")["step_time_s"].sum()
    sums = {
        "steps": int(steps["step"].nunique()),
        "samples": int(steps["samples"].sum()),
        "train_time_s": float(per_rank.max()) if len(per_rank) else 0.0,
        "wall_time_s": wall_time_s,
    }
    return Totals(**{name: parts.environment.get(name) for name in Totals.model_fields} | sums)


def describe(
    spec: RunSpec,
    parts: Parts,
    outcome: Outcome,
    reason: str,
    *,
    code: str,
    started_at: str,
    environment: dict[str, Any],
    earlier: Sequence[dict[str, str]] = (),
    log: str = "",
    wall_time_s: float = 0.0,
    protocol: int = CURRENT,
) -> RunRecord:
    """The record of a run, as `publish` takes it.

    code: fingerprint of what measured. earlier: attempts at the run that did not come to their end.
    """
    return RunRecord(
        run_id=spec.run_id,
        protocol=protocol,
        fingerprint=code,
        spec=spec,
        outcome=outcome,
        reason=reason,
        log_tail=() if outcome == "ok" else tuple(log.splitlines()[-LOG_TAIL_LINES:]),
        started_at=started_at,
        environment=environment | ({"earlier_attempts": earlier} if earlier else {}),
        stopping=parts.stopping,
        ranks=parts.reports,
        totals=summarise(parts, wall_time_s=wall_time_s),
        files={},
    )


def write_data(directory: str | Path, parts: Parts) -> None:
    """The tables and epochs.csv into the partial directory; the parts they came from are removed."""
    directory = Path(directory)
    for name, columns in TABLES.items():
        frame = parts.tables[name][list(columns)]
        frame.to_parquet(directory / f"{name}.parquet", index=False, compression="zstd")
    write_text(directory / "epochs.csv", parts.epochs.to_csv(index=False))
    patterns = [f"{name}-*.parquet" for name in TABLES]
    patterns += ["epochs-*.csv", "rank-*.json", "node-*.json"]
    patterns += ["progress.json", "spec.json", "world.json", "attempt.json", "refused.txt"]
    shutil.rmtree(directory / "checkpoints", ignore_errors=True)
    for path in [path for pattern in patterns for path in directory.glob(pattern)]:
        path.unlink()


def publish(partial: Path, final: Path, record: RunRecord) -> None:
    """Write run.json, vouch for it, and move the whole directory to its place, in one rename.

    `final` must not exist, or be empty (Snakemake makes the directory of an output before its job).
    """
    traces = sorted(path.name for path in partial.glob(TRACES))
    record = record.model_copy(update={"files": digests(partial, (*DATA_FILES, *traces))})
    write_json(partial / "run.json", record.model_dump(mode="json"))
    vouch(partial, record.outcome)
    final.parent.mkdir(parents=True, exist_ok=True)
    partial.rename(final)


def vouch(directory: Path, outcome: Outcome) -> bool:
    """Write run.sha256 beside run.json where the run need not be measured again: whether it was missing.

    It is what Snakemake knows a run by. Snakemake removes the output of a job that failed, or is to run again;
    a record is never its to remove.
    """
    path = directory / VOUCHER
    if path.exists() or outcome == "preempted":
        return False
    digest = hashlib.sha256((directory / "run.json").read_bytes()).hexdigest()
    write_text(path, f"{digest}  run.json\n")
    return True
