"""The verbs `plan`, `run` and `retry`: plan a study, run it with Snakemake, and repeat runs."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import click

from scalestudy.cli import options
from scalestudy.cli.command import LazyChoice, Several, Verb
from scalestudy.cli.naming import CONFIG, find_results, find_study, home, is_checkout, results_of, study_files
from scalestudy.cli.quantities import Scale
from scalestudy.cli.this_host import cores_here, is_here, provide_cache, refuse_read_only, refuse_unsuitable
from scalestudy.cli.verb.results import SCREEN, summarise
from scalestudy.errors import UserError
from scalestudy.project import root

CHANGES = ("--config", "-C", "--configfile", "--configfiles")
FAILED = ("failed", "timeout", "preempted")


@options.verb(short_help="Show what a study would run and how long it takes at most.")
@options.study
@options.results
def plan(study: tuple[Path, ...], results: Path | None) -> int:
    """Show what a study would run and how long it takes at most. Nothing is run."""
    from scalestudy.cli.lines import wrapped
    from scalestudy.cli.plan.cost import left_lines, plan_lines
    from scalestudy.cli.plan.outlook import outlook_lines
    from scalestudy.cli.plan.partitions import partition_lines
    from scalestudy.record.finished import finished_lines
    from scalestudy.study.plan import make_plan

    plan = make_plan(find_study(study, results))
    folder = find_results(study, results) if results else results_of(plan.study)
    asked = [*plan_lines(plan), *partition_lines(plan, home())]
    measured = [*finished_lines(folder, plan.runs), *left_lines(plan, folder)]
    print("\n".join(map(wrapped, [*asked, *measured, *outlook_lines(plan, folder)])))
    return 0


class Run(Verb):
    """A command that takes the user's script after `--`, with options for a study of this script."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        script = args[at + 1 :]
        if script and script[0].startswith("-") and script[0] != "-m":
            return super().parse_args(ctx, args)  # arguments of Snakemake
        ctx.meta[SCRIPT] = tuple(script)
        return super().parse_args(ctx, args[:at])


SCRIPT = "scalestudy.script"


@click.command(
    cls=Run,
    short_help="Run a study, or your own training script, and write the report.",
    context_settings={"ignore_unknown_options": True},
)
@options.study
@options.results
@click.option("--profile", metavar="NAME", help="Snakemake profile, such as slurm.")
@click.option("-n", "--dry-run", is_flag=True, help="Only list what would run.")
@click.option(
    "--scales",
    cls=Several,
    more=lambda word: word[:1].isdigit(),
    type=Scale(),
    metavar="NODESxDEVICES...",
    help="Scales of the script, besides one process. Default: the scale in its launcher's options.",
)
@click.option("--batch-size", type=click.IntRange(min=1), help="Samples per step of the script on one process.")
@click.option(
    "--scaling",
    cls=Several,
    type=click.Choice(["strong", "weak"]),
    metavar="strong|weak...",
    help="Scaling of the script. Default: found by trying the script.",
)
@click.option("--name", help="Name of the script's study. Default: the name of the script.")
@click.option("--repeats", type=click.IntRange(min=1), help="Runs per point. Default: 3 to 12, until decided.")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", help=options.DEVICE)
@click.option("--cores-per-rank", type=click.IntRange(min=1), help=options.CORES)
@click.option("--epochs", type=click.IntRange(min=0), default=0, help="Value of {epochs} in the command.")
@click.option("--run-to-end", is_flag=True, help=options.RUN_TO_END)
@click.option("--allow-shared", is_flag=True, help=options.ALLOW_SHARED)
@click.option("--allow-equal-batches", is_flag=True, help=options.ALLOW_EQUAL_BATCHES)
@click.option("--python", type=options.PATH, help=options.PYTHON)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[SNAKEMAKE ARGUMENTS]... [-- SCRIPT]")
@click.pass_context
def run(
    context: click.Context,
    /,
    study: tuple[Path, ...],
    results: Path | None,
    profile: str | None,
    dry_run: bool,
    python: Path | None,
    arguments: tuple[str, ...],
    **wishes: Any,
) -> int:
    """Run a study with Snakemake, after printing its largest possible cost. Finished runs are not repeated.

    \b
    scalestudy run --study my-study.yaml
    scalestudy run --scales 1x2 1x4 --batch-size 32 -- \\
        train.py --batch-size {batch_per_rank}

    The second form makes a study of your own training script, which runs unchanged. It tries the script on one
    process and on several, writes the study to NAME.yaml and runs it. In the command, {batch_per_rank},
    {global_batch}, {ranks}, {seed}, {epochs} and {out} are replaced by the values of each run.

    In a checkout of the workflow, its rules and its results folder are used. Anywhere else, the rules of the
    installed package are used, and results are written to results/ in the current folder. Further arguments are
    passed to Snakemake.
    """
    if python:
        os.environ["SCALESTUDY_PYTHON"] = str(python.absolute())
    if script := context.meta.get(SCRIPT):
        if study or results:
            raise UserError("--study, --results: a script after `--` makes its own study; leave these options out")
        from scalestudy.cli.own.study import Wishes, make_study_of

        place: Any = {"elsewhere": profile is not None, "passed": arguments}
        place["cores"] = cores_here(arguments) if is_here(arguments, profile) else None
        study = (make_study_of(script, Wishes(**wishes), **place),)
    elif scripts := [word for word in arguments if word.endswith(".py")]:
        raise UserError(
            f"{scripts[0]}: put -- before the command of your script, such as"
            f" `scalestudy run --scales 1x2 -- {scripts[0]}`"
        )
    else:
        options.refuse_without_script(context)
    return run_study(
        study,
        results,
        profile,
        dry_run,
        arguments,
        to_the_end=bool(script),
        allow_shared=wishes["allow_shared"],
        python=python,
    )


