"""Checks before a study starts that each script accepts the arguments of all of its command lines."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from scalestudy.errors import UserError

if TYPE_CHECKING:
    from scalestudy.study.plan import Plan
    from scalestudy.study.spec import CommandSpec

AT_ONCE = 4
"""Largest number of scripts that are tried at the same time."""


def check_arguments(plan: Plan, results: Path) -> Iterator[str]:
    """Yield lines on what was checked. Raises UserError if a script or its framework refuses an argument.

    A command line that has a recorded run is not tried again. A script that cannot start here is not an error.
    """
    asked = _command_lines(plan, results)
    if not asked:
        return
    from scalestudy.launch.foreign.arguments import try_arguments

    begin = time.monotonic()
    with ThreadPoolExecutor(min(AT_ONCE, len(os.sched_getaffinity(0)))) as pool:
        found = list(pool.map(try_arguments, asked.values()))
    refused = []
    for (key, spec), tried in zip(asked.items(), found, strict=True):
        arguments = plan.study.variants[spec.variant].arguments
        named = {word.lstrip("-").partition("=")[0].replace("-", "_") for word in arguments}
        of_variant = not named.isdisjoint(tried.words)
        name = f"variants.{spec.variant}.arguments" if of_variant else f"workloads.{spec.workload}.command"
        if tried.refused:
            refused.append(f"{name}: {tried.refused}")
        elif tried.unchecked:
            yield f"arguments of `{' '.join(key)}` were not checked here: {tried.unchecked}"
        else:
            yield f"arguments of `{' '.join(key)}` were accepted, up to {tried.reached}"
    if refused:
        raise UserError("\n".join(dict.fromkeys(refused)))
    yield f"{len(asked)} command line{'s' if len(asked) > 1 else ''} tried in {time.monotonic() - begin:.1f} s"


def _command_lines(plan: Plan, results: Path) -> dict[tuple[str, ...], CommandSpec]:
    """Return command line, as in the study -> its first run; without command lines that have a recorded run."""
    from scalestudy.study.config.commands import CommandWorkload
    from scalestudy.study.spec import CommandSpec

    found: dict[tuple[str, ...], CommandSpec] = {}
    recorded = set()
    for run, spec in plan.runs.items():
        workload = plan.study.workloads[spec.workload]
        if not isinstance(spec, CommandSpec) or not isinstance(workload, CommandWorkload):
            continue
        key = (*workload.command, *plan.study.variants[spec.variant].arguments)
        found.setdefault(key, spec)
        if (results / "runs" / run / "run.json").exists():
            recorded.add(key)
    return {key: spec for key, spec in found.items() if key not in recorded}
