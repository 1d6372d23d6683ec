"""`scalestudy plan`: what a study is going to run."""

from __future__ import annotations

from pathlib import Path

from scalestudy.cli import options
from scalestudy.cli.naming import find_study, results_of


@options.verb(short_help="print the runs of a study and what they may cost")
@options.study
@options.results
def command(study: tuple[Path, ...], results: Path | None) -> int:
    """Print what a study is going to run and what that may cost, before anything runs."""
    from scalestudy.cli.cost import plan_lines
    from scalestudy.record.finished import finished_lines
    from scalestudy.study.plan import make_plan

    plan = make_plan(find_study(study, results))
    finished = finished_lines(results or results_of(plan.study), plan.runs)
    print("\n".join([*plan_lines(plan), *finished]))
    return 0
