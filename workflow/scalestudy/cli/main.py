"""The command line: `scalestudy VERB`, and `scalestudy stage STAGE` for what the workflow's rules call."""

from __future__ import annotations

import os
import signal
import sys

import click

from scalestudy import __version__
from scalestudy.cli import stage, verb
from scalestudy.cli.command import LazyGroup

COMPLETE = "_SCALESTUDY_COMPLETE"

program = LazyGroup(
    name="scalestudy",
    commands=verb.COMMANDS | {"stage": f"{stage.__name__}:command"},
    hidden={"train": stage.COMMANDS["train"]},  # Snakemake knows finished runs by this shell line
    elsewhere={name: f"scalestudy stage {name}" for name in stage.COMMANDS},
    help="Measure how PyTorch training scales: plan a study, run it, read what was found.",
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
click.version_option(__version__, message="%(prog)s %(version)s")(program)


def main(argv: list[str] | None = None) -> int:
    """Run one command: 0 if it did its work, 1 if a study holds failed runs, 2 for a user's mistake."""
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(program, {}, "scalestudy", COMPLETE, instruction)
    try:
        with program.make_context("scalestudy", sys.argv[1:] if argv is None else list(argv)) as context:
            status: int = program.invoke(context)
        sys.stdout.flush()
        return status
    except click.exceptions.Exit as end:  # --help and --version
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        return 2
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "scalestudy"
        print(f"{where}: {error.format_message()}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # `| head` has seen enough; without this Python complains when it flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