def run_study(
    study: tuple[Path, ...],
    results: Path | None,
    profile: str | None,
    dry_run: bool,
    arguments: tuple[str, ...],
    *,
    to_the_end: bool,
    allow_shared: bool,
    python: Path | None,
) -> int:
    """Run a study with Snakemake and return the exit status. to_the_end: print the verdicts afterwards.

    allow_shared: runs of a script may share files. python: its interpreter, if it was given.
    """
    from scalestudy.chain.callers import add_caller
    from scalestudy.chain.config import keep_config
    from scalestudy.cli.first_run import say_what_runs
    from scalestudy.cli.lines import wrapped
    from scalestudy.cli.own.arguments import check_arguments
    from scalestudy.cli.own.shared_files import has_scripts, refuse_shared_files
    from scalestudy.cli.plan.cost import opening_lines
    from scalestudy.cli.screen.options import screen_options
    from scalestudy.launch.foreign.shared import ALLOWED, EVERY
    from scalestudy.study.plan import make_plan, refuse_imported

    asked = find_study(study, results)
    refuse_imported(asked)
    refuse_read_only(home())
    provide_cache(home())
    scripts = False
    if allow_shared:
        os.environ[ALLOWED] = EVERY  # jobs of a cluster inherit the variables of the user who submits them
    files = study_files(study, results)
    if results and os.path.realpath(results) != os.path.realpath(results_of(asked)):
        instead = "leave --results out" if files else "use --study FILE"
        raise UserError(f"--results {results}: study {asked.name} runs in {results_of(asked)}; {instead}")
    if not files:  # named by its results
        files = (keep_config(asked, results_of(asked)),)
    words = {word.partition("=")[0] for word in arguments}
    if words.isdisjoint(CHANGES):
        planned = make_plan(asked)
        place = results_of(asked)
        print("\n".join(map(wrapped, opening_lines(planned, place, cluster=profile is not None))), flush=True)
        scripts = has_scripts(planned)
        options.refuse_for_scripts(scripts, allow_shared=allow_shared, python=python)
        if scripts and not dry_run:
            refuse_shared_files(planned, results_of(asked))
        if not dry_run:
            refuse_unsuitable(planned, results_of(asked), arguments, profile)
    shown = [] if dry_run else screen_options(results_of(asked), arguments, summary=not to_the_end)
    line = [*snakemake_line(files, home(), profile), *shown]
    line += ["--dry-run"] * dry_run + ["--nocolor"] * bool(os.environ.get("NO_COLOR")) + [*arguments]
    folder = results_of(asked)
    os.chdir(home())
    if words.isdisjoint(CHANGES) and not dry_run and (profile or not to_the_end):  # otherwise just tried
        for said in check_arguments(planned, results_of(asked)):
            print(said, flush=True)
    if words.isdisjoint(CHANGES) and not to_the_end:  # otherwise the user has just typed the command
        say_what_runs(planned, results_of(asked), remember=not dry_run)
    if dry_run or not (to_the_end or scripts):
        os.execv(sys.executable, line)
    add_caller()
    status = subprocess.run(line).returncode
    if status and scripts:
        refuse_shared_files(planned, folder)
    if not to_the_end:
        return status
    if status:
        print(f"Snakemake failed with exit status {status}; see the logs in {folder / 'logs'}", file=sys.stderr)
    return status or summarise(folder, SCREEN)


