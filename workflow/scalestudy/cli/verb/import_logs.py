"""`scalestudy import`: logs of other training tools as a study."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from scalestudy.cli import options
from scalestudy.cli.command import LazyChoice, Several
from scalestudy.importers.logs.declared import DECLARED


def _each(flag: str, value: str, text: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """An option that may be given for all files or for some."""
    return click.option(flag, cls=Several, more=_is_of_a_file, metavar=f"[FILE=]{value}", help=text)


def _is_of_a_file(word: str) -> bool:
    """Whether a further word of an option is `FILE=VALUE`, and not a file to import."""
    return "=" in word and not Path(word).exists()


_FORMATS = "\n".join(f"  {name:16} {what}" for name, what in DECLARED.items())


@options.verb(
    short_help="Import logs of other training tools as a study.",
    epilog=f"\b\nFormats, which are recognised by content:\n{_FORMATS}",
)
@click.argument("files", nargs=-1, required=True, type=options.PATH)
@click.option("--study", "name", metavar="NAME", required=True, help="Name of the study.")
@click.option(
    "--workload",
    metavar="NAME",
    default="",
    help="Name of what was trained. `scalestudy compare` compares studies in which it is the same. Default: the"
    " name of the study.",
)
@_each("--gpus", "N", "Devices of the run, if its log does not say.")
@_each("--nodes", "N", "Nodes of the run. Default: what its log says, or 1.")
@_each("--batch", "N", "Work of a step on all devices, in the unit of the throughput.")
@_each("--batch-per-gpu", "N", "The same on each device, in all micro-batches of a step or with --accumulation.")
@_each("--samples", "N", "Work of the whole training or epoch that a table prints the time of.")
@_each("--sequence-length", "N", "Tokens of a sample.")
@_each("--accumulation", "N", "Micro-batches of a step. Default: what its log says, or 1.")
@_each("--variant", "NAME", "Name of what was run: ddp, fsdp, or any other.")
@_each("--per", "WORD", "Whether a throughput is that of a `device` or of `all`.")
@_each("--rate", "WORD", "What a throughput without a unit counts: samples, tokens or steps.")
@_each("--time", "UNIT", "Unit of a step time without one: s, ms or us.")
@click.option("--scaling", type=click.Choice(["strong", "weak"]), help="Kind of scaling. Default: by the batches.")
@click.option(
    "--format",
    "form",
    type=LazyChoice("scalestudy.importers.logs.declared:DECLARED"),
    metavar="NAME",
    help="Format of all files. Default: recognised by content.",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="HEADER=KIND",
    help="What a column of a scaling table is, as for `scalestudy audit`.",
)
@click.option("--line", type=click.IntRange(min=1), help="Only the scaling table whose header is at this line.")
@click.option("--documents/--no-documents", default=True, help="Write figures, tables and reports as well.")
@options.path("--results", metavar="FOLDER", help="Results folder. Default: results/NAME.")
def import_logs(
    files: tuple[Path, ...],
    name: str,
    workload: str,
    scaling: str | None,
    form: str | None,
    columns: tuple[str, ...],
    line: int | None,
    documents: bool,
    results: Path | None,
    **said: tuple[str, ...],
) -> int:
    """Import logs of other training tools as a study, with the documents of any other study.

    FILE is a log of one of the formats below. A log is one run. Runs with the same devices and batch are repeats.
    A table with a row for each number of devices, as papers and READMEs print it, has one run per row.

    Options with [FILE=] take several words, such as --gpus a.log=1 b.log=8. FILE is a name or a pattern, such as
    '*-n8.log'. Without it, a value is for all files.
    """
    from scalestudy.cli.audit_columns import columns_of
    from scalestudy.cli.naming import home
    from scalestudy.cli.results.imported import import_files
    from scalestudy.importers.columns.meanings import Corrections
    from scalestudy.importers.logs.given import given_for

    given = given_for(files, {flag.replace("_", "-"): words for flag, words in said.items()})
    folder = results or home() / "results" / name
    corrected = Corrections(columns_of(columns, None), line)
    wishes: Any = {"scaling": scaling, "form": form, "documents": documents, "workload": workload}
    import_files(given, name, folder, corrected=corrected, **wishes)
    return 0
