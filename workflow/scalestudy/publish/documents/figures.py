"""Which figures of a workload a document has, and how they stand: over the page, or two in a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.publish.figures.tidy import shows_something

# As a reader goes through them; those over the page stand alone.
ORDER = (
    ("speedup_efficiency",),
    ("step_breakdown",),
    ("throughput", "memory"),
    ("communication", "step_time_distribution"),
    ("measured_forecast",),
    ("epoch_time_detailed",),
    ("accuracy",),
)
NAMES = [name for row in ORDER for name in row]


def figure_rows(workload: str, paths: Mapping[str, str], *, side_by_side: bool) -> list[list[dict[str, str]]]:
    """Rows of figures with their `kind` and `path`. paths: of the figures that show something, by name."""
    rows = []
    for names in ORDER:
        found = [
            {"kind": name, "path": paths[f"{workload}_{name}"]} for name in names if f"{workload}_{name}" in paths
        ]
        rows += [found] if side_by_side else [[figure] for figure in found]
    return [row for row in rows if row]


def shown_figures(results: Path, workloads: list[str], of_study: list[str]) -> dict[str, str]:
    """Name of a figure -> its path as a document has it, of those in which something is drawn.

    of_study: figures of the study as a whole. The CSV beside a figure has the points that are drawn; UserError
    names a figure or a CSV that is missing.
    """
    found = {}
    for stem in [*(f"{workload}_{name}" for workload in workloads for name in NAMES), *of_study]:
        path = results / "figures" / f"{stem}.pdf"
        if not path.exists():
            raise UserError(f"{path}: missing; `scalestudy stage plot` draws it")
        if shows_something(path.with_suffix(".csv")):
            found[stem] = path.relative_to(results).as_posix()
    return found


def printing_tables(results: Path, names: Iterable[str]) -> dict[str, str]:
    """Name of a table -> its path as a document has it, of those that print something."""
    found = {}
    for name in names:
        path = results / "tables" / f"{name}.tex"
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            raise UserError(f"{path}: missing; `scalestudy stage tables` writes it") from None
        if any(line.strip() and not line.lstrip().startswith("%") for line in lines):
            found[name] = path.relative_to(results).as_posix()
    return found
