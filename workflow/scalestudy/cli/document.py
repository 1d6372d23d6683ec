"""What the text report and the page share: the same inputs, read in the same way."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from scalestudy.analyse.study.environment import StudyEnvironment
from scalestudy.analyse.trace.summary import TracesFile
from scalestudy.cli.inputs import read_plan, read_table
from scalestudy.diagnose.findings import FindingsFile
from scalestudy.publish.facts import document_facts
from scalestudy.publish.numbers.book import Book
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.results import Results
from scalestudy.record.document import read_document


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """The arguments that name the inputs of a document."""
    parser.add_argument("--plan", type=Path, required=True, help="plan.json of the study")
    parser.add_argument("--summary", type=Path, required=True, help="comprehensive_summary.csv")
    parser.add_argument("--runs", type=Path, required=True, help="runs.csv")
    parser.add_argument("--forecasts", type=Path, required=True, help="forecasts.csv")
    parser.add_argument("--factors", type=Path, required=True, help="efficiency_factors.csv")
    parser.add_argument("--findings", type=Path, required=True, help="findings.json")
    parser.add_argument("--traces", type=Path, required=True, help="traces.json")
    parser.add_argument("--environment", type=Path, required=True, help="environment.json")


def add_numbers(parser: argparse.ArgumentParser) -> None:
    """The argument that names the numbers of a document."""
    parser.add_argument("--numbers", type=Path, required=True, help="numbers.json")


def read_book(arguments: argparse.Namespace) -> Book:
    """The numbers of a document, by key."""
    return Book(read_document(arguments.numbers, NumbersFile))


def read_results(arguments: argparse.Namespace) -> Results:
    """What the earlier stages wrote."""
    return Results(
        summary=read_table(arguments.summary),
        runs=read_table(arguments.runs),
        forecasts=read_table(arguments.forecasts),
        factors=read_table(arguments.factors),
        findings=read_document(arguments.findings, FindingsFile).diagnoses,
        traces=read_document(arguments.traces, TracesFile).traces,
        environment=read_document(arguments.environment, StudyEnvironment),
    )


def read_facts(arguments: argparse.Namespace) -> dict[str, Any]:
    """Everything a template may print, by name."""
    return document_facts(read_plan(arguments.plan), read_results(arguments), read_book(arguments))
