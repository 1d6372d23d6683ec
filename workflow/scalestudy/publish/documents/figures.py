"""Figures and tables of a LaTeX document, and the placement of figures: across the page, or two in a row."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from scalestudy.errors import UserError
from scalestudy.publish.figures.shown import ShownFigure
from scalestudy.publish.made import read_made

Placed = dict[str, Any]
"""A figure for a template: `workload`, `path` relative to the document, `caption`, and whether it is `wide`."""


class Known(TypedDict):
    """Facts that apply to all numbers of a document."""

    launches: str
    """Number of runs of each point, as text."""
    intervals: bool
    """Whether any speedup has one."""


def placed(figure: ShownFigure, study: Mapping[str, Any], known: Known) -> Placed:
    """A figure with a caption that is complete by itself, as in a paper. study: facts of study_view.

    Raises UserError if the figure is missing.
    """
    path = figure.path(".pdf")
    if not path.exists():
        raise UserError(f"{path}: missing; `scalestudy stage plot` draws it")
    said = [f"Workload {figure.workload}." if figure.workload else "", figure.caption]
    if figure.entry.has_base:
        said.append(f"Baseline: {study['base']} ({study['base_variants']}).")
    if figure.entry.intervals:
        said += [study["intervals"], f"{figure.entry.intervals}: these intervals." if known["intervals"] else ""]
    else:
        said.append(f"No intervals are shown; {known['launches']} of each point.")
    return {
        "workload": figure.workload,
        "wide": figure.entry.wide,
        "path": path.relative_to(figure.folder.parent).as_posix(),
        "caption": " ".join(filter(None, said)),
    }


def figure_rows(figures: Sequence[Placed], *, side_by_side: bool) -> list[list[Placed]]:
    """Rows of figures: one each, or two in sequence that are not wide."""
    rows: list[list[Placed]] = []
    for figure in figures:
        last = rows[-1] if rows and side_by_side else []
        if len(last) == 1 and not last[0]["wide"] and not figure["wide"]:
            last.append(figure)
        else:
            rows.append([figure])
    return rows


def printing_tables(results: Path, names: Iterable[str]) -> dict[str, str]:
    """Name -> path relative to the document, for each table that prints something."""
    found = {}
    for name in names:
        path = results / "tables" / f"{name}.tex"
        lines = read_made(path, f"scalestudy stage tables --results {results}").splitlines()
        if any(line.strip() and not line.lstrip().startswith("%") for line in lines):
            found[name] = path.relative_to(results).as_posix()
    return found
