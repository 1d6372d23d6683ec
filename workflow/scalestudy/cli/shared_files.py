"""What `scalestudy run` says of runs that would share files: before Snakemake starts, and after it has ended."""

from __future__ import annotations

from pathlib import Path

from scalestudy.errors import UserError
from scalestudy.launch.foreign.shared import allowing, refuse_shared
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


def refuse_needless_option(plan: Plan) -> None:
    """Raise UserError where --allow-shared has nothing to allow."""
    if not has_scripts(plan):
        raise UserError("--allow-shared: is for workloads with a `command`, and this study has none")
