"""Write every number that the documents print, by key: numbers.json, and numbers.tex for a paper."""

from __future__ import annotations

import argparse
from pathlib import Path

from scalestudy.cli.document import add_inputs, read_results
from scalestudy.cli.inputs import read_plan
from scalestudy.publish.ledger import make_numbers
from scalestudy.publish.numbers_tex import numbers_view
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.record.document import write_document
from scalestudy.record.files import write_text

HELP = "every printed number by key, with unit, interval and runs (numbers.json, numbers.tex)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    parser.add_argument("--template", type=Path, default=DIRECTORY / "numbers.tex", help="Jinja template")
    parser.add_argument("--out", type=Path, required=True, help="numbers.json; numbers.tex stands beside it")


def run(arguments: argparse.Namespace) -> int:
    numbers = make_numbers(read_plan(arguments.plan), read_results(arguments))
    write_document(arguments.out, numbers)
    write_text(arguments.out.with_suffix(".tex"), render(arguments.template, **numbers_view(numbers)))
    print(f"{arguments.out}: {len(numbers.numbers)} numbers")
    return 0
