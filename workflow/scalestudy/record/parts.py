"""Merges the parts that the ranks wrote into one observation, and publishes it by a rename.

Every run does this between two measurements, and so does every reserve run that is not needed. pandas is avoided:
importing it would take longer than all of this.
"""

import contextlib
import json
import math
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from scalestudy.record.epochs import epochs_over_ranks, read_epochs, write_epochs
from scalestudy.record.files import sync_folder, write_bytes, write_json, writing
from scalestudy.record.observation import (
    TABLES,
    TEXTS,
    TRAINING_PHASES,
    Outcome,
    RankReport,
    RunRecord,
    Stopping,
    Totals,
    content_of,
    digests,
)
from scalestudy.record.probes_failed import FILE as PROBES_FAILED
from scalestudy.record.protocol import CURRENT
from scalestudy.record.voucher import VOUCHER, sealed, write_voucher
from scalestudy.study.secrets import without_secrets
from scalestudy.study.spec import RunSpec

DATA_FILES = (*(f"{name}.parquet" for name in TABLES), "epochs.csv", "log.txt")
TRACES = "*.pt.trace.json.gz"
PLANNED = "planned.json"
"""The spec of the run, in its partial directory. `spec.json` next to it is the spec that its ranks read."""
NCCL_LOG_PREFIX, NCCL_LOG_SUFFIX = "nccl-", ".log"
"""Names of the files in which NCCL logs its transports, one per rank."""
LOGS = "torchelastic"
"""Folder of torchrun's own logs."""
LOG_TAIL_LINES = 20
_SUMMED = ("rank", "step", "step_time_s", "samples")


@dataclass(frozen=True)
class Parts:
    """What the ranks wrote: one report each (missing for a rank that died), and their tables."""

    reports: tuple[RankReport, ...]
    environment: dict[str, Any]
    stopping: Stopping | None
    tables: dict[str, pa.Table]
    epochs: list[dict[str, float]]
    """One row per epoch, with EPOCH_COLUMNS."""

    @property
    def steps(self) -> int:
        """Steps of a rank (maximum over ranks): as it reported or, if it was killed, as its table has them."""
        recorded = len(set(self.tables["steps"]["step"].to_pylist()))
        return max([recorded, *(report.steps for report in self.reports)])


def read_parts(directory: str | Path, *, world_size: int) -> Parts:
    """Read the parts of all ranks that finished writing."""
    directory = Path(directory)
    reports, stopping = [], None
    environment: dict[str, Any] = {}
    epochs: list[dict[str, float]] = []
    tables: dict[str, list[pa.Table]] = {name: [] for name in TABLES}
    for rank in range(world_size):
        path = directory / f"rank-{rank}.json"
        if not path.exists():
            continue
        content = json.loads(path.read_text(encoding="utf-8"))
        reports.append(RankReport.model_validate(content["report"]))
        environment = environment or content["environment"]
        stopping = stopping or content["stopping"]
        for name, of_ranks in tables.items():
            of_ranks.append(read_table(directory / f"{name}-{rank}.parquet"))
        epochs += read_epochs(directory / f"epochs-{rank}.csv")
    return Parts(
        reports=tuple(reports),
        environment=environment,
        stopping=Stopping.model_validate(stopping) if stopping else None,
        tables={name: tables_together(of_ranks, TABLES[name]) for name, of_ranks in tables.items()},
        epochs=epochs_over_ranks(epochs),
    )


def read_table(source: Path | pa.NativeFile) -> pa.Table:
    """Read a table as `parquet.read_table` does, which would import pandas.

    It uses one thread, since distributing a few thousand rows among several takes longer.
    """
    with parquet.ParquetFile(source) as file:
        return file.read(use_threads=False)


def tables_together(of_ranks: Sequence[pa.Table], columns: Sequence[str]) -> pa.Table:
    """Concatenate the tables of all ranks; a column without values in one takes the type of the others."""
    filled = [table.replace_schema_metadata(None) for table in of_ranks if table.num_rows]
    if not filled:
        return pa.table({name: pa.nulls(0) for name in columns})
    return pa.concat_tables(filled, promote_options="permissive")


