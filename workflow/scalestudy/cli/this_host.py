"""What this host needs before runs start on it: PyTorch, and cores for every scale."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from scalestudy.errors import UserError

if TYPE_CHECKING:
    from scalestudy.study.plan import Plan

ELSEWHERE = ("--executor", "-e")
"""Options of Snakemake with which runs start on other hosts."""
CORES = ("--cores", "-c", "--jobs", "-j")
"""Options that say how many cores Snakemake may use."""


def is_here(arguments: Iterable[str], profile: str | None) -> bool:
    """Return whether Snakemake starts the runs on this host, outside a job and without a list of hosts.

    In a job and on listed hosts, profiles/site.sh may load PyTorch, and other hosts have other cores.
    """
    from scalestudy.launch.nodes.hosts import HOSTS
    from scalestudy.launch.slurm.job import job_id

    words = {word.partition("=")[0] for word in arguments}
    given = profile or "SNAKEMAKE_PROFILE" in os.environ or not words.isdisjoint(ELSEWHERE)
    return not (given or job_id(os.environ) or os.environ.get(HOSTS))


def cores_here(arguments: Iterable[str]) -> int | None:
    """Return the cores of this host that Snakemake may use by default; None if the arguments give a number."""
    from scalestudy.chain.launches import usable_cores

    return None if any(word.startswith(CORES) for word in arguments) else usable_cores()


def refuse_read_only(folder: Path) -> None:
    """Raise UserError if Snakemake cannot write its state into this folder."""
    if not os.access(folder, os.W_OK):
        raise UserError(
            f"{folder.resolve()}: this folder is read-only, and a study writes results/ and .snakemake/ here; run"
            " the command in a folder of your own"
        )


def provide_cache(folder: Path) -> None:
    """Let Snakemake cache its sources below this folder if the user's cache cannot be written.

    In a container the user may have no home.
    """
    from platformdirs import user_cache_path

    try:
        place = user_cache_path("snakemake", "snakemake")
        place.mkdir(parents=True, exist_ok=True)
        if os.access(place, os.W_OK):
            return
    except (OSError, RuntimeError):
        pass
    os.environ["XDG_CACHE_HOME"] = str((folder / ".snakemake/cache").absolute())


def refuse_unsuitable(plan: Plan, results: Path, arguments: Iterable[str], profile: str | None) -> None:
    """Raise UserError if runs of the plan would be measured on this host and cannot be."""
    from scalestudy.chain.launches import refuse_what_does_not_fit
    from scalestudy.launch.foreign.start import PYTHON

    arguments = tuple(arguments)
    measured = all((results / "runs" / run / "run.json").exists() for run in plan.runs)
    if measured or not is_here(arguments, profile):
        return
    if not os.environ.get(PYTHON):  # a script may have its own Python
        _refuse_without_torch()
    refuse_what_does_not_fit(plan, cores=cores_here(arguments), gpus=None)


def _refuse_without_torch() -> None:
    """Raise UserError if PyTorch is not installed."""
    if find_spec("torch") is None:
        raise UserError(
            "PyTorch is missing. Install the build for this machine (see pytorch.org), for example:"
            f" {shlex.quote(sys.executable)} -m pip install torch"
        )
