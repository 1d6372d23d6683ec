"""The lines of `scalestudy plan` on jobs that no node of their SLURM partition can run."""

from pathlib import Path
from typing import Any

import yaml

from scalestudy.chain.launches import request, rule_of
from scalestudy.chain.slurm.advice import PROFILE
from scalestudy.chain.slurm.partitions import Asked, in_partitions, read_partitions
from scalestudy.study.allocations import Allocation, make_allocations
from scalestudy.study.plan import Plan


def partition_lines(plan: Plan, place: Path) -> list[str]:
    """Return a line per reason; empty if SLURM is absent or does not answer. place: folder with the profile."""
    partitions = read_partitions()
    if not partitions:
        return []
    profile = _profile(place / PROFILE)
    found: dict[str, list[str]] = {}
    for job in make_allocations(plan):
        asked, names = _asked(plan, job, profile)
        for why in in_partitions(asked, names, partitions):
            found.setdefault(why, []).append(job.name)
    return [f"SLURM cannot run {_listed(jobs)}: {why}" for why, jobs in found.items()]


def _listed(jobs: list[str]) -> str:
    """Return 'n1g2-1', or the first of several jobs and the number of the others."""
    return jobs[0] if len(jobs) == 1 else f"{jobs[0]} and {len(jobs) - 1} more"


def _asked(plan: Plan, job: Allocation, profile: dict[str, Any]) -> tuple[Asked, str]:
    """Return (what a job requests, the name of its partition), from the study and the profile."""
    wanted = request(plan.runs[job.runs[0]], job)
    rules = {rule_of(plan, run) for run in job.runs}
    changed: dict[str, Any] = {}
    for rule in sorted(rules):
        changed |= _words((profile.get("set-resources") or {}).get(rule))
    default = _words(profile.get("default-resources"))
    asked = Asked(
        nodes=int(wanted["nodes"]),
        cpus=int(wanted["cores"]),
        memory_mb=_number(changed.get("mem_mb"), int(wanted["memory_mb"])),
        gpus=int(wanted["devices"]),
        minutes=_number(changed.get("runtime"), job.limit_min),
    )
    return asked, str(changed.get("slurm_partition") or default.get("slurm_partition") or "")


def _profile(path: Path) -> dict[str, Any]:
    """Return the profile; empty if it cannot be read, which Snakemake reports."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return {}
    return content if isinstance(content, dict) else {}


def _words(given: Any) -> dict[str, Any]:
    """Return resources by name, from a mapping or from a list such as ['slurm_partition=gpu']."""
    if isinstance(given, dict):
        return given
    pairs = [str(word).partition("=") for word in given] if isinstance(given, list) else []
    return {name: value for name, _, value in pairs}


def _number(value: Any, otherwise: int) -> int:
    """Return a number of the profile, or `otherwise` if it is missing or an expression for Snakemake."""
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise
