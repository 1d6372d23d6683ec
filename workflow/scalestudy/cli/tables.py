"""Render a LaTeX table of the summary."""

from __future__ import annotations

import argparse
from pathlib import Path

from scalestudy.cli.inputs import read_plan, read_table
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.publish.view import column_formats, rows_view, study_view
from scalestudy.record.files import write_text

HELP = "LaTeX table of the summary (booktabs, siunitx)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plan", type=Path, required=True, help="plan.json of the study")
    parser.add_argument("--summary", type=Path, required=True, help="comprehensive_summary.csv")
    parser.add_argument("--template", type=Path, default=DIRECTORY / "summary_table.tex", help="Jinja template")
    parser.add_argument("--out", type=Path, required=True, help="the .tex file")


def run(arguments: argparse.Namespace) -> int:
    plan, summary = read_plan(arguments.plan), read_table(arguments.summary)
    rows = rows_view(plan, summary)
    study, formats = study_view(plan, summary), column_formats(rows)
    text = render(arguments.template, study=study, rows=rows, formats=formats)
    write_text(arguments.out, text)
    print(arguments.out)
    return 0
