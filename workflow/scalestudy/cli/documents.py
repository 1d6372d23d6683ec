"""Write the LaTeX documents of a study: report, proposal, and an artifact description for a paper to \\input."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path

from scalestudy.cli.document import add_inputs, add_numbers, read_book, read_results
from scalestudy.cli.inputs import read_plan
from scalestudy.errors import UserError
from scalestudy.publish.documents.artifact import artifact_view
from scalestudy.publish.documents.figures import printing_tables, shown_figures
from scalestudy.publish.documents.proposal import proposal_view
from scalestudy.publish.documents.report import report_view
from scalestudy.publish.facts import document_facts
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.record.files import write_text

HELP = "report, proposal and artifact description for LaTeX (report.tex, proposal.tex, artifact_description.tex)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_numbers(parser)
    parser.add_argument(
        "--tables", type=Path, nargs="+", required=True, help="the tables, from `scalestudy tables`"
    )
    parser.add_argument(
        "--figures",
        type=Path,
        nargs="+",
        required=True,
        help="the figures as PDF, with their points (CSV) beside them",
    )
    parser.add_argument("--command", default="", help="what runs the study, for who wants to reproduce it")
    parser.add_argument("--templates", type=Path, default=DIRECTORY, help="folder of the Jinja templates")
    parser.add_argument(
        "--out", type=Path, required=True, help="folder that holds tables and figures, for the .tex files"
    )


def run(arguments: argparse.Namespace) -> int:
    plan, results = read_plan(arguments.plan), read_results(arguments)
    book = read_book(arguments)
    facts = document_facts(plan, results, book)
    relative = _relative_to(arguments.out)
    tables = printing_tables(arguments.tables, relative)
    figures = shown_figures(facts["workloads"], arguments.figures, relative)
    views = {
        "report": report_view(plan, results, facts, tables=tables, figures=figures),
        "proposal": proposal_view(plan, results, facts, tables=tables, figures=figures),
        "artifact_description": artifact_view(plan, results, book, command=arguments.command),
    }
    for name, values in views.items():
        write_text(arguments.out / f"{name}.tex", render(arguments.templates / f"{name}.tex", **values))
        print(arguments.out / f"{name}.tex")
    return 0


def _relative_to(folder: Path) -> Callable[[Path], str]:
    """Paths as documents in this folder have them; UserError for one that LaTeX could not read from there."""

    def relative(path: Path) -> str:
        inside = path.resolve().is_relative_to(folder.resolve())
        text = path.resolve().relative_to(folder.resolve()).as_posix() if inside else ""
        if not re.fullmatch(r"[\w./-]+", text, flags=re.ASCII):
            raise UserError(
                f"{path}: has to stand in {folder}, in folders named with letters, digits, hyphens and underscores"
            )
        return text

    return relative
