"""The runs of a study: what is planned, run by Snakemake, and run again."""

import os
import shlex
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import click

from scalestudy.cli import options
from scalestudy.cli.command import LazyChoice, Several
from scalestudy.cli.naming import CONFIG, find_results, find_study, home, is_checkout, results_of, study_files
from scalestudy.errors import UserError
from scalestudy.project import root

ELSEWHERE = ("--executor", "-e", "--profile")
CHANGES = ("--config", "-C", "--configfile", "--configfiles")
FAILED = ("failed", "timeout", "preempted")


@options.verb(short_help="print the runs of a study and what they may cost")
@options.study
@options.results
def plan(study: tuple[Path, ...], results: Path | None) -> int:
    """Print what a study is going to run and what that may cost, before anything runs."""
    from scalestudy.cli.cost import plan_lines
    from scalestudy.cli.outlook import outlook_lines
    from scalestudy.record.finished import finished_lines
    from scalestudy.study.plan import make_plan

    plan = make_plan(find_study(study, results))
    folder = results or results_of(plan.study)
    print("\n".join([*plan_lines(plan), *finished_lines(folder, plan.runs), *outlook_lines(plan, folder)]))
    return 0


@options.verb(short_help="run a study from training to report", context_settings={"ignore_unknown_options": True})
@options.study
@options.results
@click.option("--profile", metavar="NAME", help="Snakemake profile, such as slurm.")
@click.option("-n", "--dry-run", is_flag=True, help="Only list what would run.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[SNAKEMAKE ARGUMENTS]...")
def run(
    study: tuple[Path, ...], results: Path | None, profile: str | None, dry_run: bool, arguments: tuple[str, ...]
) -> int:
    """Run a study with Snakemake, after printing what it may cost; what is finished is not repeated.

    Inside a checkout of the workflow, its rules are used and results are written to its results folder. Anywhere
    else, the rules of the installed package are used, and results are written to results/ here. Further arguments
    are Snakemake's own.
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
    words = {word.partition("=")[0] for word in arguments}
    if words.isdisjoint(CHANGES):
        planned = make_plan(asked)
        print("\n".join(cost_lines(planned)), flush=True)
        if not dry_run and not profile and words.isdisjoint(ELSEWHERE):
            _refuse_without_torch(results_of(asked), planned.runs)
    line = snakemake_line(files, home(), profile)
    line += ["--dry-run"] * dry_run + ["--nocolor"] * bool(os.environ.get("NO_COLOR")) + [*arguments]
    os.chdir(home())
    os.execv(sys.executable, line)


def _refuse_without_torch(results: Path, runs: Iterable[str]) -> None:
    """Raise UserError where runs would be measured on this host and PyTorch is not installed.

    In a job and on hosts of a list, profiles/site.sh may load it.
    """
    from scalestudy.launch.nodes.hosts import HOSTS
    from scalestudy.launch.slurm.job import job_id

    if find_spec("torch") is not None or job_id(os.environ) or os.environ.get(HOSTS):
        return
    if not all((results / "runs" / run / "run.json").exists() for run in runs):
        raise UserError(
            "PyTorch is missing. Install the build that fits this machine (pytorch.org lists them), such as:"
            f" {shlex.quote(sys.executable)} -m pip install torch"
        )


def snakemake_line(files: tuple[Path, ...], place: Path, profile: str | None) -> list[str]:
    """The command that runs a study of these files in a place: a checkout, or any other folder."""
    line = [sys.executable, "-m", "snakemake"]
    if not is_checkout(place):
        line += ["--snakefile", str(root() / "workflow/Snakefile")]
        line += ["--workflow-profile", str(_profile("default", place))]
    if files != (place / CONFIG,):  # which the workflow takes by itself
        line += ["--configfile", *(os.path.relpath(file, place) for file in files)]
    if profile:
        line += ["--profile", str(_profile(profile, place) or profile)]
    return line


def _profile(name: str, place: Path) -> Path | None:
    """The folder of a profile: that in profiles/ of this place, else that of the package; None: there is none."""
    folders = (place / "profiles" / name, root() / "profiles" / name)
    return next((folder.resolve() for folder in folders if folder.is_dir()), None)


@options.verb(short_help="set runs aside, so that the next run of the study measures them again")
@click.argument("folder", required=False, type=options.PATH)
@options.study
@options.results
@click.option(
    "--outcome",
    cls=Several,
    type=LazyChoice("scalestudy.record.observation:Outcome"),
    metavar="WORD...",
    help=f"Outcomes to repeat. Default: {' '.join(FAILED)}; with --protocol: all.",
)
@click.option("--protocol", is_flag=True, help="Repeat runs of measurement protocols older than the current one.")
def retry(
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
    if chosen:
        print(f"{len(chosen)} of {len(directories)} runs set aside; `scalestudy run` measures them again")
    else:
        why = f"is of a protocol before {CURRENT}" if protocol else f"ended as {' or '.join(outcomes)}"
        print(f"nothing set aside: of {len(directories)} runs none {why}")
    return 0
