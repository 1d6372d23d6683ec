"""`scalestudy run`: the whole study, by Snakemake."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

import scalestudy
from scalestudy.cli import options
from scalestudy.cli.naming import CONFIG, find_study, home, results_of, study_files
from scalestudy.errors import UserError

OURS = Path(scalestudy.__file__).resolve().parents[2]
"""The checkout that this package belongs to, with the workflow's rules and profiles."""
CHANGES = ("--config", "-C", "--configfile", "--configfiles")


@options.verb(short_help="run a study from training to report", context_settings={"ignore_unknown_options": True})
@options.study
@options.results
@click.option("--profile", metavar="NAME", help="Snakemake profile, such as slurm.")
@click.option("-n", "--dry-run", is_flag=True, help="Only list what would run.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[SNAKEMAKE ARGUMENTS]...")
def command(
    study: tuple[Path, ...], results: Path | None, profile: str | None, dry_run: bool, arguments: tuple[str, ...]
) -> int:
    """Run a study with Snakemake, after printing what it may cost; what is finished is not repeated.

    Inside a checkout of the workflow, its rules are used and results are written to its results folder. Anywhere
    else, the rules beside the installed package are used, and results are written to results/ here. Further
    arguments are Snakemake's own.
    """
    from scalestudy.chain.config import keep_config
    from scalestudy.cli.cost import cost_lines
    from scalestudy.study.plan import make_plan

    asked = find_study(study, results)
    files = study_files(study, results)
    if not files:  # named by its results
        if results and results.resolve() != results_of(asked).resolve():
            raise UserError(f"--results {results}: study {asked.name} runs in {results_of(asked)}; give --study")
        files = (keep_config(asked, results_of(asked)),)
    if not any(word.partition("=")[0] in CHANGES for word in arguments):
        print("\n".join(cost_lines(make_plan(asked))), flush=True)
    line = snakemake_line(files, home(), profile)
    line += ["--dry-run"] * dry_run + ["--nocolor"] * bool(os.environ.get("NO_COLOR")) + [*arguments]
    os.chdir(home())
    os.execv(sys.executable, line)


def snakemake_line(files: tuple[Path, ...], place: Path, profile: str | None) -> list[str]:
    """The command that runs a study of these files in a place: a checkout, or any other folder."""
    inside = (place / "workflow/Snakefile").is_file()
    checkout = place if inside else OURS
    line = [sys.executable, "-m", "snakemake"]
    if not inside:
        line += ["--snakefile", f"{OURS}/workflow/Snakefile", "--workflow-profile", f"{OURS}/profiles/default"]
    if files != (place / CONFIG,):  # which the workflow takes by itself
        line += ["--configfile", *(os.path.relpath(file, place) for file in files)]
    if profile:
        ready = checkout / "profiles" / profile
        line += ["--profile", str(ready.resolve() if ready.is_dir() else profile)]
    return line
