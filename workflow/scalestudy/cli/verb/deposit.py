"""The verbs `export`, `deposit` and `report`: a study for others, and its documents rebuilt."""

from __future__ import annotations

from pathlib import Path

import click

from scalestudy.cli import options
from scalestudy.cli.options import of_results

FORMATS = ("csv", "parquet", "datapackage", "mlflow", "tensorboard")


@of_results("Export a study: typed tables, descriptions of its files, logs for trackers.", "runs")
@click.option("--format", "form", type=click.Choice(FORMATS), required=True, help="What to write.")
@click.option(
    "--to",
    metavar="FOLDER",
    help="Folder to write; for mlflow also the address of a server. Default: STUDY-FORMAT.",
)
def export(results: Path, to: str | None, form: str) -> int:
    """Export a study for other programs.

    csv and parquet: a table of runs and one of points, with types, units and a datapackage.json. datapackage:
    descriptions of the results folder itself, as a Frictionless data package and as Croissant. mlflow and
    tensorboard: the steps of every run, for those who compare runs there.
    """
    from scalestudy.cli.results.exported import export

    export(results, to, form)
    return 0


@of_results("Write one archive of a study, for others to read and rebuild.")
@options.path("--to", "target", metavar="FILE", help="Archive to write. Default: STUDY.zip.")
@click.option("--licence", metavar="ID", required=True, help="Licence of the results, such as CC-BY-4.0 (SPDX).")
@click.option(
    "--creator",
    "creators",
    metavar="NAME",
    multiple=True,
    required=True,
    help="Author: 'Family, Given; affiliation; ORCID'. The last two may be missing. May be repeated.",
)
@click.option("--title", metavar="TEXT", default="", help="Title of the deposit. Default: made from the study.")
@click.option(
    "--script",
    "scripts",
    type=options.PATH,
    metavar="FILE",
    multiple=True,
    help="A training script to publish too. May be repeated. Default: none.",
)
def deposit(
    results: Path,
    target: Path | None,
    licence: str,
    creators: tuple[str, ...],
    title: str,
    scripts: tuple[Path, ...],
) -> int:
    """Write one archive with the runs, tables and documents of a study, for a repository such as Zenodo.

    The documents are rebuilt, so that `scalestudy report` can rebuild the same ones from the archive. Nothing is
    uploaded.
    """
    from scalestudy.cli.results.deposited import deposit
    from scalestudy.deposit.model import creator, spdx

    deposit(results, target, spdx(licence), tuple(creator(text) for text in creators), title, scripts)
    return 0


@options.verb(short_help="Rebuild the documents of an archive, and compare them.")
@click.argument("archive", type=options.PATH)
@options.path("--to", "folder", metavar="FOLDER", help="Folder to create. Default: ARCHIVE-rebuilt.")
def report(archive: Path, folder: Path | None) -> int:
    """Rebuild every document of an archive of `scalestudy deposit` from its runs.

    ARCHIVE may come from anyone. Its checksums are verified first, and nothing in it is executed. The exit status
    is 0 if all documents are equal byte for byte, and 1 if one differs; then it is shown whether numbers differ.
    """
    from scalestudy.cli.results.deposited import rebuild

    return rebuild(archive, folder)
