"""Render the diagnostic report as plain text: 80 columns, for a terminal or a mail."""

from __future__ import annotations

import argparse
from pathlib import Path

from scalestudy.cli.document import add_inputs, add_numbers, read_facts
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.record.files import write_text

HELP = "diagnostic report as text (performance_report.txt)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    add_numbers(parser)
    parser.add_argument(
        "--template", type=Path, default=DIRECTORY / "performance_report.txt", help="Jinja template"
    )
    parser.add_argument("--out", type=Path, required=True, help="the text file")


def run(arguments: argparse.Namespace) -> int:
    write_text(arguments.out, render(arguments.template, **read_facts(arguments)))
    print(arguments.out)
    return 0
