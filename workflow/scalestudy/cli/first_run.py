"""Prints what a study would execute before it first does so: another person's study is a program."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path

from scalestudy.record.files import write_text
from scalestudy.record.say import say
from scalestudy.study.plan import Plan
from scalestudy.study.spec import CommandSpec

SHOWN = "shown.sha256"
"""File in a results folder with the checksum of the lines that were printed last."""
MOST_LINES = 12


def say_what_runs(plan: Plan, results: Path, *, remember: bool) -> None:
    """Print the commands and variables of a study to stderr, unless they were printed last time.

    A study without a `command` and without variables runs only scalestudy's own training, and nothing is printed.
    remember: whether the study is run now, so that the lines need not be printed again.
    """
    lines = what_runs(plan)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    kept = results / SHOWN
    if not lines or (kept.is_file() and kept.read_text(encoding="utf-8", errors="replace").strip() == digest):
        return
    say(f"{plan.study.name} runs this with your permissions (shown once, and again after a change):")
    for line in lines[:MOST_LINES]:
        say(f"  {line}")
    if len(lines) > MOST_LINES:
        say(f"  and {len(lines) - MOST_LINES} more; see the study file")
    if remember:
        write_text(kept, f"{digest}\n")


def what_runs(plan: Plan) -> list[str]:
    """Return the commands with their folders and the environment variables of ranks, each once."""
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
