"""Print what a study is going to run, and what it may cost, before anything runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from scalestudy.cli.study_files import add_study
from scalestudy.record.files import write_json
from scalestudy.record.finished import finished_lines
from scalestudy.study.config.load import load_study
from scalestudy.study.cost import plan_lines
from scalestudy.study.plan import make_plan

HELP = "print the runs of a study and their cost; --out writes the plan as JSON"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_study(parser)
    parser.add_argument("--config-json", help="the study as JSON instead, as Snakemake passes it")
    parser.add_argument("--out", type=Path, help="write the plan to this file")


def run(arguments: argparse.Namespace) -> int:
    if arguments.config_json:
        from scalestudy.study.config.load import parse_json

        study = parse_json(arguments.config_json, source="config")
    else:
        study = load_study(*arguments.study)
    plan = make_plan(study)
    if arguments.out:
        write_json(arguments.out, plan.model_dump(mode="json"))
    finished = [] if arguments.config_json else finished_lines(Path("results") / study.name, plan.runs)
    print("\n".join([*plan_lines(plan), *finished]))
    return 0
