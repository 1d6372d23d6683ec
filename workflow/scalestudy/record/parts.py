"""From the parts that the ranks wrote to one observation, published by a rename."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow
import pyarrow.parquet

from scalestudy.record.files import write_json, write_text
from scalestudy.record.observation import (
    EPOCH_COLUMNS,
    STEP_COLUMNS,
    RankReport,
    RunRecord,
    Totals,
    digests,
)

DATA_FILES = ("steps.parquet", "epochs.csv", "log.txt")


@dataclass(frozen=True)
class Parts:
    """What the ranks left: a report each (missing for a rank that died), steps and epochs of those that wrote."""

    reports: tuple[RankReport, ...]
    environment: dict[str, Any]
    steps: pd.DataFrame
    epochs: pd.DataFrame


def read_parts(directory: str | Path, *, world_size: int) -> Parts:
    """Parts of all ranks that finished writing."""
    directory = Path(directory)
    reports, steps, epochs, environment = [], [], [], {}
    for rank in range(world_size):
        path = directory / f"rank-{rank}.json"
        if not path.exists():
            continue
        content = json.loads(path.read_text(encoding="utf-8"))
        reports.append(RankReport.model_validate(content["report"]))
        environment = environment or content["environment"]
        steps.append(pyarrow.parquet.read_table(directory / f"steps-{rank}.parquet").to_pandas())
        epochs.append(pd.read_csv(directory / f"epochs-{rank}.csv"))
    return Parts(
        reports=tuple(reports),
        environment=environment,
        steps=pd.concat(steps, ignore_index=True) if steps else pd.DataFrame(columns=STEP_COLUMNS),
        epochs=_over_ranks(epochs),
    )


def _over_ranks(epochs: list[pd.DataFrame]) -> pd.DataFrame:
    """One row an epoch: times are the largest over ranks, the rest is the same on all of them."""
    if not epochs:
        return pd.DataFrame(columns=EPOCH_COLUMNS)
    how = {name: "max" if name.endswith("_s") else "first" for name in EPOCH_COLUMNS[1:]}
    merged = pd.concat(epochs).groupby("epoch", as_index=False).agg(how)
    return merged[list(EPOCH_COLUMNS)]


def summarise(parts: Parts, *, wall_time_s: float) -> Totals:
    """Totals of a run: sums only."""
    steps = parts.steps
    per_rank = steps.groupby("rank")["step_time_s"].sum()
    return Totals(
        steps=int(steps["step"].nunique()),
        samples=int(steps["samples"].sum()),
        train_time_s=float(per_rank.max()) if len(per_rank) else 0.0,
        wall_time_s=wall_time_s,
        parameters=parts.environment.get("parameters"),
        gradient_bytes=parts.environment.get("gradient_bytes"),
    )


def write_data(directory: str | Path, parts: Parts) -> None:
    """steps.parquet and epochs.csv into the partial directory; the parts they came from are removed."""
    directory = Path(directory)
    table = pyarrow.Table.from_pandas(parts.steps[list(STEP_COLUMNS)], preserve_index=False)
    pyarrow.parquet.write_table(table, directory / "steps.parquet", compression="zstd")
    write_text(directory / "epochs.csv", parts.epochs.to_csv(index=False))
    for pattern in ("steps-*.parquet", "epochs-*.csv", "rank-*.json", "progress.json", "spec.json"):
        for path in directory.glob(pattern):
            path.unlink()


def publish(partial: Path, final: Path, record: RunRecord) -> None:
    """Write run.json and move the whole directory to its place, in one rename.

    `final` must not exist, or be empty (Snakemake makes the directory of an output before its job).
    """
    record = record.model_copy(update={"files": digests(partial, DATA_FILES)})
    write_json(partial / "run.json", record.model_dump(mode="json"))
    final.parent.mkdir(parents=True, exist_ok=True)
    partial.rename(final)
