"""A job at its submission: what it requests, its name, and the lines for its logs if it fails."""

import contextlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scalestudy.chain.slurm.partitions import Asked, gpus_in
from scalestudy.launch.slurm.ask import ask, words

REFUSED = re.compile(r"The error message was '(.*?)'\.\n", re.DOTALL)
"""SLURM's message within the plug-in's message about a failed sbatch."""
OTHER_LIMITS = re.compile(r"(?:^|\s)(?:--(?:mem|time|part|node|cpus|clus|qos|res)|-[tpNcM])")
"""Options of `slurm_extra` that change the request or the place."""


def asked_by(job: Any) -> Asked:
    """What a job of Snakemake, or a group of jobs, requests from SLURM."""
    given = {name: _number(job.resources.get(name)) for name in ("nodes", "mem_mb", "runtime", "cpus_per_task")}
    return Asked(
        nodes=given["nodes"] or 1,
        cpus=given["cpus_per_task"] or _number(job.threads),
        memory_mb=given["mem_mb"],
        gpus=gpus_in(str(job.resources.get("gres") or "")),
        minutes=given["runtime"],
    )


def partition_of(job: Any) -> str:
    """The partition that a job names; '' if it names no partition."""
    return str(job.resources.get("slurm_partition") or "")


def is_elsewhere(job: Any) -> bool:
    """Whether a job names another cluster, with other partitions."""
    return any(job.resources.get(name) for name in ("cluster", "clusters", "slurm_cluster"))


def is_sure(job: Any, settings: Any) -> bool:
    """Whether only the job's request and its partition determine if it can run.

    A quality of service, a reservation, or a plug-in of the site may allow or change more.
    """
    if any(job.resources.get(name) for name in ("qos", "reservation")) or settings.qos or settings.reservation:
        return False
    if OTHER_LIMITS.search(str(job.resources.get("slurm_extra") or "").strip("'\"")):
        return False
    done = ask("scontrol", "show", "config")
    return bool(re.search(r"^JobSubmitPlugins\s*=\s*(?:\(null\))?\s*$", done.stdout, re.MULTILINE))


def sbatch_words(message: str) -> str:
    """SLURM's own message in a message of the plug-in; the whole message if it contains none."""
    found = REFUSED.search(message)
    return words(found[1] if found else message)


def name_of(job: Any) -> str:
    """'n1g2-1 (3 runs)' for a group of runs; the name of the rule for another job."""
    if not job.is_group():
        return str(job.name)
    count = len(parts(job))
    return f"{job.groupid} ({count} run{'s' * (count > 1)})"


def parts(job: Any) -> list[Any]:
    """The jobs of a group; for another job, a list of the job alone."""
    return list(job.jobs) if job.is_group() else [job]


def is_done(job: Any) -> bool:
    """Whether all output files of a job exist."""
    return all(Path(path).exists() for part in parts(job) for path in part.output)


def note(job: Any, line: str) -> None:
    """Add a line to the logs of a job's unfinished parts. The logs of finished runs are not changed."""
    for part in parts(job):
        if not all(Path(path).exists() for path in part.output):
            _append([Path(path) for path in part.log][:1], line)


def _append(logs: Iterable[Path], line: str) -> None:
    for log in logs:
        with contextlib.suppress(OSError):  # the terminal has the line too
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("a", encoding="utf-8") as handle:
                handle.write(f"{line}\n")


def _number(value: Any) -> int:
    """A number of Snakemake; 0 for anything else, such as a value that is not known yet."""
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0
