"""`scalestudy verify`: tests the advice of a study in new runs."""

import os
import subprocess
import sys
from pathlib import Path

import click

from scalestudy.cli import options
from scalestudy.cli.naming import find_results, home
from scalestudy.cli.quantities import Number
from scalestudy.cli.this_host import provide_cache
from scalestudy.cli.verb.run import snakemake_line
from scalestudy.registry.results import DATA


@options.verb(short_help="Test the advice of a study in new runs, before against after.")
@options.study
@options.results
@options.data
@click.option("--profile", metavar="NAME", help="Snakemake profile, such as slurm.")
@click.option(
    "--most", type=click.IntRange(min=0), help="Largest number of trials. Default: verify.most of the study."
)
@click.option(
    "--budget",
    type=Number(min=0),
    metavar="HOURS",
    help="Largest number of device-hours. Default: verify.budget_device_hours of the study.",
)
@click.option(
    "-k", "--keep-going", is_flag=True, help="Exit with 0 even if advice could not be tried; it is listed."
)
@click.option("-n", "--dry-run", is_flag=True, help="Only choose the trials and print their largest cost.")
def verify(
    study: tuple[Path, ...],
    results: Path | None,
    data: Path,
    profile: str | None,
    most: int | None,
    budget: float | None,
    keep_going: bool,
    dry_run: bool,
) -> int:
    """Test the first advice for each point of a study, and report whether its effect was as predicted.

    Each piece of advice becomes a separate study in results/STUDY/verification/. It runs the point before and
    after the change in the same repeats, with other seeds. Its results are beside those of the study. Its score
    uses none of the measurements that led to the advice.

    Existing study files are kept, so that they can be read, edited and put under version control. Finished runs
    are not repeated. Remove the folder to choose the trials again. The next `snakemake` adds the outcomes to the
    documents.
    """
    from scalestudy.chain.callers import add_caller
    from scalestudy.cli.results.inputs import plan_of
    from scalestudy.cli.verify.trials import (
        Budget,
        chosen_trials,
        defect_lines,
        pathvars_of,
        priced_trials,
        refused_of,
        scored,
        study_file,
        summary_of,
    )
    from scalestudy.publish.views.verified import verification_lines

    folder = find_results(study, results, having="findings").absolute()
    data = data if data == DATA else data.absolute()
    os.chdir(home())
    of_study = plan_of(folder).study
    bounds = of_study.verify
    chosen = chosen_trials(folder)
    refused = refused_of(folder, chosen)
    status = 1 if refused else 0
    for said in defect_lines(refused):
        print(said, file=sys.stderr, flush=True)
    allowed = Budget(
        folder,
        most=bounds.most if most is None else most,
        hours=bounds.budget_device_hours if budget is None else budget,
    )
    prices = priced_trials(folder, chosen)
    names, not_run = allowed.within(prices)
    for name in names:
        file, price = os.path.relpath(study_file(folder, name)), prices[name]
        hours = f"{price.least_hours:.2g} to {price.most_hours:.2g} device-hours"
        cost = f"at most {price.launches} runs, about {hours}"
        print(f"{file}: {'finished' if summary_of(folder, name).exists() else cost}", flush=True)
    for name, why in not_run.items():
        print(f"{os.path.relpath(study_file(folder, name))}: not run, since {why}", flush=True)
    if not prices:
        print("no advice that a study can test")
    if dry_run:
        return 0 if keep_going else status
    add_caller()
    provide_cache(Path())
    for name in names:
        if why := allowed.spent_up(name, prices[name]):
            not_run[name] = why
            continue
        line = snakemake_line((study_file(folder, name),), Path(), profile)
        line += pathvars_of(folder, name, data)
        line += ["--quiet", "rules", "host", "reason", "--", os.path.relpath(summary_of(folder, name))]
        ended = subprocess.run(line, env=os.environ | allowed.environment(name)).returncode
        if ended and (why := allowed.why_unfinished(name)):
            not_run[name] = why
        elif ended:
            logs = os.path.relpath(summary_of(folder, name).parent / "logs")
            not_run[name] = f"Snakemake failed with exit status {ended}; see the logs in {logs}"
            print(not_run[name], file=sys.stderr)
            status = status or ended
    print("\n".join(verification_lines(scored(folder, chosen, not_run, refused), of_study)))
    return 0 if keep_going else status
