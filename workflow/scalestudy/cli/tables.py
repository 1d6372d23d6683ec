"""Render the LaTeX tables of a study, each a fragment to \\input."""

from __future__ import annotations

import argparse
from pathlib import Path

from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.cli.inputs import read_plan, read_table
from scalestudy.publish.numbers.book import Book
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.tables.environment import environment_table_view
from scalestudy.publish.tables.provenance import provenance_view
from scalestudy.publish.tables.view import table_view
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.record.document import read_document
from scalestudy.record.files import write_text
from scalestudy.registry.tables import FILES

HELP = "LaTeX tables (booktabs, siunitx), and where the numbers come from"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plan", type=Path, required=True, help="plan.json of the study")
    parser.add_argument("--summary", type=Path, required=True, help="comprehensive_summary.csv")
    parser.add_argument("--environment", type=Path, required=True, help="environment.json")
    parser.add_argument("--numbers", type=Path, required=True, help="numbers.json")
    parser.add_argument("--templates", type=Path, default=DIRECTORY, help="folder of the Jinja templates")
    parser.add_argument("--out", type=Path, required=True, help="folder for the .tex files")


def run(arguments: argparse.Namespace) -> int:
    plan, summary = read_plan(arguments.plan), read_table(arguments.summary)
    book = Book(read_document(arguments.numbers, NumbersFile))
    environment = environment_table_view(plan, summary, read_document(arguments.environment, StudyEnvironment))
    made = {file: ("table.tex", table_view(plan, summary, book, name)) for name, file in FILES.items()} | {
        "environment": ("environment_table.tex", environment),
        "provenance": ("provenance.tex", provenance_view(book.content)),
    }
    for name, (template, values) in made.items():
        write_text(arguments.out / f"{name}.tex", render(arguments.templates / template, **values))
    print(f"{len(made)} tables in {arguments.out}")
    return 0
