"""Render the report as one self-contained HTML page: figures inside, nothing that it asks the network for."""

from __future__ import annotations

import argparse
from pathlib import Path

from markupsafe import Markup

from scalestudy.cli.document import add_inputs, add_numbers, read_book, read_facts
from scalestudy.errors import UserError
from scalestudy.publish.embedding import data_uri
from scalestudy.publish.figures import FIGURES, STUDY_FIGURES
from scalestudy.publish.figures.tidy import shows_something
from scalestudy.publish.sources import appendix_view
from scalestudy.publish.templates import DIRECTORY, render
from scalestudy.record.files import write_text

HELP = "report as one self-contained page (report.html)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    parser.add_argument(
        "--figures",
        type=Path,
        nargs="+",
        required=True,
        help="figures as SVG, their words and points beside them",
    )
    add_numbers(parser)
    parser.add_argument("--template", type=Path, default=DIRECTORY / "report.html", help="Jinja template")
    parser.add_argument("--out", type=Path, required=True, help="the page")


def run(arguments: argparse.Namespace) -> int:
    facts = read_facts(arguments)
    given = {path.stem: path for path in arguments.figures}
    figures = {
        workload: {name: _figure(given, f"{workload}_{name}") for name in FIGURES}
        for workload in facts["workloads"]
    }
    words = {
        workload: {name: _words(given, f"{workload}_{name}") for name in FIGURES}
        for workload in facts["workloads"]
    }
    points = {name: given[f"{name}_measured_forecast"].with_suffix(".csv") for name in facts["workloads"]}
    facts["held_out"] = [name for name, path in points.items() if shows_something(path)]
    of_study = [name for name in STUDY_FIGURES if name in given]
    facts |= {
        "study_figures": {name: _figure(given, name) for name in of_study},
        "study_words": {name: _words(given, name) for name in of_study},
    }
    book = read_book(arguments)
    facts |= {"book": book, "appendix": appendix_view(book.content, facts["forecasts"])}
    write_text(arguments.out, render(arguments.template, figures=figures, words=words, **facts))
    print(arguments.out)
    return 0


def _figure(given: dict[str, Path], stem: str) -> Markup:
    if stem not in given:
        raise UserError(f"--figures: {stem}.svg is missing; `scalestudy plot` draws it")
    return data_uri(given[stem].read_text(encoding="utf-8"))


def _words(given: dict[str, Path], stem: str) -> str:
    path = given[stem].with_suffix(".txt")
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise UserError(f"--figures: {path} is missing; `scalestudy plot` writes it") from None
