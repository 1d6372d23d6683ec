"""What `scalestudy run` says of runs that would share files: before Snakemake starts, and after it has ended."""

from __future__ import annotations

from pathlib import Path

from scalestudy.chain.launches import allowing
from scalestudy.launch.foreign.shared import refuse_shared
from scalestudy.study.plan import Plan
from scalestudy.study.spec import CommandSpec


def refuse_shared_files(plan: Plan, results: Path) -> None:
    """Raise UserError where a run that is left to do would share files with a finished one of its workload."""
    for run, spec in plan.runs.items():
        if isinstance(spec, CommandSpec) and not (results / "runs" / run / "run.json").exists():
            refuse_shared(spec, results, allowed=allowing(plan.study))


def has_scripts(plan: Plan) -> bool:
    """Whether a workload of the study is somebody's own script."""
    return any(isinstance(spec, CommandSpec) for spec in plan.runs.values())
