"""Advice that is tried."""

import os
import subprocess
import sys
from pathlib import Path

import click

from scalestudy.cli import options
from scalestudy.cli.naming import find_results, home
from scalestudy.cli.verb.run import snakemake_line


@options.verb(short_help="try the advice of a study: before beside after, in launches of their own")
@options.study
@options.results
@click.option("--profile", metavar="NAME", help="Snakemake profile, such as slurm.")
@click.option("--most", type=click.IntRange(min=0), default=3, help="Pieces of advice that are tried, at most.")
@click.option("--budget", type=click.FloatRange(min=0), metavar="HOURS", help="Device-hours, at most.")
@click.option("-n", "--dry-run", is_flag=True, help="Only choose the trials and print what they may cost.")
def verify(
    study: tuple[Path, ...],
    results: Path | None,
    profile: str | None,
    most: int,
    budget: float | None,
    dry_run: bool,
) -> int:
    """Try the first advice for each point of a study, and say whether it brought what was predicted.

    Each piece of advice becomes a study of its own in results/STUDY/verification/, which runs the point before and
    after it in the same repeats, with other seeds. No measurement that led to the advice is in its score. A file
    that is there is kept, so that it can be read, edited and kept under version control; what is finished is not
    run again. Remove the folder to choose anew.
    """
    from scalestudy.cli.trials import chosen_trials, priced_trials, scored, study_file, summary_of, within
    from scalestudy.verify.words import verification_lines

    folder = find_results(study, results, having="findings").absolute()
    os.chdir(home())
    chosen = chosen_trials(folder)
    prices = priced_trials(folder, chosen)
    names, beyond = within(chosen, prices, most=most, budget=budget)
    for name in names:
        price = prices[name]
        print(
            f"{os.path.relpath(study_file(folder, name))}: {price.launches} launches at the most,"
            f" about {price.least_hours:.2g} to {price.most_hours:.2g} device-hours",
            flush=True,
        )
    if dry_run:
        return 0
    for name in names:
        line = snakemake_line((study_file(folder, name),), Path(), profile)
        line += ["--quiet", "rules", "host", "reason", "--", str(summary_of(name))]
        if status := subprocess.run(line).returncode:
            print(f"Snakemake ended with {status}; results/{name}/logs has the log of each step", file=sys.stderr)
            return status
    print("\n".join(verification_lines(scored(folder, chosen, beyond))))
    return 0
