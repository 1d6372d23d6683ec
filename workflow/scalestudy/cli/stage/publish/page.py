"""`scalestudy stage page`: the report as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scalestudy.cli.options import of_results
from scalestudy.errors import UserError
from scalestudy.registry.results import RESULTS

if TYPE_CHECKING:
    from markupsafe import Markup


@of_results("report as one self-contained page (report.html)")
def command(results: Path) -> int:
    """Render the report as one HTML page that contains its figures and loads nothing from the network."""
    from scalestudy.cli.inputs import book_of, plan_of, results_of
    from scalestudy.publish.figures import FIGURES, study_figures
    from scalestudy.publish.figures.tidy import shows_something
    from scalestudy.publish.templates import DIRECTORY, render
    from scalestudy.publish.views.facts import document_facts
    from scalestudy.record.files import write_text

    plan, book, drawn = plan_of(results), book_of(results), results / "figures"
    facts = document_facts(plan, results_of(results), book)
    names = {workload: {name: f"{workload}_{name}" for name in FIGURES} for workload in facts["workloads"]}
    of_study = {name: name for name in study_figures(plan)}
    facts |= {
        "figures": {workload: _figures(drawn, mine) for workload, mine in names.items()},
        "words": {workload: _words(drawn, mine) for workload, mine in names.items()},
        "held_out": [
            workload for workload in names if shows_something(drawn / f"{workload}_measured_forecast.csv")
        ],
        "study_figures": _figures(drawn, of_study),
        "study_words": _words(drawn, of_study),
        "numbers": book,
    }
    write_text(results / RESULTS["page"], render(DIRECTORY / "report.html", **facts))
    print(results / RESULTS["page"])
    return 0


def _figures(folder: Path, names: dict[str, str]) -> dict[str, Markup]:
    """Figures as the page embeds them; names: what each is called -> the name of its file."""
    from scalestudy.publish.embedding import data_uri

    return {name: data_uri(_read(folder / f"{file}.svg")) for name, file in names.items()}


def _words(folder: Path, names: dict[str, str]) -> dict[str, str]:
    """The description of each figure."""
    return {name: _read(folder / f"{file}.txt").strip() for name, file in names.items()}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{path}: missing; `scalestudy stage plot` writes it") from None
