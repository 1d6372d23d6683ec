"""`scalestudy find-batch`: finds the batch per rank that is enough, and the largest that fits."""

import sys
from pathlib import Path

import click

from scalestudy.cli import options
from scalestudy.cli.naming import find_study, results_of, study_files
from scalestudy.cli.quantities import Scale


@options.verb(short_help="Find the batch per rank that is enough and the largest possible.")
@options.study
@options.results
@click.option("--workload", required=True, metavar="NAME", help="Workload of the study.")
@click.option("--variant", required=True, metavar="NAME", help="Variant of the study.")
@click.option(
    "--scale",
    type=Scale(),
    metavar="NODESxDEVICES",
    help="Scale of the search. Default: 1x1 for a single process, else the first scale.",
)
@click.option(
    "--first", type=click.IntRange(min=1), help="First batch per rank to try. Default: a quarter of batch_size."
)
@click.option("--most", type=click.IntRange(min=1), help="Largest batch per rank to try. Default: all samples.")
@options.path("--write", metavar="FILE", help="Write the batch found to this file, as a second study file.")
@options.data
def find_batch(
    study: tuple[Path, ...],
    results: Path | None,
    workload: str,
    variant: str,
    scale: str | None,
    first: int | None,
    most: int | None,
    write: Path | None,
    data: Path,
) -> int:
    """Find the batch per rank that a variant needs for its full throughput, and the largest that fits in memory.

    The batch is doubled until memory runs out or throughput stops growing; then the interval is bisected. Every
    trial is a run and recorded as one. A trial that runs out of memory is a result, not a failure.
    """
    import os

    from scalestudy.chain.launches import allowing
    from scalestudy.cli.search.batch import Search, refuse_write
    from scalestudy.launch.foreign.shared import ALLOWED
    from scalestudy.launch.process import Interrupted
    from scalestudy.study.plan import refuse_imported

    content = find_study(study, results)
    refuse_imported(content)
    search = Search.of(content, workload, variant, scale, (results or results_of(content)) / "batch_search", data)
    if write:
        refuse_write(write, study_files(study, results), workload)
    os.environ[ALLOWED] = allowing(content)
    print(f"{workload}, {variant} at {search.scale}: one run per batch, so differences of a few % may be chance")
    try:
        found = search.run(first, most)
    except Interrupted as stop:
        print("interrupted; finished runs are kept", file=sys.stderr)
        return 128 + stop.signum
    search.report(found)
    if write and found.best:
        search.write(write, found.best)
        print(f"written: snakemake --configfile {' '.join(map(str, study_files(study, results)))} {write}")
    return 0 if found.best else 1
