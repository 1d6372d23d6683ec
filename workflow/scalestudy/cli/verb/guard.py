"""`scalestudy guard`: tests whether a change made training slower, with alternating runs of both sides."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scalestudy.cli import options
from scalestudy.cli.command import Several, Verb
from scalestudy.cli.guard.compared import say_checks
from scalestudy.cli.guard.fail_if import fail_if, parse_limits
from scalestudy.cli.lines import wrapped
from scalestudy.cli.quantities import Scale
from scalestudy.errors import UserError

if TYPE_CHECKING:
    from scalestudy.analyse.guard.limits import Limit
    from scalestudy.cli.guard.revisions import Place
    from scalestudy.cli.guard.sides import Side

SCRIPT = "scalestudy.script"


class Guard(Verb):
    """A command that takes a training command after `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[SCRIPT] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])


@click.command(
    cls=Guard,
    short_help="Test whether a change made training slower (sets exit status).",
    options_metavar="[OPTIONS] [-- SCRIPT]",
)
@fail_if(required=True)
@click.option("--against", metavar="REVISION", help="Git revision to compare with: a branch, tag or commit.")
@click.option("--against-command", metavar="COMMAND", help="Command to compare with, in quotes.")
@options.path("--against-study", cls=Several, metavar="FILE...", help="Study file to compare with.")
@click.option(
    "--revision", help="Git revision of the change. Default: the working tree, with uncommitted changes."
)
@options.path("--study", cls=Several, metavar="FILE...", help="Study file instead of a SCRIPT.")
@click.option("--launches", type=click.IntRange(min=2), default=12, help="Largest number of runs of each side.")
@click.option("--scale", type=Scale(), metavar="NODESxDEVICES", help="Scale of the script. Default: one process.")
@click.option("--batch-size", type=click.IntRange(min=1), help="Samples per step of the script on one process.")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", help=options.DEVICE)
@click.option("--cores-per-rank", type=click.IntRange(min=1), help=options.CORES)
@click.option("--epochs", type=click.IntRange(min=0), default=0, help="Value of {epochs} in the command.")
@click.option("--run-to-end", is_flag=True, help=options.RUN_TO_END)
@click.option("--allow-shared", is_flag=True, help=options.ALLOW_SHARED)
@click.option("--allow-equal-batches", is_flag=True, help=options.ALLOW_EQUAL_BATCHES)
@options.despite_load
@options.path(
    "--link", cls=Several, metavar="PATH...", help="Data outside git to link into checked-out revisions."
)
@options.path("--python", help=options.PYTHON)
@options.path("--results", metavar="FOLDER", help="Folder for the runs. Default: results/guard-NAME-TIME.")
@options.data
@click.pass_context
def guard(
    context: click.Context,
    /,
    fail_if: tuple[str, ...],
    study: tuple[Path, ...],
    launches: int,
    python: Path | None,
    results: Path | None,
    data: Path,
    allow_shared: bool,
    despite_load: bool,
    **others: Any,
) -> int:
    """Test whether a change made training slower, with alternating runs: before, after, after, before.

    \b
    scalestudy guard --fail-if 'step_time > +3%' --against main -- \\
        train.py --batch-size 32
    scalestudy guard --fail-if 'step_time > +3%' --against-command train.py -- \\
        train.py --fused
    scalestudy guard --fail-if 'throughput < -3%' --against-study old.yaml \\
        --study new.yaml

    SCRIPT is a training script with its arguments, as with `scalestudy run`. A revision is checked out to a
    temporary folder; the working tree is not changed. Neighbouring runs are compared in pairs. The test ends once
    it is decided: after a third, two thirds or all of the runs. All runs are kept.
    """
    import os

    from scalestudy.cli.guard.live import FILE, LiveGuard
    from scalestudy.launch.foreign.shared import ALLOWED, EVERY
    from scalestudy.launch.foreign.start import PYTHON
    from scalestudy.launch.process import Interrupted, raise_on_signals
    from scalestudy.study.config.meaning.facts import scripts

    limits = parse_limits(fail_if, live=True)
    script: tuple[str, ...] = context.meta[SCRIPT]
    if python:
        os.environ[PYTHON] = str(python.absolute())
    if allow_shared:
        os.environ[ALLOWED] = EVERY
    refuse_options(script, study, **others)
    if study:
        options.refuse_without_script(context)
    with ExitStack() as stack:
        try:
            raise_on_signals()  # from here on, any end removes the folders of revisions
            before, after, lone = make_sides(stack, script, study, **others)
            has_scripts = bool(scripts(before.study) or scripts(after.study))
            options.refuse_for_scripts(has_scripts, allow_shared=allow_shared, python=python)
            refuse_batches(before, after, limits)
            folder = results_folder(results, after.study.name)
            for side in (before, after):
                print(wrapped(f"{side.name}: {side.said}"))
                prepare_data(side, data)
            for sentence in lone:
                print(wrapped(f"not judged, {sentence}"))
            checks = LiveGuard(before, after, limits, launches, folder, data, despite_load).run()
        except Interrupted as stop:
            print("interrupted; finished pairs are kept", flush=True)
            return 128 + stop.signum
    print(f"runs and {FILE}: {folder}")
    return say_checks(checks)


def refuse_options(
    script: Sequence[str],
    study: Sequence[Path],
    *,
    against: str | None,
    against_command: str | None,
    against_study: Sequence[Path],
    revision: str | None,
    link: Sequence[Path],
    **_: Any,
) -> None:
    """Raise UserError if options contradict each other."""
    if not script and not study:
        raise UserError("nothing to run; give a script after `--`, or --study FILE")
    if script and study:
        raise UserError("--study: given together with a script after `--`; leave one of them out")
    if sum(map(bool, (against, against_command, against_study))) != 1:
        raise UserError(
            "give exactly one of --against REVISION, --against-command COMMAND and --against-study FILE to compare"
            " with"
        )
    if against_command and not script:
        raise UserError("--against-command: only for a script after `--`; use --against-study for a study")
    if against_study and not study:
        raise UserError("--against-study: only for --study; use --against-command for a script")
    if (revision or link) and not against:
        raise UserError(f"--{'revision' if revision else 'link'}: needs --against REVISION")


def make_sides(
    stack: ExitStack,
    script: tuple[str, ...],
    study: tuple[Path, ...],
    *,
    against: str | None,
    against_command: str | None,
    against_study: tuple[Path, ...],
    revision: str | None,
    link: tuple[Path, ...],
    **wanted: Any,
) -> tuple[Side, Side, list[str]]:
    """Return (before, after, points of only one side). Revisions are checked out while the stack is open."""
    from scalestudy.cli.guard.revisions import checked_out, working_tree
    from scalestudy.cli.guard.sides import Wanted, place_study, script_of, side_of_command, sides_of_studies
    from scalestudy.cli.naming import find_study

    places: tuple[Place | None, Place | None] = (None, None)
    here: Place | None = None
    if against:
        here = working_tree()
        old = stack.enter_context(checked_out(against, link))
        places = (old, stack.enter_context(checked_out(revision, link)) if revision else here)
    root = here.root if here else None
    if script:
        wishes = Wanted(**wanted)
        lines = (split_command(against_command) if against_command else script, script)
        before, after = (
            side_of_command(name, script_of(script), words, wishes, place, root)
            for name, words, place in zip(("before", "after"), lines, places, strict=True)
        )
        return before, after, []
    files = (against_study or study, study)
    described = [
        (f"{' '.join(map(str, file))}{f' in {place.name}' if place else ''}",
         place_study(find_study(file, None), place, root))
        for file, place in zip(files, places, strict=True)
    ]  # fmt: skip
    return sides_of_studies(described[0], described[1])


def split_command(text: str) -> tuple[str, ...]:
    """Split a command into words, as a shell does. Raises UserError."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UserError(f"--against-command: not a valid command: {error}; close every quote") from None


def refuse_batches(before: Side, after: Side, limits: Sequence[Limit]) -> None:
    """Raise UserError if both sides have different scales, or step times of different batches."""
    for point in after.points:
        sides = [side.points[point] for side in (before, after)]
        ranks, batches = ([getattr(one, name) for one in sides] for name in ("world_size", "global_batch"))
        if ranks[0] != ranks[1]:
            raise UserError(f"{ranks[0]} ranks before the change and {ranks[1]} after it; give one --scale")
        if batches[0] != batches[1] and any(limit.quantity == "step_time" for limit in limits):
            raise UserError(
                f"a step has {batches[0]} samples before the change and {batches[1]} after it, so that step times"
                " are not comparable; use --fail-if 'throughput < -3%'"
            )


def results_folder(given: Path | None, name: str) -> Path:
    """Return the folder for the runs, in which there are no runs yet. Raises UserError."""
    import datetime

    from scalestudy.cli.naming import home

    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    of_study = name if name.startswith("guard-") else f"guard-{name}"
    folder = given or home() / "results" / f"{of_study}-{stamp}"
    if folder.is_file() or (folder / "runs").exists():
        raise UserError(
            f"--results {folder}: already exists; name a new folder, because old runs are not compared"
        )
    return folder


def prepare_data(side: Side, data: Path) -> None:
    """Prepare the data of a study that are read from files."""
    from scalestudy.prepare.prepare import prepare

    for dataset in side.study.data_in_files.values():
        prepare(dataset, data)
