"""`scalestudy tune`: searches the best settings of a workload at one scale, within a budget of device time."""

import os
import sys
from pathlib import Path
from typing import Any

import click

from scalestudy.cli import options
from scalestudy.cli.command import Several
from scalestudy.cli.naming import find_results, find_study
from scalestudy.cli.quantities import Number, Scale


@options.verb(short_help="Search settings of a workload for best goodput or epoch time.")
@click.argument("file", required=False, type=options.PATH, metavar="[STUDY.yaml]")
@options.study
@options.results
@click.option("--workload", metavar="NAME", help="Workload to tune. Required if the study has several.")
@click.option("--variant", metavar="NAME", help="Variant to tune. Default: the first one that runs at the scale.")
@click.option(
    "--scale",
    type=Scale(),
    metavar="NODESxDEVICES",
    help="Scale to tune at. Default: the first scale of the study.",
)
@click.option(
    "--scaling", type=click.Choice(["strong", "weak"]), help="Scaling of the workload. Default: its first one."
)
@click.option("--goal", type=click.Choice(["goodput", "epoch_time"]), default="goodput", help="What to optimise.")
@click.option(
    "--budget",
    type=Number(min=0, min_open=True),
    required=True,
    metavar="HOURS",
    help="Device-hours that the search may take.",
)
@click.option(
    "--try",
    "levels",
    cls=Several,
    more=lambda word: "=" in word,
    metavar="KEY=VALUES...",
    help="Values to try for keys of the variant or for batch_size: ddp.bucket_cap_mb=5,25 precision=fp32,bf16.",
)
@click.option("--hold", cls=Several, metavar="KEY...", help="Keys to keep at their present value.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=1,
    help="Seed of the order of runs and of the sampler.",
)
@click.option(
    "--sampler",
    type=click.Choice(["model", "tpe", "gp", "random"]),
    default="model",
    help="Optuna sampler that chooses the next setting. model: our own, with the step-time models as prior.",
)
@click.option("-n", "--dry-run", is_flag=True, help="Only print the search space and the largest cost.")
@options.data
def tune(
    file: Path | None,
    study: tuple[Path, ...],
    results: Path | None,
    workload: str | None,
    variant: str | None,
    scale: str | None,
    scaling: str | None,
    levels: tuple[str, ...],
    dry_run: bool,
    **wishes: Any,
) -> int:
    """Search the settings of a workload at one scale for the best goodput or epoch time.

    The search covers batch, micro-batches, precision, loader workers, bucket size and sharding, as far as the
    workload supports them. Short runs narrow it down to three settings. These and the present setting are then
    trained in full, in common blocks. Every run is recorded, so that the same command continues an interrupted
    search. The answer is a study file.

    A setting that changes the training is not an answer if its accuracy is measured and not shown to be within the
    study's margin. If accuracy is not measured, the answer says so.
    """
    from scalestudy.chain.launches import allowing
    from scalestudy.cli.search.tuning import Tuning
    from scalestudy.launch.foreign.shared import ALLOWED
    from scalestudy.launch.process import Interrupted
    from scalestudy.prepare.prepare import prepare
    from scalestudy.study.plan import refuse_imported
    from scalestudy.tune.sampler import need_optuna
    from scalestudy.tune.space import parse_levels
    from scalestudy.tune.target import Target

    files = (*((file,) if file else ()), *study)
    content = find_study(files, results)
    if results:
        find_results(files, results)  # refuses a wrong folder
    refuse_imported(content)
    target = Target.of(content, workload, variant, scale, scaling)
    budget = wishes.pop("budget")
    tuning = Tuning(target, budget_device_hours=budget, levels=parse_levels(levels), results=results, **wishes)
    print("\n".join(tuning.opening()), flush=True)
    need_optuna()
    if dry_run:
        return 0
    os.environ[ALLOWED] = allowing(content)
    for dataset in content.data_in_files.values():
        prepare(dataset, wishes["data"])
    try:
        found, lines = tuning.run()
    except Interrupted as stop:
        print("interrupted; finished runs are kept, and the same command continues", file=sys.stderr)
        return 128 + stop.signum
    print("\n".join(["", *lines]))
    return 0 if found.answer is not None else 1
