"""What the text report and the page share: the same inputs, the same facts, another template."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from scalestudy.cli.inputs import read_json, read_plan, read_table
from scalestudy.publish.environment import environment_view, hardware_view, warnings_view
from scalestudy.publish.traces import traces_view
from scalestudy.publish.view import diagnoses_view, rows_view, study_view


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """The arguments that name the inputs of a document."""
    parser.add_argument("--plan", type=Path, required=True, help="plan.json of the study")
    parser.add_argument("--summary", type=Path, required=True, help="comprehensive_summary.csv")
    parser.add_argument("--runs", type=Path, required=True, help="runs.csv")
    parser.add_argument("--findings", type=Path, required=True, help="findings.json")
    parser.add_argument("--traces", type=Path, required=True, help="traces.json")
    parser.add_argument("--environment", type=Path, required=True, help="environment.json")


def read_facts(arguments: argparse.Namespace) -> dict[str, Any]:
    """Everything a template may print, by name."""
    plan, summary = read_plan(arguments.plan), read_table(arguments.summary)
    runs = read_table(arguments.runs)
    environment = read_json(arguments.environment)
    rows = rows_view(plan, summary)
    reserve, runs = runs[runs["outcome"] == "unneeded"], runs[runs["outcome"] != "unneeded"]
    failed = runs[runs["outcome"] != "ok"]
    return {
        "study": study_view(plan, summary),
        "workloads": list(plan.study.workloads),
        "rows": rows,
        "diagnoses": diagnoses_view(read_json(arguments.findings), rows),
        "hardware": hardware_view(environment),
        "environment": environment_view(environment),
        "warnings": warnings_view(environment, launches=len(runs)),
        "runs": len(runs),
        "unneeded": len(reserve),
        "traces": traces_view(read_json(arguments.traces)),
        "outcomes": [(word, int(n)) for word, n in runs["outcome"].value_counts().items()],
        "failed": failed[["run_id", "outcome", "reason"]].fillna("").to_dict("records"),
    }
