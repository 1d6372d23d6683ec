"""`scalestudy tune`: the best settings of a workload at one scale, under a budget of device time."""

import os
import sys
from pathlib import Path
from typing import Any

import click

from scalestudy.cli import options
from scalestudy.cli.command import Several
from scalestudy.cli.naming import find_study


@options.verb(short_help="search the settings of a workload for the best goodput or epoch time")
@click.argument("file", required=False, type=options.PATH, metavar="[STUDY.yaml]")
@options.study
@options.results
@click.option("--workload", metavar="NAME", help="Workload of the study. Needed where it has several.")
@click.option(
    "--variant", metavar="NAME", help="Variant that is tuned. Default: the first that runs at the scale."
)
@click.option("--scale", metavar="NODESxDEVICES", help="Default: the first scale of the study.")
@click.option("--scaling", type=click.Choice(["strong", "weak"]), help="Default: the workload's first one.")
@click.option("--goal", type=click.Choice(["goodput", "epoch_time"]), default="goodput", help="What is the best.")
@click.option(
    "--budget", type=click.FloatRange(min=0, min_open=True), required=True, metavar="HOURS", help="Device-hours."
)
@click.option(
    "--try",
    "levels",
    cls=Several,
    more=lambda word: "=" in word,
    metavar="KEY=VALUES...",
    help="Values to try of keys of the variant, or of batch_size: ddp.bucket_cap_mb=5,25 precision=fp32,bf16.",
)
@click.option("--hold", cls=Several, metavar="KEY...", help="Keys that stay as they are.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, help="Of the order of launches, and of the sampler."
)
@click.option(
    "--sampler",
    type=click.Choice(["model", "tpe", "gp", "random"]),
    default="model",
    help="Optuna sampler that chooses what is launched next; model: ours, with the step-time models as prior.",
)
@click.option("-n", "--dry-run", is_flag=True, help="Only print the space and what the search may cost.")
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

    Batch, micro-batches, precision, loader workers, bucket size and sharding are searched, as far as the workload
    takes them. Short launches choose; the last three settings and the present one are trained whole, in common
    blocks. Every launch is a run and recorded as one: a search that was cut off goes on with the same command.
    The answer is a study file. A setting that changes the training is no answer where its accuracy is measured and
    not shown to be kept within the study's margin. Where it is not measured the answer says so.
    """
    from scalestudy.chain.launches import allowing
    from scalestudy.cli.tuning import Tuning
    from scalestudy.launch.foreign.shared import ALLOWED
    from scalestudy.launch.process import Interrupted
    from scalestudy.prepare.prepare import prepare
    from scalestudy.tune.sampler import need_optuna
    from scalestudy.tune.space import parse_levels
    from scalestudy.tune.target import Target

    content = find_study((*((file,) if file else ()), *study), results)
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
        print("interrupted; the launches that ended are kept, and the same command goes on", file=sys.stderr)
        return 128 + stop.signum
    print("\n".join(["", *lines]))
    return 0 if found.answer is not None else 1
