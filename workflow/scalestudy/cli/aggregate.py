"""Put all observations of a plan together: runs.csv, epochs.csv, environment.json, comprehensive_summary.csv."""

from __future__ import annotations

import argparse
from pathlib import Path

from scalestudy.analyse.environment import study_environment
from scalestudy.analyse.runs import epochs_frame, runs_frame
from scalestudy.analyse.summary import summary_frame
from scalestudy.cli.inputs import read_plan
from scalestudy.record.files import write_json, write_text
from scalestudy.record.observation import read_observation

HELP = "all observations -> runs.csv, epochs.csv, comprehensive_summary.csv"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--plan", type=Path, required=True, help="plan.json of the study")
    parser.add_argument(
        "--results", type=Path, required=True, help="results folder of the study, with runs/ in it"
    )


def run(arguments: argparse.Namespace) -> int:
    plan = read_plan(arguments.plan)
    observations = [read_observation(arguments.results / "runs" / run_id) for run_id in plan.runs]
    runs = runs_frame(plan.study, observations)
    summary = summary_frame(plan, runs)
    frames = {
        "runs.csv": runs,
        "epochs.csv": epochs_frame(observations),
        "comprehensive_summary.csv": summary,
    }
    for name, frame in frames.items():
        write_text(arguments.results / name, frame.to_csv(index=False))
    write_json(arguments.results / "environment.json", study_environment(observations))
    print(f"{len(runs)} runs, {len(summary)} points: {runs['outcome'].value_counts().to_dict()}")
    return 0
