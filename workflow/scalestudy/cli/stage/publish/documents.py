"""`scalestudy stage documents`: the LaTeX documents of a study."""

from __future__ import annotations

from pathlib import Path

import click

from scalestudy.cli.options import of_results
from scalestudy.registry.tables import NAMES


@of_results("LaTeX documents: report, proposal, artifact description")
@click.option(
    "--command", "called", default="", metavar="LINE", help="Command that runs the study, to be printed."
)
def command(results: Path, called: str) -> int:
    """Write report.tex, proposal.tex, and an artifact description that a paper can \\input."""
    from scalestudy.cli.inputs import book_of, plan_of, results_of
    from scalestudy.publish.documents.artifact import artifact_view
    from scalestudy.publish.documents.figures import printing_tables
    from scalestudy.publish.documents.proposal import proposal_view
    from scalestudy.publish.documents.report import report_view
    from scalestudy.publish.figures.shown import shown_figures
    from scalestudy.publish.templates import DIRECTORY, render
    from scalestudy.publish.views.facts import document_facts
    from scalestudy.record.files import write_text

    plan, found, book = plan_of(results), results_of(results), book_of(results)
    facts = document_facts(plan, found, book)
    tables = printing_tables(results, NAMES)
    figures = shown_figures(plan, results / "figures", facts["forecasts"])
    views = {
        "report": report_view(plan, found, facts, tables=tables, figures=figures),
        "proposal": proposal_view(plan, found, facts, tables=tables, figures=figures),
        "artifact_description": artifact_view(plan, found, facts, book=book, command=called),
    }
    for name, values in views.items():
        write_text(results / f"{name}.tex", render(DIRECTORY / f"{name}.tex", **values))
        print(results / f"{name}.tex")
    return 0
