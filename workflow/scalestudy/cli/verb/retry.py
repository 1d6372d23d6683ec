"""`scalestudy retry`: runs set aside, to be measured again: those that failed, or of an older protocol."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from scalestudy.cli import options
from scalestudy.cli.command import LazyChoice, Several
from scalestudy.cli.naming import find_results
from scalestudy.errors import UserError

FAILED = ("failed", "timeout", "preempted")


@options.verb(short_help="set runs aside, so that the next run of the study measures them again")
@click.argument("folder", required=False, type=options.PATH)
@options.study
@options.results
@click.option(
    "--outcome",
    cls=Several,
    type=LazyChoice("scalestudy.record.observation", "Outcome"),
    metavar="WORD...",
    help=f"Outcomes to repeat. Default: {' '.join(FAILED)}; with --protocol: all.",
)
@click.option("--protocol", is_flag=True, help="Repeat runs of measurement protocols older than the current one.")
def command(
    folder: Path | None, study: tuple[Path, ...], results: Path | None, outcome: tuple[str, ...], protocol: bool
) -> int:
    """Set runs aside so that the next `scalestudy run` measures them again; nothing is deleted.

    FOLDER is the results folder of the study, as with --results.
    """
    from scalestudy.launch.run import set_aside
    from scalestudy.record.observation import Outcome, read_record
    from scalestudy.record.protocol import CURRENT

    if folder and results:
        raise UserError(f"{folder} and --results {results}: name one results folder")
    place = folder or results or find_results(study, None)
    directories = sorted(path.parent for path in place.glob("runs/*/run.json"))
    if not directories:
        raise UserError(f"{place}: has no runs; name the results of a study, such as results/STUDY")
    outcomes = outcome or (get_args(Outcome) if protocol else FAILED)
    newest = CURRENT - 1 if protocol else CURRENT
    records = {path: read_record(path) for path in directories}
    chosen = [path for path, of in records.items() if of.outcome in outcomes and of.protocol <= newest]
    for directory in chosen:
        print(f"{directory.name} -> {set_aside(directory, place)}")
    print(f"{len(chosen)} of {len(directories)} runs set aside; `scalestudy run` measures them again")
    return 0
