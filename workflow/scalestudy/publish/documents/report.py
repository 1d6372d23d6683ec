"""Content of the LaTeX report beyond the facts that all documents share."""

from collections.abc import Mapping, Sequence
from typing import Any

from scalestudy.publish.documents.figures import Known, Placed, figure_rows, placed
from scalestudy.publish.figures.shown import ShownFigure
from scalestudy.publish.numbers.provenance import codes_of, dates_of, is_dirty
from scalestudy.publish.papers import paper_of
from scalestudy.publish.results import Results
from scalestudy.publish.views.diagnoses import leading
from scalestudy.publish.views.forecasts import refusals
from scalestudy.publish.words.labels import runs_each
from scalestudy.registry.tables import FILES, VERIFICATION
from scalestudy.study.plan import Plan


def report_view(
    plan: Plan,
    results: Results,
    facts: dict[str, Any],
    *,
    tables: Mapping[str, str],
    figures: Sequence[ShownFigure],
) -> dict[str, Any]:
    """Values for report/templates/report.tex. tables: name -> path of each table that prints something."""
    page = paper_of(plan)
    known: Known = {
        "intervals": bool(results.summary["speedup_low"].notna().any()),
        "launches": runs_each(results.summary["launches_ok"]),
    }

    def rows_of(shown: Sequence[ShownFigure]) -> list[list[Placed]]:
        found = [placed(figure, facts["study"], known) for figure in shown]
        return figure_rows(found, side_by_side=page.two_columns)

    return latex_facts(results, facts) | {
        "page": page,
        "leading": leading(facts["diagnoses"], most=0),
        "tables": [tables[name] for name in FILES.values() if name in tables],
        "verification_table": tables.get(VERIFICATION, ""),
        "environment_table": tables.get("environment", ""),
        "provenance": tables.get("provenance", ""),
        "figures": rows_of([figure for figure in figures if not figure.entry.of_advice]),
        "tried_figures": rows_of([figure for figure in figures if figure.entry.of_advice]),
        "refusals": refusals(facts["forecasts"]),
        "batches_forecast": any(item["of"] == "batch" and not item["refused"] for item in facts["forecasts"]),
    }


def latex_facts(results: Results, facts: dict[str, Any]) -> dict[str, Any]:
    """The facts that all documents share, plus dates and code of the runs for the LaTeX documents."""
    made = results.runs[results.runs["outcome"] != "unneeded"]
    return facts | {"dates": dates_of(made), "code": codes_of(made), "dirty": is_dirty(made)}
