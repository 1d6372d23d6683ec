"""The command line: `scalestudy VERB`, and `scalestudy stage STAGE` for what the workflow's rules call."""

import os
import signal
import sys

import click

from scalestudy import __version__
from scalestudy.cli.command import LazyGroup
from scalestudy.publish.visible import visible_output
from scalestudy.record.files import WHY, unwritable

COMPLETE = "_SCALESTUDY_COMPLETE"
# Command -> the module that has its function.
VERBS = {
    "new": "new",
    "plan": "run",
    "run": "run",
    "summary": "results",
    "number": "results",
    "verify": "verify",
    "tune": "tune",
    "compare": "compare",
    "guard": "guard",
    "estimate": "without_runs",
    "audit": "without_runs",
    "find-batch": "find_batch",
    "demo": "demo",
    "accept": "accept",
    "retry": "run",
}
STAGES = {  # in the order of the chain
    **dict.fromkeys(("plan", "prepare"), "before"),
    "train": "launch",
    **dict.fromkeys(("decide", "aggregate", "diagnose"), "analyse"),
    **dict.fromkeys(("plot", "numbers", "tables", "text", "page", "documents", "typeset"), "publish"),
    "settle": "launch",
    "schema": "before",
}
_VERBS = {name: f"scalestudy.cli.verb.{module}:{name.replace('-', '_')}" for name, module in VERBS.items()}
_STAGES = {name: f"scalestudy.cli.stage.{module}:{name}" for name, module in STAGES.items()}

stage = LazyGroup(
    commands=_STAGES,
    elsewhere={name: f"scalestudy {name}" for name in VERBS},
    short_help="run one stage of a study by hand",
    help="Run one stage of a study, as a rule of the workflow does.",
)
program = LazyGroup(
    name="scalestudy",
    commands=_VERBS | {"stage": f"{__name__}:stage"},
    hidden={"train": _STAGES["train"]},  # Snakemake knows finished runs by this shell line
    elsewhere={name: f"scalestudy stage {name}" for name in STAGES},
    help="Measure how PyTorch training scales: plan a study, run it, read what was found.",
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
click.version_option(__version__, message="%(prog)s %(version)s")(program)


def main(argv: list[str] | None = None) -> int:
    """Run one command: 0 if it did its work, 1 if a study holds failed runs, 2 for a user's mistake."""
    with visible_output():
        return _run(argv)


def _run(argv: list[str] | None) -> int:
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
        _complain(error.format_message())
        return 2
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "scalestudy"
        _complain(f"{where}: {error.format_message()}")
        return 2
    except BrokenPipeError:  # `| head` has seen enough; without this Python complains when it flushes
        _close_output()
        return 0
    except OSError as error:  # it did its work, and could not say so: the file that its output goes to is full
        if error.errno not in WHY:
            raise
        _close_output()
        _complain(f"scalestudy: {unwritable(error, 'the output')}")
        return 2
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _complain(line: str) -> None:
    """On stderr, if that can be written: it may be a log on a disk that is full."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def _close_output() -> None:
    """Python would try to write what is left when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
