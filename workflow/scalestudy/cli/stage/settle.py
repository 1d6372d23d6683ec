"""`scalestudy stage settle`: runs that were cut off together with their SLURM job."""

from __future__ import annotations

from pathlib import Path

from scalestudy.cli import options
from scalestudy.cli.naming import find_results


@options.verb(short_help="record runs that were cut off with their SLURM job")
@options.study
@options.results
def command(study: tuple[Path, ...], results: Path | None) -> int:
    """Record runs that ended with their SLURM job and could not record it themselves."""
    from scalestudy.launch.slurm.settle import settle

    for line in settle(results or find_results(study, None)):  # a workflow may end before it makes its folder
        print(line)
    return 0
