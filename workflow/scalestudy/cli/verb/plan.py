"""`scalestudy plan`: what a study is going to run."""

from __future__ import annotations

from pathlib import Path

from scalestudy.cli import options
from scalestudy.cli.naming import find_study


@options.verb(short_help="print the runs of a study and what they may cost")
@options.study
@options.results
def command(study: tuple[Path, ...], results: Path | None) -> int:
    """Print what a study is going to run and what that may cost, before anything runs."""
    from scalestudy.study.cost import plan_lines
    from scalestudy.study.plan import make_plan

    print("\n".join(plan_lines(make_plan(find_study(study, results)))))
    return 0
