"""Refuses runs that would share files, in `scalestudy run`: before Snakemake starts and after it has ended."""

from __future__ import annotations

from pathlib import Path

from scalestudy.chain.launches import allowing
from scalestudy.launch.foreign.shared import refuse_shared
from scalestudy.study.plan import Plan
from scalestudy.study.spec import CommandSpec


def refuse_shared_files(plan: Plan, results: Path) -> None:
    """Raise UserError if a run that is not yet recorded would share files with a finished run of its workload."""
    for run, spec in plan.runs.items():
        if isinstance(spec, CommandSpec) and not (results / "runs" / run / "run.json").exists():
            refuse_shared(spec, results, allowed=allowing(plan.study))


def has_scripts(plan: Plan) -> bool:
    """Return whether the study has a workload with a script of the user's own."""
    return any(isinstance(spec, CommandSpec) for spec in plan.runs.values())