def summarise(parts: Parts, *, wall_time_s: float) -> Totals:
    """Return the totals of a run: sums over steps, and the fields of Totals that the ranks reported."""
    sums = _sums(parts.tables["steps"]) | {"wall_time_s": wall_time_s}
    return Totals(**{name: parts.environment.get(name) for name in Totals.model_fields} | sums)


def _sums(steps: pa.Table) -> dict[str, Any]:
    """Return sums over the training, without probes. In plain Python: Arrow's arrays would import pandas."""
    columns = (steps[name].to_pylist() for name in ("phase", *_SUMMED))
    training = [row for phase, *row in zip(*columns, strict=True) if phase in TRAINING_PHASES]
    of_ranks: dict[int, list[float]] = {}
    for rank, _, time_s, _ in training:
        of_ranks.setdefault(rank, []).append(time_s)
    return {
        "steps": len({step for _, step, _, _ in training}),
        "samples": sum(samples for *_, samples in training),
        "train_time_s": max(map(math.fsum, of_ranks.values()), default=0.0),
    }


def first_diverged(steps: pa.Table) -> int | None:
    """Return the rank whose loss was not finite in the earliest step; None if every loss was finite.

    One step later the gradients of all ranks are not finite either, and every rank completes its block.
    """
    rows = zip(*(steps[name].to_pylist() for name in ("step", "rank", "loss")), strict=True)
    lost = [(step, rank) for step, rank, loss in rows if loss is not None and not math.isfinite(loss)]
    return min(lost)[1] if lost else None


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
    """Return the record of a run, as `publish` takes it.

    code: fingerprint of the measuring code. earlier: attempts at the run that did not complete.
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
    """Write the tables and epochs.csv into the partial directory, and remove the ranks' parts."""
    directory = Path(directory)
    for name, columns in TABLES.items():
        table = parts.tables[name].select(columns)
        # Times are all different: a dictionary of them makes the file larger, and reading takes twice as long.
        texts = [text for text in TEXTS if text in columns]
        path = directory / f"{name}.parquet"
        with writing(path):
            parquet.write_table(table, path, compression="zstd", use_dictionary=texts)
    write_epochs(directory / "epochs.csv", parts.epochs)
    patterns = [f"{name}-*.parquet" for name in TABLES]
    patterns += ["epochs-*.csv", "rank-*.json", "node-*.json", "load-*.jsonl"]
    patterns += ["progress.json", "spec.json", PLANNED, "world.json", "attempt.json", "refused.txt", PROBES_FAILED]
    patterns.append(f"{NCCL_LOG_PREFIX}*{NCCL_LOG_SUFFIX}")
    for folder in ("checkpoints", "attached", LOGS):
        shutil.rmtree(directory / folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        (directory / "out").rmdir()  # a script's own folder is kept if the script wrote something into it
    log = directory / "log.txt"
    if log.exists():  # a new file: a process on another node may still have the old one open, and write to it
        write_bytes(log, log.read_bytes())
    for path in [path for pattern in patterns for path in directory.glob(pattern)]:
        path.unlink()


def complete(partial: Path, record: RunRecord) -> None:
    """Write run.json, with its own checksum and those of the other files, and run.sha256.

    Values of secret variables in the log and in the record are replaced by the names of the variables.
    """
    traces = sorted(path.name for path in partial.glob(TRACES))
    log = partial / "log.txt"
    if (said := without_secrets(printed := content_of(log))) != printed:
        write_bytes(log, said)
    record = record.model_copy(update={"files": digests(partial, (*DATA_FILES, *traces))})
    content = record.model_dump(mode="json")
    shown = without_secrets(content) | {"spec": content["spec"], "run_id": record.run_id}
    write_json(partial / "run.json", sealed(shown))
    vouch(partial, record.outcome)
    sync_folder(partial)


def vouch(directory: Path, outcome: Outcome) -> bool:
    """Write run.sha256 unless it exists or the run was preempted. Returns whether it wrote the file.

    run.sha256 is Snakemake's output of a run. Snakemake removes the output of a job that failed or will run again;
    the record itself is not an output, so Snakemake never removes it.
    """
    if (directory / VOUCHER).exists() or outcome == "preempted":
        return False
    write_voucher(directory)
    return True
