"""What a study would run, said before the first time that it does: a study of somebody else is a program."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path

from scalestudy.record.files import write_text
from scalestudy.record.say import say
from scalestudy.study.plan import Plan
from scalestudy.study.spec import CommandSpec

SHOWN = "shown.sha256"
"""In a results folder: the checksum of what was said last."""
MOST_LINES = 12


def say_what_runs(plan: Plan, results: Path, *, remember: bool) -> None:
    """Print the commands and variables of a study to stderr, unless they are those that were printed last.

    A study without a `command` and without variables runs our own training alone, and nothing is said.
    remember: whether this is the run that they are printed for.
    """
    lines = what_runs(plan)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    kept = results / SHOWN
    if not lines or (kept.is_file() and kept.read_text(encoding="utf-8", errors="replace").strip() == digest):
        return
    say(f"{plan.study.name} runs this with your rights; said once, and again when it changes:")
    for line in lines[:MOST_LINES]:
        say(f"  {line}")
    if len(lines) > MOST_LINES:
        say(f"  and {len(lines) - MOST_LINES} more; the study file has all")
    if remember:
        write_text(kept, f"{digest}\n")


def what_runs(plan: Plan) -> list[str]:
    """Commands with their folder, and variables that ranks are given, each once."""
    lines: dict[str, None] = {}
    for name, workload in plan.study.workloads.items():
        if command := getattr(workload, "command", None):
            folder = next(
                s.directory for s in plan.runs.values() if isinstance(s, CommandSpec) and s.workload == name
            )
            lines[f"{shlex.join(command)}  (workload {name}, in {folder})"] = None
    given = [spec.host.environment for spec in plan.runs.values()]
    given += [spec.environment for spec in plan.runs.values() if isinstance(spec, CommandSpec)]
    for variables in given:
        lines |= {f"{variable}={shlex.quote(value)}": None for variable, value in variables.items()}
    return list(lines)
