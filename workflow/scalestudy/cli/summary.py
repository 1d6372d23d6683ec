"""Print a study's verdicts in a few lines, and where its results are."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scalestudy.cli.inputs import read_plan, read_table
from scalestudy.cli.study_files import add_study
from scalestudy.diagnose.findings import FindingsFile
from scalestudy.publish.diagnoses import diagnoses_view, leading
from scalestudy.publish.numbers.book import Book
from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.view import rows_view
from scalestudy.record.document import read_document
from scalestudy.study.config.load import load_study

HELP = "verdicts in a few lines, and the paths of what was made"

# What a reader opens, in the order of use.
DOCUMENTS = (
    "report.html",
    "performance_report.txt",
    "tables/summary_table.tex",
    "numbers.tex",
    "comprehensive_summary.csv",
    "figures",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_study(parser)
    parser.add_argument("--results", type=Path, help="results folder (default: results/STUDY)")


def run(arguments: argparse.Namespace) -> int:
    results = arguments.results or Path("results") / load_study(*arguments.study).study
    plan = read_plan(results / "plan.json")
    book = Book(read_document(results / "numbers.json", NumbersFile))
    rows = rows_view(plan, read_table(results / "comprehensive_summary.csv"), book)
    findings = read_document(results / "findings.json", FindingsFile).diagnoses
    outcomes = read_table(results / "runs.csv")["outcome"].value_counts().to_dict()
    outcomes.pop("unneeded", None)  # not launched
    counted = ", ".join(f"{count} {word}" for word, count in outcomes.items())
    print(f"study {plan.study.name}: {sum(outcomes.values())} launches ({counted})")
    for view in leading(diagnoses_view(findings, rows, book)):
        row = view["row"]
        print(
            f"  {view['workload']} {view['variant']} {view['scaling']} on {view['ranks']}: {view['verdict']},"
            f" speedup {row['speedup']}" + (f", {view['causes']}" if view["causes"] else "")
        )
        if view["others"]:
            print(f"    at other scales: {view['others']}")
    for name in DOCUMENTS:
        print(f"  {results / name}")
    if outcomes.get("failed"):
        print(f"{outcomes['failed']} launches failed; the report says why", file=sys.stderr)
        return 1
    return 0
