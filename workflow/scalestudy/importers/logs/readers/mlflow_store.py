"""A run in MLflow's file store: a folder `mlruns/EXPERIMENT/RUN` with `metrics/NAME` and `params/NAME`.

A line of a metric is `timestamp_ms value step`. Each metric is a column, and its time stamps are the clock.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scalestudy.errors import UserError
from scalestudy.importers.logs.lines import numbered_lines
from scalestudy.importers.logs.model import Facts, Given, Log
from scalestudy.importers.logs.quantities import meaning_of
from scalestudy.importers.logs.tabular.columns import Columns
from scalestudy.importers.logs.tabular.table import logs_of

KIND = "MLflow run"
MOST_METRICS, MOST_STEPS, MOST_BYTES = 2000, 500_000, 1 << 20
_PARAMETERS = {
    "devices": ("num_gpus", "n_gpu", "gpus", "world_size", "devices"),
    "global_batch": ("global_batch_size", "total_batch_size"),
    "sequence_length": ("seq_length", "sequence_length", "seq_len"),
}


def is_run(path: Path) -> bool:
    return (path / "meta.yaml").is_file() and (path / "metrics").is_dir()


def runs_in(path: Path) -> list[Path]:
    """The runs in a folder: itself, those of an experiment, or those of all experiments of a store."""
    if is_run(path):
        return [path]
    found = [child for child in sorted(path.iterdir()) if child.is_dir() and is_run(child)]
    return found or [
        run for child in sorted(path.iterdir()) if child.is_dir() for run in sorted(child.iterdir()) if is_run(run)
    ]


def read(path: Path, given: Given) -> list[Log]:
    """Return the runs of a folder. Raises UserError that names the file and line of a metric that is none."""
    runs = runs_in(path)
    if not runs:
        raise UserError(f"{path}: is a folder without runs of MLflow (meta.yaml and metrics/); name a log file")
    return [log for run in runs for log in _run(path, run, given)]


def _run(path: Path, run: Path, given: Given) -> list[Log]:
    rows: dict[int, dict[str, Any]] = {}
    files = [file for file in sorted((run / "metrics").rglob("*")) if file.is_file()]
    if len(files) > MOST_METRICS:
        raise UserError(f"{run}: {len(files)} metrics; a log has at most {MOST_METRICS}")
    names = ["step", "timestamp"]
    for file in files:
        name = file.relative_to(run / "metrics").as_posix()
        names.append(name)
        if meaning_of(name) is None:
            continue
        for number, line in numbered_lines(file, whole=False):
            try:
                stamp, value, step = line.split()[:3]
                row = rows.setdefault(int(step), {"step": int(step), "timestamp": int(stamp) * 1e-3})
                row[name] = float(value)
                if len(rows) > MOST_STEPS:
                    raise UserError(
                        f"{file}, line {number}: more than {MOST_STEPS} steps, too many for this format"
                    )
            except ValueError:
                raise UserError(
                    f"{file}, line {number}: not 'timestamp value step', as MLflow writes it"
                ) from None
    said: dict[str, Any] = {field: _parameter(run, known) for field, known in _PARAMETERS.items()}
    numbered = ((at + 1, row) for at, (_, row) in enumerate(sorted(rows.items())))
    logs = logs_of(KIND, Columns.of(run, names, given), numbered, facts=Facts(**said))
    for log in logs:
        log.path, log.label = path, (run.name if run != path else "")
    return logs


def _parameter(run: Path, names: tuple[str, ...]) -> int | None:
    for name in names:
        file = run / "params" / name
        if file.is_file() and file.stat().st_size < MOST_BYTES:
            text = file.read_text(encoding="utf-8", errors="replace").strip()
            if text.isascii() and text.isdigit() and int(text) > 0:
                return int(text)
    return None
