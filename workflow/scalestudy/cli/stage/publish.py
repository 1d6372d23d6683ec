"""Stages that write files for readers: figures, numbers, tables and documents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scalestudy.cli import options
from scalestudy.cli.options import of_results
from scalestudy.errors import UserError
from scalestudy.registry.results import RESULTS

if TYPE_CHECKING:
    from scalestudy.publish.figures.shown import ShownFigure

MANY_FIGURES = 20
"""Number of figures from which several processes embed them in the page."""


@of_results("Draw the figures (figures/), with their data and descriptions.")
@click.option("--workload", metavar="NAME", help="Draw only the figures of this workload. Default: all figures.")
@click.option(
    "--processes", type=click.IntRange(min=1), help="Number of figures drawn at a time. Default: number of cores."
)
def plot(results: Path, workload: str | None, processes: int | None) -> int:
    """Draw the figures of a study as PDF, SVG and PNG, each with its data and its description."""
    from scalestudy.cli.stage.drawing import draw_all

    for path in draw_all(results, workload, processes):
        print(path)
    return 0


@of_results("Write every printed number by key (numbers.json, numbers.tex).")
def numbers(results: Path) -> int:
    """Write all numbers of the documents with units, intervals and runs, as JSON and for LaTeX."""
    from scalestudy.cli.results.inputs import plan_of, results_of
    from scalestudy.publish.numbers.latex import numbers_view
    from scalestudy.publish.numbers.ledger import make_numbers
    from scalestudy.record.document import write_document

    made = make_numbers(plan_of(results), results_of(results))
    write_document(results / RESULTS["numbers"], made)
    _write(results / RESULTS["numbers_tex"], "numbers.tex", numbers_view(made))
    print(f"{results / RESULTS['numbers']}: {len(made.numbers)} numbers")
    return 0


@of_results("Write LaTeX tables (tables/), for booktabs and siunitx.")
def tables(results: Path) -> int:
    """Write the LaTeX tables of a study, each a fragment to \\input, with one on the provenance of its numbers."""
    from scalestudy.cli.results.inputs import book_of, environment_of, plan_of, table_of, verification_of
    from scalestudy.publish.numbers.provenance import provenance_view
    from scalestudy.publish.tables.verified import verified_table_view
    from scalestudy.publish.tables.view import environment_table_view, table_view
    from scalestudy.registry.tables import FILES, VERIFICATION

    plan, summary, book = plan_of(results), table_of(results, "summary"), book_of(results)
    environment = environment_table_view(plan, summary, environment_of(results))
    made = {file: ("table.tex", table_view(plan, summary, book, name)) for name, file in FILES.items()} | {
        "environment": ("environment_table.tex", environment),
        "provenance": ("provenance.tex", provenance_view(book)),
    }
    if tried := verification_of(results):
        made[VERIFICATION] = ("verification_table.tex", verified_table_view(plan, summary, book, tried))
    for name, (template, values) in made.items():
        _write(results / "tables" / f"{name}.tex", template, values)
    print(f"{len(made)} tables in {results / 'tables'}")
    return 0


@of_results("Write the report as text (performance_report.txt).")
def text(results: Path) -> int:
    """Write the diagnostic report as plain text in 80 columns, for a terminal or an e-mail."""
    from scalestudy.cli.results.inputs import documented
    from scalestudy.publish.views.facts import document_facts

    print(_write(results / RESULTS["text"], "performance_report.txt", document_facts(*documented(results))))
    return 0


@of_results("Write the report as one self-contained page (report.html).")
def page(results: Path) -> int:
    """Write the report as one HTML page that contains its figures and loads nothing from the network."""
    from scalestudy.cli.processes import cores, spread
    from scalestudy.cli.results.inputs import documented
    from scalestudy.publish.figures.shown import shown_figures
    from scalestudy.publish.views.facts import document_facts

    plan, found, book = documented(results)
    facts = document_facts(plan, found, book)
    shown = shown_figures(plan, results / "figures", facts)
    processes = 1 if len(shown) < MANY_FIGURES else cores()
    facts |= {"figures": spread(_embedded, None, shown, processes=processes, at_once=5), "numbers": book}
    print(_write(results / RESULTS["page"], "report.html", facts))
    return 0


@of_results("Write the LaTeX documents: report, proposal, artifact description.")
@click.option(
    "--command",
    "called",
    default="",
    metavar="LINE",
    help="Command that runs the study, for the documents. Default: that of an earlier call (command.txt).",
)
def documents(results: Path, called: str) -> int:
    """Write report.tex, proposal.tex, and an artifact description that a paper can \\input."""
    from scalestudy.cli.results.inputs import documented
    from scalestudy.publish.documents.artifact import artifact_view
    from scalestudy.publish.documents.figures import printing_tables
    from scalestudy.publish.documents.proposal import proposal_view
    from scalestudy.publish.documents.report import report_view
    from scalestudy.publish.figures.shown import shown_figures
    from scalestudy.publish.views.facts import document_facts
    from scalestudy.registry.tables import NAMES, VERIFICATION

    plan, found, book = documented(results)
    called = _command(results / RESULTS["command"], called)
    facts = document_facts(plan, found, book)
    printing = printing_tables(results, [*NAMES, *([VERIFICATION] if facts["verified"] else [])])
    figures = shown_figures(plan, results / "figures", facts)
    views = {
        "report": report_view(plan, found, facts, tables=printing, figures=figures),
        "proposal": proposal_view(plan, found, facts, tables=printing, figures=figures),
        "artifact_description": artifact_view(plan, found, facts, book=book, command=called),
    }
    for name, values in views.items():
        print(_write(results / f"{name}.tex", f"{name}.tex", values))
    return 0


@options.verb(short_help="Typeset a LaTeX document (report.pdf, proposal.pdf).")
@click.argument("source", type=options.PATH)
@options.path("--out", metavar="FILE", help="The PDF to write. Default: next to the source.")
@options.path("--tex-log", metavar="FILE", help="The LaTeX log to write. Default: next to the PDF.")
def typeset(source: Path, out: Path | None, tex_log: Path | None) -> int:
    """Typeset SOURCE, a .tex file in the folder of its tables and figures, as PDF.

    This needs LaTeX; if it is missing, the error message names the packages to install.
    """
    from scalestudy.publish.typeset import typeset
    from scalestudy.record.files import write_bytes

    if not source.name:
        raise UserError(f"{source}: is a folder; name the .tex file")
    out = out or source.with_suffix(".pdf")
    if not out.name:
        raise UserError(f"--out {out}: is a folder; name the file")
    made = typeset(source, log=tex_log or out.with_suffix(".log"))
    write_bytes(out, made.pdf)
    print(f"{out}: {made.pages} page{'s' if made.pages > 1 else ''}")
    return 0


def _command(path: Path, called: str) -> str:
    """Return the command that runs the study, and keep it in a file: only Snakemake knows it."""
    from scalestudy.record.files import read_file, write_text

    if called:
        write_text(path, f"{called}\n")
        return called
    return read_file(path).decode("utf-8", errors="replace").strip() if path.exists() else ""


def _write(path: Path, template: str, values: Mapping[str, Any]) -> Path:
    """Render one of our templates with these values, and write the result. Returns the path."""
    from scalestudy.publish.templates import DIRECTORY, render
    from scalestudy.record.files import write_text

    write_text(path, render(DIRECTORY / template, **values))
    return path


def _embedded(_: None, figure: ShownFigure) -> dict[str, Any]:
    """Return a figure as the page embeds it. words: its description for readers who cannot see it."""
    from scalestudy.publish.embedding import data_uri
    from scalestudy.publish.made import read_made

    made_by = f"scalestudy stage plot --results {figure.folder.parent}"
    return {
        "name": figure.entry.name,
        "workload": figure.workload,
        "wide": figure.entry.wide,
        "caption": figure.caption,
        "intervals": figure.entry.intervals,
        "source": data_uri(read_made(figure.path(".svg"), made_by)),
        "words": read_made(figure.path(".txt"), made_by).strip(),
    }
