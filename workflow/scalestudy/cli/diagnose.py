"""Judge every point of the summary: verdict, cause, evidence, recommendation; written as findings.json."""

from __future__ import annotations

import argparse
from pathlib import Path

from scalestudy.cli.inputs import read_plan, read_table
from scalestudy.diagnose.findings import FindingsFile
from scalestudy.diagnose.study import diagnose_study
from scalestudy.publish.words.points import VERDICTS
from scalestudy.record.document import write_document

HELP = "summary -> verdicts, findings and recommendations (findings.json)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plan", type=Path, required=True, help="plan.json of the study")
    parser.add_argument("--summary", type=Path, required=True, help="comprehensive_summary.csv")
    parser.add_argument("--forecasts", type=Path, required=True, help="forecasts.csv")
    parser.add_argument("--out", type=Path, required=True, help="findings.json")


def run(arguments: argparse.Namespace) -> int:
    plan = read_plan(arguments.plan)
    found = diagnose_study(plan.study, read_table(arguments.summary), read_table(arguments.forecasts))
    write_document(arguments.out, FindingsFile(study=plan.study.name, diagnoses=tuple(found)))
    for d in found:
        verdict = f"{VERDICTS[d.verdict]} ({d.sentence})"
        print(f"{d.workload} {d.variant} {d.scaling} on {d.world_size} ranks: {verdict}")
    return 0
