"""`scalestudy retry`: failed runs set aside, to be measured again."""

from __future__ import annotations

from pathlib import Path

import click

from scalestudy.cli import options
from scalestudy.cli.command import LazyChoice, Several
from scalestudy.cli.naming import find_results
from scalestudy.errors import UserError


@options.verb(short_help="set failed runs aside, so that the next run of the study measures them again")
@click.argument("folder", required=False, type=options.PATH)
@options.study
@options.results
@click.option(
    "--outcome",
    cls=Several,
    type=LazyChoice("scalestudy.record.observation", "Outcome"),
    metavar="WORD...",
    default=("failed", "timeout", "preempted"),
    help="Outcomes to repeat.",
)
def command(folder: Path | None, study: tuple[Path, ...], results: Path | None, outcome: tuple[str, ...]) -> int:
    """Set runs aside so that the next `scalestudy run` measures them again; nothing is deleted.

    FOLDER is the results folder of the study, as with --results.
    """
    from scalestudy.launch.run import set_aside
    from scalestudy.record.observation import read_record

    if folder and results:
        raise UserError(f"{folder} and --results {results}: name one results folder")
    place = folder or results or find_results(study, None)
    directories = sorted(path.parent for path in place.glob("runs/*/run.json"))
    if not directories:
        raise UserError(f"{place}: has no runs; name the results of a study, such as results/STUDY")
    chosen = [path for path in directories if read_record(path).outcome in outcome]
    for directory in chosen:
        print(f"{directory.name} -> {set_aside(directory, place)}")
    print(f"{len(chosen)} of {len(directories)} runs set aside; `scalestudy run` measures them again")
    return 0
