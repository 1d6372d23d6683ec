"""Which figures and tables a LaTeX document has, and how figures stand: over the page, or two in a row."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from scalestudy.errors import UserError
from scalestudy.publish.figures.shown import ShownFigure
from scalestudy.publish.made import read_made

Placed = dict[str, Any]
"""A figure for a template: its `workload`, its `path` from the document, its `caption`, and if it is `wide`."""


class Known(TypedDict):
    """What a document knows of all its numbers."""

    launches: str
    """How many there are of each point."""
    intervals: bool
    """Whether any speedup has one."""


def placed(figure: ShownFigure, study: Mapping[str, Any], known: Known) -> Placed:
    """A figure with all that it has to say by itself in a paper. study: facts of study_view.

    Raises UserError where the figure is missing.
    """
    path = figure.path(".pdf")
    if not path.exists():
        raise UserError(f"{path}: missing; `scalestudy stage plot` draws it")
    said = [f"Workload {figure.workload}." if figure.workload else "", figure.caption]
    if figure.entry.has_base:
        said.append(f"Base case: {study['base']} ({study['base_variants']}).")
    if figure.entry.intervals:
        said += [study["intervals"], "Bars: these intervals." if known["intervals"] else ""]
    else:
        said.append(f"Without intervals; {known['launches']} of each point.")
    return {
        "workload": figure.workload,
        "wide": figure.entry.wide,
        "path": path.relative_to(figure.folder.parent).as_posix(),
        "caption": " ".join(filter(None, said)),
    }


def figure_rows(figures: Sequence[Placed], *, side_by_side: bool) -> list[list[Placed]]:
    """Rows of figures: one, or two of the same workload that are not wide."""
    rows: list[list[Placed]] = []
    for figure in figures:
        last = rows[-1] if rows and side_by_side else []
        if len(last) == 1 and not last[0]["wide"] and not figure["wide"]:
            last.append(figure)
        else:
            rows.append([figure])
    return rows


def printing_tables(results: Path, names: Iterable[str]) -> dict[str, str]:
    """Name of a table -> its path as a document has it, of those that print something."""
    found = {}
    for name in names:
        path = results / "tables" / f"{name}.tex"
        lines = read_made(path, f"scalestudy stage tables --results {results}").splitlines()
        if any(line.strip() and not line.lstrip().startswith("%") for line in lines):
            found[name] = path.relative_to(results).as_posix()
    return found