def snakemake_line(files: tuple[Path, ...], place: Path, profile: str | None) -> list[str]:
    """Return the command that runs a study of these files in `place`: a checkout or any other folder."""
    from scalestudy.chain.config import OWN_RULES

    line = [sys.executable, "-m", "snakemake"]
    if OWN_RULES in os.environ or not is_checkout(place):
        line += ["--snakefile", str(root() / "workflow/Snakefile")]
        line += ["--workflow-profile", str(_profile("default", place))]
    if files != (place / CONFIG,):  # the workflow's own default
        line += ["--configfile", *(os.path.relpath(file, place) for file in files)]
    if profile:
        line += ["--profile", str(_profile(profile, place) or profile)]
    return line


def _profile(name: str, place: Path) -> Path | None:
    """Return a profile's folder in profiles/ of this place, or else in the package; None if it does not exist."""
    folders = (place / "profiles" / name, root() / "profiles" / name)
    return next((folder.resolve() for folder in folders if folder.is_dir()), None)


@options.verb(short_help="Set runs aside, so that the next run of the study repeats them.")
@click.argument("folder", required=False, type=options.PATH)
@options.study
@options.results
@click.option(
    "--outcome",
    cls=Several,
    type=LazyChoice("scalestudy.record.observation:Outcome"),
    metavar="WORD...",
    help=f"Outcomes of runs to repeat. Default: {' '.join(FAILED)}; with --protocol: all.",
)
@click.option(
    "--protocol",
    is_flag=True,
    help="Repeat only runs that the current measurement protocol would measure differently.",
)
def retry(
    folder: Path | None, study: tuple[Path, ...], results: Path | None, outcome: tuple[str, ...], protocol: bool
) -> int:
    """Set runs aside, so that the next `scalestudy run` repeats them. Nothing is deleted.

    FOLDER is the results folder of the study, as with --results.
    """
    from scalestudy.launch.place import set_aside
    from scalestudy.record.observation import Outcome, read_record
    from scalestudy.record.protocol import CURRENT, Measured, is_older

    if folder and results:
        raise UserError(f"{folder} and --results {results}: two results folders; give one of them")
    place = find_results(study, folder or results)
    directories = sorted(path.parent for path in place.glob("runs/*/run.json"))
    if not directories:
        raise UserError(f"{place}: no runs found; name the results of a study, such as results/STUDY")
    outcomes = outcome or (get_args(Outcome) if protocol else FAILED)
    records = {path: read_record(path) for path in directories}
    right = {path: of for path, of in records.items() if of.outcome in outcomes}
    older = {path for path, of in right.items() if is_older(Measured(of.protocol, of.spec.strategy))}
    chosen = [path for path in right if path in older or not protocol]
    for directory in chosen:
        print(f"{directory.name} -> {set_aside(directory, place)}")
    if chosen:
        print(f"{len(chosen)} of {len(directories)} runs set aside; `scalestudy run` repeats them")
    else:
        why = (
            f"would be measured differently by protocol {CURRENT}"
            if protocol
            else f"ended as {' or '.join(outcomes)}"
        )
        print(f"nothing set aside: none of {len(directories)} runs {why}")
    return 0
