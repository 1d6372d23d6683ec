"""`scalestudy stage page`: the report as one HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalestudy.cli.options import of_results
from scalestudy.errors import UserError
from scalestudy.registry.results import RESULTS

if TYPE_CHECKING:
    from scalestudy.publish.figures.shown import ShownFigure


@of_results("report as one self-contained page (report.html)")
def command(results: Path) -> int:
    """Render the report as one HTML page that contains its figures and loads nothing from the network."""
    from scalestudy.cli.inputs import book_of, plan_of, results_of
    from scalestudy.publish.figures.shown import shown_figures
    from scalestudy.publish.templates import DIRECTORY, render
    from scalestudy.publish.views.facts import document_facts
    from scalestudy.record.files import write_text

    plan, book = plan_of(results), book_of(results)
    facts = document_facts(plan, results_of(results), book)
    facts |= {
        "figures": [_embedded(figure) for figure in shown_figures(plan, results / "figures", facts["forecasts"])],
        "numbers": book,
    }
    write_text(results / RESULTS["page"], render(DIRECTORY / "report.html", **facts))
    print(results / RESULTS["page"])
    return 0


def _embedded(figure: ShownFigure) -> dict[str, Any]:
    """A figure as the page embeds it. words: what it shows, for those who do not see it."""
    from scalestudy.publish.embedding import data_uri

    return {
        "workload": figure.workload,
        "title": figure.entry.title,
        "wide": figure.entry.wide,
        "caption": figure.caption,
        "intervals": figure.entry.intervals,
        "source": data_uri(_read(figure.path(".svg"))),
        "words": _read(figure.path(".txt")).strip(),
    }


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{path}: missing; `scalestudy stage plot` writes it") from None
